package core_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

const gib = 1 << 30

// gpusOf are n GPUs of a worker.
func gpusOf(n int, name string, memory int64) (all []task.GPU) {
	for i := range n {
		all = append(all, task.GPU{UUID: fmt.Sprintf("GPU-%s-%d", name, i), Name: "NVIDIA " + name,
			Memory: memory})
	}
	return all
}

// gone makes some of the GPUs unavailable.
func gone(all []task.GPU, which ...int) []task.GPU {
	for _, i := range which {
		all[i].Unavailable = "busy: ben, python (pid 411), 6.0 GB"
	}
	return all
}

// gpuSweep is a sweep of a test of placement.
type gpuSweep struct {
	needs       task.GPUs
	priority    int
	tasks       int64
	maxFailures int64
}

// newGPUSite has sweeps train-0, train-1 ...
func newGPUSite(t *testing.T, sweeps []gpuSweep) *core.Core {
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	for i, s := range sweeps {
		r := core.Record{Space: spaceOf(t, "i: !interval [0, 1000]"), Priority: s.priority,
			MaxFailures: s.maxFailures, Recipe: task.Recipe{Needs: task.Needs{GPUs: s.needs}}}
		total := s.tasks
		if total == 0 {
			total = 100
		}
		c.Add(core.Loaded{Seq: int64(i), Record: r,
			Head: core.Head{ID: fmt.Sprintf("train-%d", i), State: core.Open, Total: total}})
	}
	return c
}

// gpuWorker is a heartbeat of a worker with GPUs.
func gpuWorker(name string, slots int, gpus []task.GPU) task.Heartbeat {
	h := beatOf("1")
	h.Worker, h.Host, h.Slots, h.SlotsChosen, h.GPUs = name, "", slots, true, gpus
	return h
}

// placedTasks counts what a step sends: tasks by worker and sweep.
func placedTasks(e core.Effects) map[string]map[string]int {
	got := map[string]map[string]int{}
	for _, m := range e.Messages {
		for _, b := range m.Batches {
			if got[m.Worker] == nil {
				got[m.Worker] = map[string]int{}
			}
			got[m.Worker][b.Sweep] += len(b.Attempts)
		}
	}
	return got
}

