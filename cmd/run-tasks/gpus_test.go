package main

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/nvdocker"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Where tasks of a dry run would run on a cluster, and how many at a time.
func TestPlaceLines(t *testing.T) {
	t.Parallel()
	l4 := func(uuid, why string) task.GPU {
		return task.GPU{UUID: uuid, Name: "NVIDIA L4", Memory: 23034 << 20, Given: 1,
			Unavailable: why}
	}
	slice := task.GPU{UUID: "MIG-33333333-1", Name: "NVIDIA A100", Memory: 10 << 30, Split: true}
	two := []task.GPU{l4("GPU-11111111-1", ""), l4("GPU-22222222-2", "busy: ben")}
	at := func(slots int, state string, gpus []task.GPU) core.Worker {
		return core.Worker{Name: "gpu1", Host: "host1", Slots: slots, SlotsChosen: true, State: state,
			Seen: new(time.Time), GPUs: gpus}
	}
	here := core.Worker{Name: "vm", Slots: 1, SlotsChosen: true, State: core.WorkerReady, Seen: new(time.Time),
		GPUs: two}
	broken, a100 := l4("GPU-44444444-1", "it hangs"), task.GPU{UUID: "GPU-55555555-1",
		Name: "NVIDIA A100", Memory: 80 << 30}
	broken.Broken = true
	faulty := at(1, core.WorkerReady, []task.GPU{})
	faulty.GPUFault = new("the driver hangs")
	for name, c := range map[string]struct {
		at   core.Worker
		need task.GPUs
		want []string
	}{
		"no need": {at(4, core.WorkerReady, two), task.GPUs{}, []string{"on gpu1, 4 slots"}},
		"what tasks and others have counts, too": {at(4, core.WorkerDraining, two),
			task.GPUs{Count: 1}, []string{
				"on gpu1, 4 slots (draining), 2 x NVIDIA L4 with 22.5 GB: 2 tasks at a time",
				"  GPU-22222222 now: busy: ben"}},
		"fewer slots than shares": {at(3, core.WorkerReady, two[:1]), task.GPUs{Count: 0.25},
			[]string{"on gpu1, 3 slots, 1 x NVIDIA L4 with 22.5 GB: 3 tasks at a time",
				"  3 slots for 1 GPU, which 4 tasks can use at a time: " +
					"`run-tasks workers slots gpu1 4` uses all"}},
		"fewer slots than GPUs of this machine": {here, task.GPUs{Count: 1},
			[]string{"on vm, 1 slot, 2 x NVIDIA L4 with 22.5 GB: 1 task at a time",
				"  1 slot for 2 GPUs: --slots 2 uses all", "  GPU-22222222 now: busy: ben"}},
		"one is broken": {at(4, core.WorkerReady, []task.GPU{two[0], broken}), task.GPUs{Count: 1},
			[]string{"on gpu1, 4 slots, 2 x NVIDIA L4 with 22.5 GB: 1 task at a time",
				"  GPU-44444444 now: it hangs"}},
		"one that does not matter is busy": {at(4, core.WorkerReady, []task.GPU{a100, two[1]}),
			task.GPUs{Count: 1, Memory: 40 << 30},
			[]string{"on gpu1, 4 slots, 1 x NVIDIA A100 with 80.0 GB: 1 task at a time"}},
		"thirds": {at(9, core.WorkerReady, two[:1]), task.GPUs{Count: 1.0 / 3},
			[]string{"on gpu1, 9 slots, 1 x NVIDIA L4 with 22.5 GB: 3 tasks at a time"}},
		"one cannot": {at(0, core.WorkerReady, two), task.GPUs{Count: 1, Memory: 40 << 30},
			[]string{"not on gpu1: 2 x NVIDIA L4 with 22.5 GB"}},
		"some of it can": {at(1, core.WorkerReady, append(two[:1:1], slice)),
			task.GPUs{Count: 1, Name: "l4"}, []string{"on gpu1, 1 slot, 1 x NVIDIA L4 with " +
				"22.5 GB: 1 task at a time"}},
		"without": {at(1, core.WorkerReady, []task.GPU{}), task.GPUs{Count: 1},
			[]string{"not on gpu1: no GPU"}},
		"cannot list them": {faulty, task.GPUs{Count: 1}, []string{
			"on gpu1, 1 slot, once it can list its GPUs: the driver hangs"}},
		"not heard of": {at(1, core.WorkerAway, two), task.GPUs{Count: 1},
			[]string{"on gpu1, 1 slot (away)"}},
		"without slots": {at(0, core.WorkerReady, two[:1]), task.GPUs{Count: 1},
			[]string{"on gpu1, 0 slots, 1 x NVIDIA L4 with 22.5 GB: 0 tasks at a time",
				"  0 slots for 1 GPU: `run-tasks workers slots gpu1 1` uses all"}},
	} {
		if diff := cmp.Diff(c.want, placeLines(c.at, task.Needs{GPUs: c.need})); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

// What --dry-run says is what the worker does.
func TestGPUBusyByDefault(t *testing.T) {
	t.Parallel()
	app := &cliv2.App{Flags: cli.GPUBusyFlags(""),
		Action: func(ctx *cliv2.Context) error {
			if got, err := cli.GPUBusyOf(ctx); got.Above != nvdocker.Idle || err != nil {
				t.Errorf("%+v, %v", got, err)
			}
			return nil
		}}
	if err := app.Run([]string{"run-tasks"}); err != nil {
		t.Fatal(err)
	}
}

// A remedy names another number of GPUs only where one helps.
func TestRemediesOfGPUs(t *testing.T) {
	t.Parallel()
	const without = "`run-tasks two --gpus 0` runs it without GPUs"
	l4 := nvdocker.GPU{UUID: "GPU-1", Name: "NVIDIA L4", Memory: 23034 << 20}
	split := nvdocker.GPU{UUID: "GPU-2", Name: "NVIDIA A100", MIG: true,
		Instances: []nvdocker.Instance{{UUID: "MIG-1", Memory: 10 << 30}}}
	for name, c := range map[string]struct {
		gpus []nvdocker.GPU
		need task.GPUs
		kept bool
		want string
	}{
		"fewer": {[]nvdocker.GPU{l4, l4}, task.GPUs{Count: 3}, false,
			without + ", `--gpus 2` with 2"},
		"fewer of the right ones": {[]nvdocker.GPU{l4, split}, task.GPUs{Count: 2, Name: "L4"},
			false, without + ", `--gpus 1` with 1"},
		"an instance": {[]nvdocker.GPU{split}, task.GPUs{Count: 2}, false,
			without + ", `--gpus 1` with 1"},
		"memory and name are not met": {[]nvdocker.GPU{l4, l4},
			task.GPUs{Count: 2, Memory: 40 << 30, Name: "A100|H100"}, false, without},
		"one is too many": {nil, task.GPUs{Count: 1}, false, without},
		"a share":         {[]nvdocker.GPU{l4}, task.GPUs{Count: 0.5, Name: "T4"}, false, without},
		"a sweep that keeps it": {[]nvdocker.GPU{l4}, task.GPUs{Count: 2}, true,
			"as a new sweep, " + without + ", `--gpus 1` with 1"},
	} {
		need := hostNeed{task.Needs{GPUs: c.need}, "two", "two", c.kept, false}
		report := nvdocker.Report{GPUs: c.gpus}
		g := localGPUs{all: report, visible: report}
		err := g.check(need)
		refused, is := errors.AsType[*cli.Error](err)
		if !is || refused.Remedy != c.want {
			t.Errorf("%s: %+v, want %q", name, err, c.want)
		}
	}
}

// Where slots limit a sweep of this machine, and not GPUs, a note says how many use all.
func TestSlotsNote(t *testing.T) {
	t.Parallel()
	w := core.Worker{SlotsChosen: true}
	for _, uuid := range []string{"1", "2", "3", "4"} {
		w.GPUs = append(w.GPUs, task.GPU{UUID: uuid, Name: "NVIDIA L4", Memory: 23034 << 20})
	}
	for _, c := range []struct {
		need  task.GPUs
		kept  bool
		slots int
		tasks int64
		want  string
	}{
		{task.GPUs{Count: 1}, false, 2, 6, "2 slots for 4 GPUs: --slots 4 uses all"},
		{task.GPUs{Count: 1}, true, 2, 6,
			"2 slots for 4 GPUs: `run-tasks resume train-1 --slots 4` uses all"},
		{task.GPUs{Count: 1}, false, 2, 2, ""},
		{task.GPUs{Count: 1}, false, 4, 6, ""},
		{task.GPUs{Count: 2}, false, 2, 6, ""},
		{task.GPUs{Count: 0.5}, false, 2, 6,
			"2 slots for 4 GPUs, which 8 tasks can use at a time: --slots 8 uses all"},
		{task.GPUs{Count: 1, Name: "A100"}, false, 2, 6, ""},
		{task.GPUs{}, false, 2, 6, ""},
	} {
		b := api.StartedSweep{Summary: core.Summary{ID: "train-1", Total: c.tasks}}
		w.Slots = c.slots
		got := hostNeed{Needs: task.Needs{GPUs: c.need}, kept: c.kept}.slotsNote(w, b)
		if got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// GPUs that tasks of this folder use are reported as theirs, not as those of another program.
func TestOwnGPUs(t *testing.T) {
	t.Parallel()
	w := core.Worker{GPUs: []task.GPU{{UUID: "a", Unavailable: "busy: ben"},
		{UUID: "b", Unavailable: "busy: ben"}, {UUID: "c", Unavailable: "it hangs", Broken: true}}}
	setOwn(&w, []core.Worker{{GPUs: []task.GPU{{UUID: "a", Given: 0.5}, {UUID: "b"},
		{UUID: "c", Given: 1}}}})
	for i, want := range []string{"tasks of this folder use it", "busy: ben", "it hangs"} {
		if got := w.GPUs[i].Unavailable; got != want {
			t.Errorf("%s: %q, want %q", w.GPUs[i].UUID, got, want)
		}
	}
}
