package core_test

import (
	"slices"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// gpuHost is a worker whose tasks of a sweep last equally long, in steps of a second.
type gpuHost struct {
	core    *core.Core
	now     float64
	beat    task.Heartbeat
	gpus    *simGPUs
	lasts   map[string]float64 // tasks by sweep
	waiting []gpuHostTask
	running []gpuHostTask
	began   map[string]int // by sweep
	stay    int            // tasks that could not begin in the last second
	uneven  bool           // some of a sweep's tasks last up to 3 s longer
}

type gpuHostTask struct {
	runKey
	attempt task.Attempt
	slots   int
	ends    float64
}

func newGPUHost(c *core.Core, slots int, gpus []task.GPU, lasts map[string]float64) *gpuHost {
	return &gpuHost{core: c, beat: gpuWorker("w", slots, gpus), gpus: newSimGPUs(gpus),
		lasts: lasts, began: map[string]int{}}
}

// second lets a second pass.
func (h *gpuHost) second() {
	h.now++
	pass(h.core, h.now, h)
}

// pass lets a second pass on hosts.
func pass(c *core.Core, now float64, hosts ...*gpuHost) {
	var in core.Input
	for _, h := range hosts {
		in.Events = append(in.Events, h.work(now)...)
		in.Heartbeats = append(in.Heartbeats, h.beat)
	}
	for _, m := range effectsOf(c, in, at(now)).Messages {
		for _, h := range hosts {
			if h.beat.Worker == m.Worker {
				h.receive(m.Batches)
			}
		}
	}
}

// work ends and begins tasks of a host.
func (h *gpuHost) work(now float64) (events []core.Event) {
	event := func(kind task.EventKind, k runKey) *task.Event {
		events = append(events, core.Event{Event: task.Event{Version: task.Version, Kind: kind,
			Worker: h.beat.Worker, Sweep: k.id.Sweep, Index: k.id.Index, Attempt: k.number,
			Time: at(now)}})
		return &events[len(events)-1].Event
	}
	h.running = slices.DeleteFunc(h.running, func(r gpuHostTask) bool {
		if r.ends > now {
			return false
		}
		event(task.EndedEvent, r.runKey).Outcome = &task.Outcome{Class: task.Success,
			Duration: time.Duration(h.lasts[r.id.Sweep] * float64(time.Second))}
		delete(h.gpus.given, r.runKey)
		return true
	})
	h.waiting = slices.DeleteFunc(h.waiting, func(r gpuHostTask) bool {
		taken := r.slots
		for _, other := range h.running {
			taken += other.slots
		}
		if taken > h.beat.Slots || slices.ContainsFunc(r.attempt.Devices, func(d task.Device) bool {
			return h.gpus.share(d.UUID)+r.attempt.Share > 1+1e-9
		}) {
			return false
		}
		h.gpus.given[r.runKey] = r.attempt
		event(task.StartedEvent, r.runKey).Start = &task.Start{Host: "h"}
		r.ends = now + h.lasts[r.id.Sweep]
		if h.uneven {
			r.ends += float64(r.id.Index % 4)
		}
		h.running = append(h.running, r)
		h.began[r.id.Sweep]++
		return true
	})
	h.stay = len(h.waiting)
	h.beat.GPUs, h.beat.Running, h.beat.Waiting = h.gpus.describe(), nil, len(h.waiting)
	for _, r := range h.running {
		h.beat.Running = append(h.beat.Running, task.Busy{Sweep: r.id.Sweep, Index: r.id.Index,
			Attempt: r.number})
	}
	return events
}

// receive takes over what is placed on a host.
func (h *gpuHost) receive(batches []task.Batch) {
	for _, b := range batches {
		for _, a := range b.Attempts {
			h.waiting = append(h.waiting, gpuHostTask{attempt: a, slots: b.Slots,
				runKey: runKey{task.ID{Sweep: b.Sweep, Index: a.Index}, a.Number}})
		}
	}
}

// runs counts running tasks of a sweep.
func (h *gpuHost) runs(sweep string) (n int) {
	for _, r := range h.running {
		if r.id.Sweep == sweep {
			n++
		}
	}
	return n
}

// GPUs have work beside a sweep of long tasks that needs none: those do not take every slot that
// becomes free.
func TestGPUsAreBusyBesideLongTasks(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 1000}, {tasks: 1000}})
	h := newGPUHost(c, 8, gpusOf(2, "T4", 16*gib), map[string]float64{"train-0": 6,
		"train-1": 1e6})
	for range 600 {
		h.second()
	}
	if h.runs("train-1") != 6 || h.began["train-0"] < 150 {
		t.Errorf("%d tasks without GPUs run, and %d with one began", h.runs("train-1"),
			h.began["train-0"])
	}
}

// Sweeps with and without GPUs take turns where there are fewer slots than GPUs.
func TestFewSlotsAreShared(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 1000}, {tasks: 1000}})
	h := newGPUHost(c, 1, gpusOf(2, "T4", 16*gib), map[string]float64{"train-0": 6, "train-1": 6})
	for range 600 {
		h.second()
	}
	if a, b := h.began["train-0"], h.began["train-1"]; a < 30 || b < 30 {
		t.Errorf("%d with GPUs began, and %d without", a, b)
	}
}