// Tasks that need GPUs go to workers that have some for them now, as many as can begin.
func TestPlacementOnGPUs(t *testing.T) {
	t.Parallel()
	one, half := task.GPUs{Count: 1}, task.GPUs{Count: 0.5}
	ending := gpuWorker("w", 4, gpusOf(2, "T4", 16*gib))
	ending.Ending, ending.GPUs[0].Given = 1, 0.5
	split := gpuWorker("w", 4, gpusOf(2, "A100", 10*gib))
	split.GPUs[0].Split, split.GPUs[1].Split = true, true
	type placed map[string]map[string]int
	for name, c := range map[string]struct {
		workers []task.Heartbeat
		sweeps  []gpuSweep
		want    placed
	}{
		"as many as there are": {[]task.Heartbeat{gpuWorker("w", 8, gpusOf(3, "T4", 16*gib))},
			[]gpuSweep{{needs: one}}, placed{"w": {"train-0": 3}}},
		"no more than slots": {[]task.Heartbeat{gpuWorker("w", 2, gpusOf(3, "T4", 16*gib))},
			[]gpuSweep{{needs: one}}, placed{"w": {"train-0": 2}}},
		"several for each": {[]task.Heartbeat{gpuWorker("w", 8, gpusOf(5, "T4", 16*gib))},
			[]gpuSweep{{needs: task.GPUs{Count: 2}}}, placed{"w": {"train-0": 2}}},
		"thirds": {[]task.Heartbeat{gpuWorker("w", 8, gpusOf(2, "T4", 16*gib))},
			[]gpuSweep{{needs: task.GPUs{Count: 1.0 / 3}}}, placed{"w": {"train-0": 6}}},
		"none on workers without": {[]task.Heartbeat{gpuWorker("v", 4, nil),
			gpuWorker("w", 4, gpusOf(1, "T4", 16*gib))},
			[]gpuSweep{{needs: one}}, placed{"w": {"train-0": 1}}},
		"none on GPUs that others use": {
			[]task.Heartbeat{gpuWorker("w", 4, gone(gpusOf(3, "T4", 16*gib), 0, 2))},
			[]gpuSweep{{needs: one}}, placed{"w": {"train-0": 1}}},
		"what ended and still holds a half": {[]task.Heartbeat{ending}, []gpuSweep{{needs: one}},
			placed{"w": {"train-0": 1}}},
		"halves beside it": {[]task.Heartbeat{ending}, []gpuSweep{{needs: half}},
			placed{"w": {"train-0": 3}}},
		"by memory": {[]task.Heartbeat{gpuWorker("w", 8, append(gpusOf(2, "T4", 16*gib),
			gpusOf(1, "A100", 40*gib)...))},
			[]gpuSweep{{needs: task.GPUs{Count: 1, Memory: 24 * gib}}},
			placed{"w": {"train-0": 1}}},
		"by name": {[]task.Heartbeat{gpuWorker("w", 8, append(gpusOf(2, "T4", 16*gib),
			gpusOf(1, "A100", 40*gib)...))},
			[]gpuSweep{{needs: task.GPUs{Count: 1, Name: "t4|v100"}}},
			placed{"w": {"train-0": 2}}},
		"the large one is left to who needs it": {[]task.Heartbeat{gpuWorker("w", 8,
			append(gpusOf(1, "A100", 40*gib), gpusOf(1, "T4", 16*gib)...))},
			[]gpuSweep{{needs: one, tasks: 1}, {needs: task.GPUs{Count: 1, Name: "a100"}}},
			placed{"w": {"train-0": 1, "train-1": 1}}},
		"two halves of two GPUs are none": {[]task.Heartbeat{gpuWorker("w", 8,
			gpusOf(2, "T4", 16*gib))},
			[]gpuSweep{{needs: half, tasks: 3, priority: 1}, {needs: one}},
			placed{"w": {"train-0": 3}}},
		"no two instances for one": {[]task.Heartbeat{split},
			[]gpuSweep{{needs: task.GPUs{Count: 2}}}, placed{}},
		"instances are GPUs": {[]task.Heartbeat{split}, []gpuSweep{{needs: one}},
			placed{"w": {"train-0": 2}}},
		"what needs no GPU has the other slots": {
			[]task.Heartbeat{gpuWorker("v", 2, nil), gpuWorker("w", 4, gpusOf(2, "T4", 16*gib))},
			[]gpuSweep{{needs: one}, {}},
			placed{"v": {"train-1": 2}, "w": {"train-0": 2, "train-1": 2}}},
		"it waits for its turn, not behind GPUs": {
			[]task.Heartbeat{gpuWorker("v", 2, nil),
				gpuWorker("w", 4, gone(gpusOf(2, "T4", 16*gib), 0, 1))},
			[]gpuSweep{{needs: one, priority: 1}, {}},
			placed{"v": {"train-1": 2}, "w": {"train-1": 4}}},
		"slots that are fewer than GPUs are shared": {
			[]task.Heartbeat{gpuWorker("v", 0, nil), gpuWorker("w", 4, gpusOf(8, "T4", 16*gib))},
			[]gpuSweep{{needs: one}, {}}, placed{"w": {"train-0": 3, "train-1": 1}}},
		"no more may fail than fit": {[]task.Heartbeat{gpuWorker("v", 4, gpusOf(1, "T4", 16*gib)),
			gpuWorker("w", 4, gpusOf(1, "T4", 16*gib))},
			[]gpuSweep{{needs: half, maxFailures: 1}},
			placed{"v": {"train-0": 2}, "w": {"train-0": 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newGPUSite(t, c.sweeps)
			got := placedTasks(effectsOf(site, core.Input{Heartbeats: c.workers}, at(1)))
			if diff := cmp.Diff(c.want, placed(got)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// TestGPUUnits: every share of a GPU is a whole number of units, and as many tasks share one as its
// memory lets.
func TestGPUUnits(t *testing.T) {
	t.Parallel()
	for n := 2; n <= task.MaxShares; n++ {
		if got := core.Units(task.GPUs{Count: 1 / float64(n)}, task.GPU{}); got*n != core.GPUUnits {
			t.Errorf("1/%d is %d units", n, got)
		}
	}
	for _, c := range []struct{ has, needs, fit int64 }{{24, 3, 8}, {24, 12, 2}, {24, 13, 1},
		{80, 4, 20}, {8, 8, 1}} {
		has := c.has*gib - c.has*gib/50 // a card keeps some for itself
		got := core.Units(task.GPUs{Count: 1, Share: true, Memory: c.needs * gib},
			task.GPU{Memory: has})
		if int64(core.GPUUnits/got) != c.fit {
			t.Errorf("%d tasks with %d GB share %d GB; want %d", core.GPUUnits/got, c.needs, c.has,
				c.fit)
		}
	}
}

// Workers of one machine share its GPUs, CPUs and memory; those of machines with one name do not.
func TestWorkersOfOneHostShareIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		boots  [2]string
		needs  task.Needs
		placed int
	}{
		"other GPUs of one":   {[2]string{"a", "a"}, task.Needs{GPUs: task.GPUs{Count: 1}}, 4},
		"GPUs of one machine": {[2]string{"a", "a"}, task.Needs{GPUs: task.GPUs{Count: 1}}, 2},
		"memory of one":       {[2]string{"a", "a"}, task.Needs{Memory: 40 * gib}, 1},
		"CPUs of one":         {[2]string{"a", "a"}, task.Needs{CPUs: 2}, 4},
		"GPUs of two":         {[2]string{"a", "b"}, task.Needs{GPUs: task.GPUs{Count: 1}}, 4},
		"memory of two":       {[2]string{"a", "b"}, task.Needs{Memory: 40 * gib}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newGPUSite(t, nil)
			site.Add(core.Loaded{Seq: 1, Record: core.Record{Recipe: task.Recipe{Needs: c.needs},
				Space: spaceOf(t, "i: !interval [0, 99]")},
				Head: core.Head{ID: "train-1", State: core.Open, Total: 99}})
			var beats []task.Heartbeat
			for i, boot := range c.boots {
				h := gpuWorker([]string{"v", "w"}[i], 8, gpusOf(2, "T4-"+boot, 16*gib))
				if name == "other GPUs of one" { // each was started with two of four
					h.GPUs = gpusOf(4, "T4-"+boot, 16*gib)[2*i : 2*i+2]
				}
				h.Host, h.Boot, h.CPUs, h.Memory = "localhost", boot, 8, 64*gib
				beats = append(beats, h)
			}
			placed, given := 0, map[string]int{}
			for _, m := range effectsOf(site, core.Input{Heartbeats: beats}, at(1)).Messages {
				for _, b := range m.Batches {
					placed += len(b.Attempts)
					for _, a := range b.Attempts {
						for _, d := range a.Devices {
							given[d.UUID]++
						}
					}
				}
			}
			if placed != c.placed {
				t.Errorf("%d tasks are placed; want %d", placed, c.placed)
			}
			for uuid, n := range given {
				if n > 1 {
					t.Errorf("%s is given out %d times", uuid, n)
				}
			}
		})
	}
}
