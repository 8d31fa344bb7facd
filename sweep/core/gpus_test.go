package core_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
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

// What the core foresees is what a worker does, who asks nvdocker.
func TestForeseenGPUsAreThoseThatAssignChooses(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var gpus []task.GPU
		var devices []nvdocker.Device
		for i := range r.IntN(6) {
			g := task.GPU{UUID: fmt.Sprint(i), Name: []string{"A100", "T4"}[r.IntN(2)],
				Memory: []int64{16 * gib, 40 * gib, 80 * gib}[r.IntN(3)], Split: r.IntN(5) == 0}
			gpus = append(gpus, g)
			devices = append(devices, nvdocker.Device{UUID: g.UUID, Name: g.Name,
				Memory: g.Memory, Split: g.Split})
		}
		var needs []task.GPUs
		for range 8 {
			needs = append(needs, task.GPUs{
				Count:  []float64{1, 2, 3, 0.5, 1.0 / 3, 0.25, 1.0 / 7}[r.IntN(7)],
				Memory: []int64{0, 0, 40 * gib}[r.IntN(3)],
				Name:   []string{"", "", "a100"}[r.IntN(3)]})
		}
		free, begun := core.ForeseeGPUs(gpus, needs)
		used := map[string]float64{}
		for i, need := range needs {
			a, err := nvdocker.Assign(devices, used, nvdocker.Need(need))
			if (err == nil) != (i < begun) {
				t.Fatalf("%+v: %d of %+v begin; the next: %v", gpus, begun, needs, err)
			}
			if err != nil {
				break
			}
			for _, d := range a.Devices {
				used[d.UUID] += a.Share
			}
			for n, g := range gpus {
				if math.Abs(1-used[g.UUID]-free[i][n]) > 1e-9 {
					t.Fatalf("%+v, after %+v: %v is free, and %v is used", gpus, needs[:i+1],
						free[i], used)
				}
			}
		}
	}
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
			MaxFailures: s.maxFailures, Recipe: task.Recipe{GPUs: s.needs}}
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
	h.Worker, h.Slots, h.GPUs = name, slots, gpus
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

// Tasks that wait on a worker for GPUs which others use leave its slots to those that need none.
func TestTasksThatWaitForGPUsTakeNoSlot(t *testing.T) {
	t.Parallel()
	one := task.GPUs{Count: 1}
	for name, c := range map[string]struct {
		gpus []task.GPU // once the tasks with GPUs are there
		want int
	}{
		"they begin":    {gpusOf(2, "T4", 16*gib), 0},
		"one is free":   {gone(gpusOf(2, "T4", 16*gib), 0), 0},
		"none is free":  {gone(gpusOf(2, "T4", 16*gib), 0, 1), 2},
		"there is none": {nil, 4}, // so many ahead, as by a worker without GPUs
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			site := newGPUSite(t, []gpuSweep{{needs: one, tasks: 2, priority: 1}, {}})
			w := gpuWorker("w", 2, gpusOf(2, "T4", 16*gib))
			first := placedTasks(effectsOf(site, core.Input{Heartbeats: []task.Heartbeat{w}}, at(1)))
			want := map[string]map[string]int{"w": {"train-0": 2}}
			if diff := cmp.Diff(want, first); diff != "" {
				t.Fatalf("-want +got:\n%s", diff)
			}
			w.GPUs, w.Waiting = c.gpus, 2
			got := 0
			for second := 2.0; second <= 4; second++ {
				e := effectsOf(site, core.Input{Heartbeats: []task.Heartbeat{w}}, at(second))
				got += placedTasks(e)["w"]["train-1"]
			}
			if got != c.want {
				t.Errorf("%d tasks without GPUs get slots; want %d", got, c.want)
			}
		})
	}
}

// The devices that an attempt began with are those that it has, whatever was foreseen, and they are
// free when it has ended.
func TestGPUsOfWhatRuns(t *testing.T) {
	t.Parallel()
	beat := gpuWorker("w", 8, gpusOf(2, "T4", 16*gib))
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 0.5}, tasks: 2}})
	now := 0.0
	step := func(kind task.EventKind, index int64, gpus ...string) map[string]int {
		now++
		e := task.Event{Version: task.Version, Kind: kind, Worker: "w", Sweep: "train-0",
			Index: index, Attempt: 1, Time: at(now), Start: &task.Start{Host: "h", GPUs: gpus}}
		if kind == task.EndedEvent {
			e.Outcome = &task.Outcome{Class: task.Success, Duration: time.Minute}
		}
		return placedTasks(effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{beat},
			Events: []core.Event{{Event: e}}}, at(now)))["w"]
	}
	if got := step(task.SamplesEvent, 9); got["train-0"] != 2 {
		t.Fatalf("%v is placed", got)
	}
	step(task.StartedEvent, 0, "GPU-T4-0")
	step(task.StartedEvent, 1, "GPU-T4-1")
	c.Add(core.Loaded{Seq: 9, Head: core.Head{ID: "train-9", State: core.Open, Total: 5},
		Record: core.Record{Space: spaceOf(t, "i: !interval [0, 9]"),
			Recipe: task.Recipe{GPUs: task.GPUs{Count: 1}}}})
	if got := step(task.SamplesEvent, 9); len(got) > 0 {
		t.Errorf("half of each GPU is free, and %v is placed", got)
	}
	if got := step(task.EndedEvent, 1, "GPU-T4-1"); got["train-9"] != 1 {
		t.Errorf("a GPU is free, and %v is placed", got)
	}
}
