package core_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/nvdocker"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// mixedGPUs are two small GPUs and a large one.
func mixedGPUs() []task.GPU {
	return append(gpusOf(2, "T4", 15*gib), gpusOf(1, "A100", 40*gib)...)
}

// What no worker can ever give is refused, with what each has, once all of them were heard.
func TestNeedsThatAreNeverMet(t *testing.T) {
	t.Parallel()
	large := task.GPUs{Count: 2, Memory: 24 * gib}
	newer := gpuWorker("w5", 4, nil)
	newer.Version = task.Version + 1
	w1, w2 := gpuWorker("w1", 4, mixedGPUs()), gpuWorker("w2", 4, mixedGPUs())
	faulty := gpuWorker("w2", 4, nil)
	faulty.GPUFault = "nvidia-smi: Driver/library version mismatch"
	for name, c := range map[string]struct {
		known   []string // from an earlier process of the master
		workers []task.Heartbeat
		need    task.GPUs
		local   bool
		want    string
	}{
		"no worker":  {need: large},
		"none asked": {workers: []task.Heartbeat{gpuWorker("w1", 4, nil)}},
		"no GPU": {workers: []task.Heartbeat{gpuWorker("w1", 4, nil)}, need: task.GPUs{Count: 1},
			want: "each task of train needs 1 GPU, which no worker can ever give: w1: no GPU"},
		"too few": {workers: []task.Heartbeat{w1, w2, gpuWorker("w4", 4, nil)}, need: large,
			want: "each task of train needs 2 GPUs with 24.0 GB each, which no worker can ever " +
				"give: w1, w2: 2 x NVIDIA T4 with 15.0 GB, 1 x NVIDIA A100 with 40.0 GB; " +
				"w4: no GPU"},
		"by name": {workers: []task.Heartbeat{w1}, need: task.GPUs{Count: 0.5, Name: "H100"},
			want: "each task of train needs 0.5 of a GPU whose name matches \"H100\", which no " +
				"worker can ever give: w1: 2 x NVIDIA T4 with 15.0 GB, " +
				"1 x NVIDIA A100 with 40.0 GB"},
		"of another version": {workers: []task.Heartbeat{w1, newer}, need: large},
		"one of them can": {workers: []task.Heartbeat{gpuWorker("w4", 4, nil), w1},
			need: task.GPUs{Count: 3}},
		"later": {workers: []task.Heartbeat{gpuWorker("w1", 4, gone(mixedGPUs(), 0, 1, 2))},
			need: task.GPUs{Count: 3}},
		"one was not heard":           {known: []string{"w0"}, workers: []task.Heartbeat{w1}, need: large},
		"one cannot list what it has": {workers: []task.Heartbeat{w1, faulty}, need: large},
		"a local run": {workers: []task.Heartbeat{gpuWorker("w1", 4, nil)}, local: true,
			need: large},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var known []core.WorkerRecord
			for _, name := range c.known {
				known = append(known, core.WorkerRecord{Name: name, Incarnation: "1"})
			}
			site, _ := core.Load(core.Options{Local: c.local}, nil, known, at(0))
			effectsOf(site, core.Input{Heartbeats: c.workers}, at(1))
			err := site.CheckNeeds("train", task.Needs{GPUs: c.need})
			if never, ok := errors.AsType[*core.NeverFits](err); c.want == "" && err != nil ||
				c.want != "" && (!ok || never.Error() != c.want) {
				t.Errorf("%v; want %s", err, c.want)
			}
			var told []core.Worker // what a client of the API decides it by
			if text, err := json.Marshal(site.Workers()); err != nil ||
				json.Unmarshal(text, &told) != nil {
				t.Fatal(err, string(text))
			}
			if there := core.RefuseNeeds("train", task.Needs{GPUs: c.need}, told); !c.local &&
				fmt.Sprint(there) != fmt.Sprint(err) {
				t.Errorf("a client says %v; want %v", there, err)
			}
		})
	}
}

