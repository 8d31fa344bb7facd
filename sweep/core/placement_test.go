package core_test

import (
	"fmt"
	"testing"
	"testing/quick"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

func TestPrefetchAndBatches(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slots  int
		mean   time.Duration
		target int
		batch  int
	}{
		{2, 0, 4, 1},
		{2, time.Hour, 3, 1},
		{2, 250 * time.Millisecond, 5, 1},
		{2, 200 * time.Millisecond, 5, 1},
		{2, 100 * time.Millisecond, 8, 2},
		{2, 50 * time.Millisecond, 13, 4},
		{2, time.Millisecond, 503, 200},
		{2, time.Microsecond, 4096, 256},
		{2, 1, 4096, 256},
		{64, 10 * time.Second, 66, 1},
		{0, time.Millisecond, 0, 100},
		{-5, time.Hour, 0, 1},
		{1 << 62, time.Hour, 4096, 1},
		{64, 2 * time.Second, 73, 3},
		{1 << 62, 0, 4096, 1},
	} {
		if got := core.PrefetchTarget(c.slots, c.mean, false); got != c.target {
			t.Errorf("prefetchTarget(%d, %v) = %d; want %d", c.slots, c.mean, got, c.target)
		}
		if got := core.BatchSize(c.slots, c.mean); got != c.batch {
			t.Errorf("batchSize(%d, %v) = %d; want %d", c.slots, c.mean, got, c.batch)
		}
	}
}

func TestPlacementIsBounded(t *testing.T) {
	t.Parallel()
	bounded := func(slots int, mean int64, taken float64) bool {
		w := core.PrefetchTarget(slots, time.Duration(mean), false)
		c := core.BatchSize(slots, time.Duration(mean))
		r := core.Remaining(w, max(0, taken))
		return w >= 0 && w <= core.MostAssigned && c >= 1 && c <= core.MostBatch && r >= 0 && r <= w
	}
	if err := quick.Check(bounded, &quick.Config{MaxCount: 100000}); err != nil {
		t.Error(err)
	}
	for w := range 500 { // what is taken one by one fits exactly
		n, taken := 0, 0.0
		for core.Remaining(w, taken) > 0 {
			n, taken = n+1, taken+1/float64(w)
		}
		if n != w {
			t.Errorf("%d fit into a target of %d", n, w)
		}
	}
}

// Beside others no worker hoards what may be long.
func TestPrefetchBesideOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean   time.Duration
		target int
	}{
		{0, 2}, {time.Hour, 2}, {5 * time.Second, 2}, {4 * time.Second, 3},
		{100 * time.Millisecond, 8},
	} {
		if got := core.PrefetchTarget(2, c.mean, true); got != c.target {
			t.Errorf("prefetchTarget(2, %v) = %d; want %d", c.mean, got, c.target)
		}
	}
}

// Tasks that need several CPUs are placed beside each other as far as they fit. A worker on which
// none fits gets tasks of other sweeps.
func TestPlacementOfTasksThatNeedSeveralCPUs(t *testing.T) {
	t.Parallel()
	type sweep struct {
		needs, priority int
		maxFailures     int64
	}
	type placed map[string]map[string]int // tasks by worker and sweep
	for name, c := range map[string]struct {
		workers map[string]int // slots
		sweeps  []sweep
		want    placed
	}{
		"as many as fit": {map[string]int{"v": 1, "w": 5}, []sweep{{needs: 2}},
			placed{"w": {"train-0": 2}}},
		"none fits": {map[string]int{"v": 1, "w": 2}, []sweep{{needs: 3}}, placed{}},
		"what is left is for others": {map[string]int{"v": 1, "w": 5},
			[]sweep{{needs: 2, priority: 1}, {needs: 1}},
			placed{"w": {"train-0": 2, "train-1": 1}, "v": {"train-1": 1}}},
		"sweeps take turns": {map[string]int{"v": 1, "w": 9}, []sweep{{needs: 3}, {needs: 1}},
			placed{"w": {"train-0": 2, "train-1": 3}, "v": {"train-1": 1}}},
		"none waits on the worker": {map[string]int{"w": 5}, []sweep{{needs: 2}},
			placed{"w": {"train-0": 2}}},
		"no more may fail than fit": {map[string]int{"w": 5}, []sweep{{needs: 2, maxFailures: 1}},
			placed{"w": {"train-0": 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site, _ := core.Load(core.Options{}, nil, nil, at(0))
			for i, s := range c.sweeps {
				id := fmt.Sprintf("train-%d", i)
				r := core.Record{Space: spaceOf(t, "i: !interval [0, 100]"), Priority: s.priority,
					MaxFailures: s.maxFailures}
				if s.needs > 1 {
					r.Recipe.CPUs = s.needs
				}
				site.Add(core.Loaded{Seq: int64(i), Record: r,
					Head: core.Head{ID: id, State: core.Open, Total: 100}})
			}
			var in core.Input
			for worker, slots := range c.workers {
				beat := beatOf("1")
				beat.Worker, beat.Host, beat.Slots, beat.CPUs = worker, worker, slots, slots
				in.Heartbeats = append(in.Heartbeats, beat)
			}
			got := placed{}
			for _, m := range effectsOf(site, in, at(1)).Messages {
				for _, b := range m.Batches {
					if got[m.Worker] == nil {
						got[m.Worker] = map[string]int{}
					}
					got[m.Worker][b.Sweep] += len(b.Attempts)
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// A task that has not arrived is sent again when it would fit beside what runs, not before.
func TestResendOfTasks(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	c.Add(core.Loaded{Head: core.Head{ID: "train-1", State: core.Open, Total: 2},
		Record: core.Record{Space: spaceOf(t, "i: [0, 1]")}})
	beat := beatOf("1")
	sent := func(seconds float64, events ...core.Event) (attempts int) {
		in := core.Input{Heartbeats: []task.Heartbeat{beat}, Events: events}
		for _, m := range effectsOf(c, in, at(seconds)).Messages {
			for _, b := range m.Batches {
				attempts += len(b.Attempts)
			}
		}
		return attempts
	}
	if n := sent(1); n != 2 {
		t.Fatalf("%d tasks are placed", n)
	}
	first := task.Event{Version: task.Version, Kind: task.StartedEvent, Worker: "w",
		Sweep: "train-1", Attempt: 1}
	beat.Running = []task.Busy{{Sweep: "train-1", Attempt: 1}}
	for second := 2.0; second < 10; second++ {
		if n := sent(second, core.Event{Event: first}); n > 0 {
			t.Errorf("%d attempts are sent again to a worker with no free slot", n)
		}
	}
	first.Kind, first.Outcome = task.EndedEvent, &task.Outcome{Class: task.Success}
	beat.Running = nil
	resent := 0
	for second := 10.0; second < 15; second++ {
		resent += sent(second, core.Event{Event: first})
	}
	if resent != 1 {
		t.Errorf("%d attempts are sent again to an idle worker", resent)
	}
}
