package plan_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/docker"
	"mlframework/infra/plan"
)

// A worker whose slots alone are to change goes on, in the container that it has: the master tells
// it, and the next plan has nothing to do.
func TestSlotsChangeWhileTheWorkerRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		slots  []int // one call after the other; a worker starts with 4
		change func(*plan.Cluster)
		want   []plan.SetSlots // of the last call
		record int
	}{
		"more": {slots: []int{6}, record: 6, want: []plan.SetSlots{{Worker: "gpu2", Slots: 6,
			Before:    4,
			Container: "mlframework-c-worker", Limits: docker.Limits{Pids: 7 * 2048}}}},
		"fewer, whose limits stay": {slots: []int{2}, record: 2,
			want: []plan.SetSlots{{Worker: "gpu2", Slots: 2, Before: 4,
				Container: "mlframework-c-worker"}}},
		"memory of the slots": {slots: []int{8}, record: 8,
			change: func(c *plan.Cluster) { c.Project.Memory, c.Project.Pids = 1<<30, 100 },
			want: []plan.SetSlots{{Worker: "gpu2", Slots: 8, Before: 4,
				Container: "mlframework-c-worker",
				Limits:    docker.Limits{Memory: 8 << 30, Pids: 8*100 + 2048}}}},
		"again, unchanged":         {slots: []int{6, 6}, record: 6},
		"unchanged from the start": {slots: []int{4}},
		"back": {slots: []int{6, 4}, record: 4,
			want: []plan.SetSlots{{Worker: "gpu2", Slots: 4, Before: 6,
				Container: "mlframework-c-worker"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := func(slots int) plan.Cluster {
				cluster := wanted("gpu1", "gpu2")
				if c.change != nil {
					c.change(&cluster)
				}
				cluster.Hosts[1].Work.Slots = slots
				return cluster
			}
			w := newWorld("gpu1", "gpu2")
			w.run(t, change(0))
			var p plan.Plan
			for _, n := range c.slots {
				p = w.plan(change(n))
				w.apply(t, p, len(p.Steps))
			}
			var got []plan.SetSlots
			for _, s := range p.Steps {
				switch do := s.Do.(type) {
				case plan.SetSlots:
					got = append(got, do)
				case plan.Drain, plan.Run, plan.Start, plan.Remove:
					t.Errorf("%s %s", s.Host, s.Title)
				}
			}
			if d := cmp.Diff(c.want, got); d != "" {
				t.Error(d)
			}
			if p.Changes != (c.want != nil) {
				t.Errorf("changes: %v", p.Changes)
			}
			if n := w.record.Hosts[1].Slots; n != c.record {
				t.Errorf("the record has %d slots, want %d", n, c.record)
			}
		})
	}
}

// A worker goes on when its host's memory has hardly changed, as after an update of the kernel.
func TestMemoryOfTheHostChanges(t *testing.T) {
	t.Parallel()
	const image = "python:3.14-slim"
	memory := func(gb int64) func(*plan.Cluster) {
		return func(c *plan.Cluster) { c.Project.Memory, c.Project.Shm = gb<<28, 1<<30 }
	}
	for name, c := range map[string]struct {
		memory         int64 // of the host, in place of 16 GB
		before, change func(*plan.Cluster)
		replaced       bool
		resized        *plan.SetSlots
	}{
		"8 KiB less": {memory: 16<<30 - 8<<10},
		"4 % less":   {memory: 16 << 30 / 100 * 96},
		"4 % more":   {memory: 16 << 30 / 100 * 104},
		"twice":      {memory: 32 << 30, replaced: true},
		"half":       {memory: 8 << 30, replaced: true},
		"8 KiB more, and more slots": {memory: 16<<30 + 8<<10,
			change: func(c *plan.Cluster) { c.Hosts[1].Work.Slots = 6 },
			resized: &plan.SetSlots{Worker: "gpu2", Slots: 6, Before: 4,
				Container: "mlframework-c-worker", Limits: docker.Limits{Pids: 7 * 2048}}},
		"8 KiB less, and another image": {memory: 16<<30 - 8<<10, replaced: true,
			change: func(c *plan.Cluster) { c.Project.Image = image }},
		"limits of the project": {memory: 32 << 30, before: memory(100), change: memory(100)},
		"another limit of the project, 1 %": {memory: 16 << 30, before: memory(100),
			change: memory(101), replaced: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, before, after := newWorld("gpu1", "gpu2"), wanted("gpu1", "gpu2"),
				wanted("gpu1", "gpu2")
			if c.before != nil {
				c.before(&before)
			}
			if c.change != nil {
				c.change(&after)
			}
			w.run(t, before)
			f := w.found["gpu2"]
			f.Memory = c.memory
			w.found["gpu2"] = f
			p := w.run(t, after)
			var replaced bool
			var resized *plan.SetSlots
			for _, s := range p.Steps {
				switch do := s.Do.(type) {
				case plan.SetSlots:
					resized = &do
				case plan.Run:
					replaced = true
				}
			}
			if d := cmp.Diff(c.resized, resized); d != "" || replaced != c.replaced {
				t.Errorf("replaced: %v %s", replaced, d)
			}
			if p.Changes != (replaced || resized != nil) {
				t.Errorf("changes: %v", p.Changes)
			}
			if again := w.plan(after); again.Changes {
				t.Errorf("again: %+v", again.Steps)
			}
		})
	}
}

// A call that was cut off before the master was told is repeated by the next.
func TestSlotsThatWereNotChangedYet(t *testing.T) {
	t.Parallel()
	w := newWorld("gpu1", "gpu2")
	w.run(t, wanted("gpu1", "gpu2"))
	cluster := wanted("gpu1", "gpu2")
	cluster.Hosts[1].Work.Slots = 2
	p := w.plan(cluster)
	for n := range p.Steps {
		if _, is := p.Steps[n].Do.(plan.SetSlots); is {
			w.apply(t, p, n)
			break
		}
	}
	if again := w.plan(cluster); !again.Changes {
		t.Error("nothing is left to do")
	}
}