// A smaller number is advised only if one helps.
func TestRemedyOfNeedsThatAreNeverMet(t *testing.T) {
	t.Parallel()
	const another = "change gpus in tasks.yml, or add a worker whose host has such GPUs"
	for name, c := range map[string]struct {
		need task.GPUs
		want string
	}{
		"fewer": {task.GPUs{Count: 4}, "ask for fewer GPUs (`--gpus 3`, or gpus in tasks.yml), " +
			"or add a worker whose host has more such GPUs"},
		"fewer of that memory": {task.GPUs{Count: 4, Memory: 24 * gib}, "ask for fewer GPUs " +
			"(`--gpus 1`, or gpus in tasks.yml), or add a worker whose host has more such GPUs"},
		"none of that memory": {task.GPUs{Count: 4, Memory: 80 * gib}, another},
		"none of that name":   {task.GPUs{Count: 0.5, Name: "H100"}, another},
	} {
		err := core.RefuseNeeds("train", task.Needs{GPUs: c.need}, []core.Worker{
			{Name: "w1", State: core.WorkerReady, Seen: new(at(0)), GPUs: mixedGPUs()},
			{Name: "w2", State: core.WorkerReady, Seen: new(at(0)), GPUs: []task.GPU{}}})
		if never, ok := errors.AsType[*core.NeverFits](err); !ok || never.Remedy() != c.want {
			t.Errorf("%s: %v; want %s", name, never.Remedy(), c.want)
		}
	}
}

// A sweep that gets tasks which no worker can ever run stays as it is.
func TestRetryAndExtendOfNeedsThatAreNeverMet(t *testing.T) {
	t.Parallel()
	c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 1001}})
	retry := core.RetryTasks{Sweep: "train-0",
		Tasks: []core.Task{{Index: 1, State: task.Failed}}}
	extend := core.ExtendSweep{Sweep: "train-0", Space: spaceOf(t, "i: !interval [0, 1001]")}
	resume := core.ResumeSweep{Sweep: "train-0"}
	for _, command := range []core.Command{retry, extend, resume} {
		if err := c.Check(command); err != nil {
			t.Errorf("%T while no worker is known: %v", command, err)
		}
	}
	effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{gpuWorker("w", 1, nil)}}, at(1))
	for _, command := range []core.Command{retry, extend} {
		if err := c.Check(command); !errors.As(err, new(*core.NeverFits)) {
			t.Errorf("%T: %v", command, err)
		}
	}
	if err := c.Check(resume); err != nil {
		t.Errorf("resume: %v", err)
	}
	if err := c.Check(core.ExtendSweep{Sweep: "train-0",
		Space: spaceOf(t, "i: !interval [0, 1000]")}); err != nil {
		t.Errorf("extend by nothing: %v", err)
	}
}

