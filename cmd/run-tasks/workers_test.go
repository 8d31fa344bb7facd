package main

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// printed returns what a command writes to its standard output.
func printed(t *testing.T, print func(*terminal) error) string {
	t.Helper()
	f, err := os.CreateTemp(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := print(&terminal{stdout: f}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(f.Name())
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// withGPUs is a worker with two GPUs and a part of a third.
func withGPUs() core.Worker {
	at := time.Date(2026, 11, 21, 10, 0, 0, 0, timeZone())
	const a100 = "NVIDIA A100-SXM4-80GB"
	return core.Worker{Name: "gpu2", Host: "gpu2", Program: "v1", State: core.WorkerReady, Slots: 4,
		Waiting: 1, Load: &task.Load{CPU: 0.5}, Seen: &at,
		Running: []task.Busy{{Sweep: "train-7", Index: 3, Slot: 1, Started: at,
			GPUs: []string{"GPU-5b3c2a1f-1111"}}},
		GPUs: []task.GPU{
			{UUID: "GPU-5b3c2a1f-1111", Index: "0", Name: a100, Memory: 80 << 30, Used: 6 << 30,
				Utilization: 97, Given: 1},
			{UUID: "GPU-77aa88bb-1111", Index: "1", Name: "evil\x1b[m", Memory: 24 << 30, Used: -1,
				Utilization: -1, Given: 1. / 3},
			{UUID: "MIG-22334455-1111", Index: "2:0", Name: a100, Used: -1, Utilization: -1, Split: true},
			{UUID: "MIG-00112233-1111", Index: "2:1", Name: a100, Memory: 10 << 30, Used: 6 << 30, Split: true,
				Unavailable: "busy: ben, python\n (pid 411), 6.0 GB"},
		}}
}

func TestWorkersWithGPUs(t *testing.T) {
	t.Parallel()
	plain, away := withGPUs(), withGPUs()
	plain.Name, plain.GPUs = "gpu3", nil
	away.Name, away.State, away.Running, away.Load = "gpu4", core.WorkerAway, nil, nil
	got := printed(t, func(c *terminal) error {
		return printWorkers(c, []core.Worker{withGPUs(), plain, away}, false)
	})
	want := `WORKER  HOST  STATE  SLOTS  GPUS       RUNNING  WAITING  CPU  SEEN
gpu2    gpu2  ready  4      1.33 of 4  1        1        50%  10:00:00
gpu3    gpu2  ready  4                 1        1        50%  10:00:00
gpu4    gpu2  away   4                 0        1             10:00:00
gpu2: MIG-00112233 is not given to tasks: busy: ben, python\n (pid 411), 6.0 GB
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	got = printed(t, func(c *terminal) error {
		return printWorkers(c, []core.Worker{plain}, false)
	})
	want = `WORKER  HOST  STATE  SLOTS  RUNNING  WAITING  CPU  SEEN
gpu3    gpu2  ready  4      1        1        50%  10:00:00
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("without GPUs (-want +got)\n%s", diff)
	}
}

// A worker whose driver does not answer has no GPUs, and says why.
func TestWorkerThatCannotListItsGPUs(t *testing.T) {
	t.Parallel()
	w := withGPUs()
	w.GPUs, w.GPUFault = nil, new("nvidia-smi does not answer in time")
	const want = "gpu2: its GPUs cannot be listed: nvidia-smi does not answer in time\n"
	for name, show := range map[string]func(*terminal) error{
		"workers":      func(c *terminal) error { return printWorkers(c, []core.Worker{w}, false) },
		"workers show": func(c *terminal) error { return printWorker(c, w, false) },
	} {
		if got := printed(t, show); !strings.HasSuffix(got, want) {
			t.Errorf("%s:\n%s", name, got)
		}
	}
}

func TestOneWorker(t *testing.T) {
	t.Parallel()
	got := printed(t, func(c *terminal) error { return printWorker(c, withGPUs(), false) })
	want := `worker      gpu2
host        gpu2
state       ready
slots       4, 1 running, 1 waiting
cpu         50%
seen        10:00:00
version     v1
running     train-7/3 in slot 1 since 2026-11-21 10:00:00 UTC
gpus        1.33 of 4 given to tasks

GPU  UUID          GIVEN  MEMORY         USE  TASKS      NAME
0    GPU-5b3c2a1f  1      6.0G of 80.0G  97%  train-7/3  NVIDIA A100-SXM4-80GB
1    GPU-77aa88bb  0.33   24.0G                          evil\x1b[m
2:0  MIG-22334455  0                                     part of NVIDIA A100-SXM4-80GB
2:1  MIG-00112233  0      10.0G                          part of NVIDIA A100-SXM4-80GB
gpu2: MIG-00112233 is not given to tasks: busy: ben, python\n (pid 411), 6.0 GB
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