// Small needs do not starve a large one: it gets a host of which nobody else gets GPUs until there
// are enough.
func TestLargeNeedsAreNotStarved(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 0.5}, tasks: 1000},
		{needs: task.GPUs{Count: 2}, tasks: 1000}})
	h := newGPUHost(c, 8, gpusOf(2, "T4", 16*gib), map[string]float64{"train-0": 7, "train-1": 7})
	waited := 0
	h.uneven = true
	for range 600 {
		h.second()
		waited = max(waited, h.stay)
	}
	if a, b := h.began["train-0"], h.began["train-1"]; a < 100 || b < 8 || b > 30 {
		t.Errorf("%d halves began, and %d of two GPUs", a, b)
	}
	if waited > 1 {
		t.Errorf("%d tasks waited on the worker", waited)
	}
}

// No task waits on a worker for a GPU: short tasks of one sweep and long ones of another have their
// turns.
func TestShortTasksOnGPUs(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 1000}})
	h := newGPUHost(c, 8, gpusOf(1, "T4", 16*gib), map[string]float64{"train-0": 1, "train-1": 9})
	most := 0
	for range 100 {
		h.second()
		most = max(most, h.stay)
	}
	if n := h.began["train-0"]; n < 45 || most != 0 {
		t.Errorf("%d began in 100 s, and %d waited for GPUs", n, most)
	}
	c.Add(core.Loaded{Seq: 9, Head: core.Head{ID: "train-1", State: core.Open, Total: 100},
		Record: core.Record{Space: spaceOf(t, "i: !interval [0, 100]"),
			Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: 1}}}}})
	h.began = map[string]int{}
	for range 300 {
		h.second()
	}
	if a, b := h.began["train-0"], h.began["train-1"]; a < 20 || b < 20 {
		t.Errorf("%d short ones began, and %d long ones", a, b)
	}
}

// A large need of a low priority takes no GPU from those before it.
func TestLargeNeedsOfLowPriorityWait(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 0.5}, tasks: 1000},
		{needs: task.GPUs{Count: 2}, priority: -1}})
	h := newGPUHost(c, 8, gpusOf(2, "T4", 16*gib), map[string]float64{"train-0": 7, "train-1": 7})
	h.uneven = true
	for range 300 {
		h.second()
	}
	if a, b := h.began["train-0"], h.began["train-1"]; a < 120 || b > 0 {
		t.Errorf("%d halves began, and %d of two GPUs", a, b)
	}
}

// addPinned adds a sweep of which one task waits, for a worker that is not there.
func addPinned(t *testing.T, c *core.Core) {
	c.Add(core.Loaded{Seq: 10, Head: core.Head{ID: "each-10", State: core.Open, Total: 1},
		Record: core.Record{Space: spaceOf(t, "i: [1]"), EachWorker: true,
			Workers: []string{"gone"}, Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: 1}}}}})
}

// A sweep that has no task for a worker changes nothing there: neither do long tasks that need no
// GPU take all slots because of it, nor have short tasks to wait for the master.
func TestSweepsForOtherWorkersAreInNobodysWay(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 1000}, {tasks: 1000}})
	addPinned(t, c)
	h := newGPUHost(c, 8, gpusOf(2, "T4", 16*gib), map[string]float64{"train-0": 6,
		"train-1": 1e6})
	for range 600 {
		h.second()
	}
	if h.runs("train-1") != 6 || h.began["train-0"] < 150 {
		t.Errorf("%d tasks without GPUs run, and %d with one began", h.runs("train-1"),
			h.began["train-0"])
	}
	c = newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 1000}})
	addPinned(t, c)
	h = newGPUHost(c, 8, gpusOf(2, "T4", 16*gib), map[string]float64{"train-0": 1})
	for range 100 {
		h.second()
	}
	if n := h.began["train-0"]; n < 95 {
		t.Errorf("%d short tasks began in 100 s", n)
	}
}

// GPUs are gathered where they are expected to be free first, not behind tasks of hours, whose host
// goes on with its other GPUs.
func TestGPUsAreGatheredWhereTheyAreFreeFirst(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 3, priority: 9}})
	lasts := map[string]float64{"train-0": 36000, "short-1": 6, "large-2": 60}
	hosts := []*gpuHost{newGPUHost(c, 8, gpusOf(4, "T4", 16*gib), lasts),
		newGPUHost(c, 8, gpusOf(4, "A100", 40*gib), lasts)}
	hosts[0].beat.Worker, hosts[1].beat.Worker = "w0", "w1"
	now := 0.0
	run := func(seconds int) {
		for range seconds {
			now++
			pass(c, now, hosts...)
		}
	}
	add := func(seq int64, id string, count float64, tasks int64) {
		c.Add(core.Loaded{Seq: seq, Head: core.Head{ID: id, State: core.Open, Total: tasks},
			Record: core.Record{Space: spaceOf(t, "i: !interval [0, 9999]"),
				Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: count}}}}})
	}
	run(2)
	if hosts[0].runs("train-0") != 3 {
		t.Fatal("the long tasks do not run on the first host")
	}
	add(1, "short-1", 1, 10000)
	run(2)
	add(2, "large-2", 4, 5)
	run(900)
	if n := hosts[1].began["large-2"]; n != 5 {
		t.Errorf("%d of 5 tasks with four GPUs began", n)
	}
	before := hosts[0].began["short-1"]
	if run(60); hosts[0].began["short-1"] < before+7 {
		t.Errorf("the last GPU of the other host began %d short tasks in a minute",
			hosts[0].began["short-1"]-before)
	}
}