// A sweep says why nothing of it can start for want of GPUs, when that lasts for a moment.
func TestWhatSweepsWaitFor(t *testing.T) {
	t.Parallel()
	one, two := task.GPUs{Count: 1}, task.GPUs{Count: 2}
	draining := gpuWorker("w2", 4, mixedGPUs())
	draining.Draining = true
	single := gpuWorker("w1", 4, gone(gpusOf(1, "T4", 15*gib), 0))
	faulty := gpuWorker("w2", 4, nil)
	faulty.GPUFault = "nvidia-smi: Driver/library version mismatch"
	w1 := gpuWorker("w1", 4, gone(mixedGPUs(), 0, 2))
	w1.GPUs[2].UUID, w1.GPUs[2].Unavailable = "GPU-5b3c2a1f-1d1d-8c1c", "it fell off the bus"
	w1.GPUs[2].Broken = true
	for name, c := range map[string]struct {
		known   []string
		workers []task.Heartbeat
		sweep   gpuSweep
		each    bool
		local   bool
		want    string
	}{
		"no worker": {sweep: gpuSweep{needs: one}, want: "waits for 1 GPU: there is no worker"},
		"some are busy": {workers: []task.Heartbeat{w1}, sweep: gpuSweep{needs: two},
			want: "waits for 2 GPUs: w1: 1 of 3 available (GPU-T4 busy: ben, python (pid 411), " +
				"6.0 GB; GPU-5b3c2a1f: it fell off the bus)"},
		"the only one is busy": {workers: []task.Heartbeat{single}, sweep: gpuSweep{needs: one},
			want: "waits for 1 GPU: w1: GPU-T4 busy: ben, python (pid 411), 6.0 GB"},
		"a local run": {local: true, workers: []task.Heartbeat{single}, sweep: gpuSweep{needs: one},
			want: "waits for 1 GPU: w1: GPU-T4 busy: ben, python (pid 411), 6.0 GB"},
		"who cannot comes last": {
			workers: []task.Heartbeat{gpuWorker("v1", 4, nil), gpuWorker("v2", 4, nil), single},
			sweep:   gpuSweep{needs: one},
			want: "waits for 1 GPU: w1: GPU-T4 busy: ben, python (pid 411), 6.0 GB; " +
				"v1, v2: no GPU"},
		"who cannot list what it has is not one without": {
			workers: []task.Heartbeat{gpuWorker("w1", 4, nil), faulty}, sweep: gpuSweep{needs: one},
			want: "waits for 1 GPU: w2: cannot list its GPUs: nvidia-smi: Driver/library version " +
				"mismatch; w1: no GPU"},
		"who takes no tasks": {workers: []task.Heartbeat{draining}, sweep: gpuSweep{needs: one},
			want: "waits for 1 GPU: w2: draining"},
		"nobody can ever": {workers: []task.Heartbeat{gpuWorker("w1", 4, nil)},
			sweep: gpuSweep{needs: one}, want: "waits for 1 GPU: w1: no GPU"},
		"one has some": {workers: []task.Heartbeat{single, gpuWorker("w2", 1, mixedGPUs())},
			sweep: gpuSweep{needs: one}},
		"one was not heard": {known: []string{"w0"}, workers: []task.Heartbeat{single},
			sweep: gpuSweep{needs: one}},
		"all tasks are handed out": {workers: []task.Heartbeat{gpuWorker("w1", 4, mixedGPUs())},
			sweep: gpuSweep{needs: one, tasks: 3}},
		"it needs none": {workers: []task.Heartbeat{single}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var known []core.WorkerRecord
			for _, name := range c.known {
				known = append(known, core.WorkerRecord{Name: name, Incarnation: "1"})
			}
			site, _ := core.Load(core.Options{Local: c.local}, nil, known, at(0))
			site.Add(core.Loaded{Seq: 1, Record: core.Record{
				Recipe: task.Recipe{Needs: task.Needs{GPUs: c.sweep.needs}},
				Space:  spaceOf(t, "i: !interval [0, 1000]")},
				Head: core.Head{ID: "train-1", State: core.Open, Total: max(c.sweep.tasks, 1)}})
			told := ""
			for second := 1.0; second <= 6; second += 1.5 {
				e := effectsOf(site, core.Input{Heartbeats: c.workers}, at(second))
				for _, r := range e.Blocked {
					told = r.Head.Waits
				}
				if second == 1 && told != "" {
					t.Errorf("at once it says %q", told)
				}
			}
			want := map[string]string{}
			if c.want != "" {
				want["train-1"] = c.want
			}
			if diff := cmp.Diff(want, site.Waits()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if told != c.want {
				t.Errorf("followers are told %q; want %q", told, c.want)
			}
		})
	}
}

// What a sweep waits for is over when a GPU is free, when it is paused, and when its record is
// loaded again nothing is known of it.
func TestWaitsEnd(t *testing.T) {
	t.Parallel()
	busy := gpuWorker("w", 4, gone(gpusOf(1, "T4", 15*gib), 0))
	waiting := func() *core.Core {
		c := newGPUSite(t, []gpuSweep{{needs: task.GPUs{Count: 1}, tasks: 5}})
		for second := 1.0; second <= 5; second++ {
			effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{busy}}, at(second))
		}
		if len(c.Waits()) != 1 {
			t.Fatal("it does not wait")
		}
		return c
	}
	c := waiting()
	e := effectsOf(c, core.Input{Heartbeats: []task.Heartbeat{gpuWorker("w", 4,
		gpusOf(1, "T4", 15*gib))}}, at(6))
	if len(c.Waits()) > 0 || len(e.Changed) != 1 || e.Changed[0].Head.Waits != "" {
		t.Errorf("a task is placed, and it waits: %v", c.Waits())
	}
	c = waiting()
	e = effectsOf(c, core.Input{Command: core.PauseSweep{Sweep: "train-0"}}, at(6))
	if s := (core.Record{}).Summary(e.Changed[0].Head); len(c.Waits()) > 0 || s.Waits != nil {
		t.Errorf("it is paused, and waits: %v, %v", c.Waits(), s.Waits)
	}
	head, _ := waiting().Head("train-0")
	c = newGPUSite(t, nil)
	c.Add(core.Loaded{Head: head, Record: core.Record{Space: spaceOf(t, "i: [1, 2, 3]")}})
	if len(c.Waits()) > 0 {
		t.Errorf("loaded again it waits: %v", c.Waits())
	}
}

// Tasks of a sweep for every worker are for those that may have the GPUs, and each says what it
// waits for.
func TestASweepForEveryWorkerThatHasGPUs(t *testing.T) {
	t.Parallel()
	need := task.GPUs{Count: 1}
	c := newGPUSite(t, nil)
	faulty := gpuWorker("w6", 4, nil)
	faulty.GPUFault = "nvidia-smi does not answer"
	beats := []task.Heartbeat{gpuWorker("w1", 4, nil), gpuWorker("w2", 4, mixedGPUs()),
		gpuWorker("w3", 4, gone(gpusOf(1, "T4", 15*gib), 0)), faulty}
	effectsOf(c, core.Input{Heartbeats: beats}, at(1))
	if got := c.Worker("w6").GPUFault; got == nil || *got != faulty.GPUFault {
		t.Errorf("w6 is shown with the fault %v", got)
	}
	names := c.Present(task.Needs{GPUs: need})
	if diff := cmp.Diff([]string{"w2", "w3", "w6"}, names); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if got := c.Present(task.Needs{}); len(got) != 4 {
		t.Errorf("without GPUs: %v", got)
	}
	c.Add(core.Loaded{Head: core.Head{ID: "train-1", State: core.Open, Total: 4},
		Record: core.Record{Space: spaceOf(t, "i: [1]"), EachWorker: true,
			Workers: []string{"w1", "w2", "w3", "w6"}, Recipe: task.Recipe{Needs: task.Needs{GPUs: need}}}})
	for second := 2.0; second <= 5; second++ {
		effectsOf(c, core.Input{Heartbeats: beats}, at(second))
	}
	want := map[int64]string{0: "waits for 1 GPU on worker w1, which has no GPU",
		2: "waits for 1 GPU on worker w3: GPU-T4 busy: ben, python (pid 411), 6.0 GB",
		3: "waits for 1 GPU on worker w6: cannot list its GPUs: nvidia-smi does not answer"}
	if diff := cmp.Diff(want, c.Blocked("train-1")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if len(c.Waits()) > 0 {
		t.Errorf("it waits as a whole: %v", c.Waits())
	}
}

func TestNeedsAsText(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		need nvdocker.Need
		want string
	}{
		{nvdocker.Need{}, "no GPU"},
		{nvdocker.Need{Count: 1}, "1 GPU"},
		{nvdocker.Need{Count: 0.5}, "0.5 of a GPU"},
		{nvdocker.Need{Count: 0.15}, "0.15 of a GPU"},
		{nvdocker.Need{Count: 1.0 / 16}, "0.0625 of a GPU"},
		{nvdocker.Need{Count: 1.0 / 3}, "1/3 of a GPU"},
		{nvdocker.Need{Count: 4, Memory: 12 * gib}, "4 GPUs with 12.0 GB each"},
	} {
		if got := c.need.String(); got != c.want {
			t.Errorf("%q; want %q", got, c.want)
		}
	}
}

// waitingSite has 20 sweeps that wait for GPUs which no worker has.
func waitingSite(tb testing.TB, workers int) (step func()) {
	s, _, err := space.Read("parameters.yml", []byte("i: !interval [0, 9]"))
	if err != nil {
		tb.Fatal(err)
	}
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	for i := range 20 {
		c.Add(core.Loaded{Seq: int64(i), Record: core.Record{Space: s,
			Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: 1, Name: "H100|B200"}}}},
			Head: core.Head{ID: fmt.Sprintf("t-%d", i), State: core.Open, Total: 10}})
	}
	var beats []task.Heartbeat
	for i := range workers {
		beats = append(beats, gpuWorker(fmt.Sprintf("w%d", i), 8, gpusOf(8, "T4", 16*gib)))
	}
	now := 0.0
	step = func() {
		now += 2
		effectsOf(c, core.Input{Heartbeats: beats}, at(now))
	}
	step()
	step()
	if len(c.Waits()) != 20 {
		tb.Fatalf("%d sweeps wait", len(c.Waits()))
	}
	return step
}

// Why sweeps wait is told anew each second, for little: devices are compared with a need once.
func TestWhySweepsWaitCostsLittle(t *testing.T) { // not parallel: it counts allocations
	step := waitingSite(t, 50)
	if n := testing.AllocsPerRun(5, step); n > 2000 {
		t.Errorf("a second costs %v allocations", n)
	}
}

func BenchmarkWaits(b *testing.B) {
	step := waitingSite(b, 200)
	for b.Loop() {
		step()
	}
}
