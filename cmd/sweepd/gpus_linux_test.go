package main_test

import (
	"os"
	"slices"
	"testing"

	"mlframework/sweep/task"
)

// nvidiaSMI tells of two GPUs, of which the second is in use while there is a file $BUSY.
const nvidiaSMI = `#!/bin/sh
used=1
[ ! -e "$BUSY" ] || used=6144
case "$*" in
--query-gpu=*)
	echo "0, GPU-0, NVIDIA L4, 00000000:01:00.0, 550.54.15, 23034, 1, 5, 41, Disabled, [N/A], [N/A]"
	echo "1, GPU-1, NVIDIA L4, 00000000:02:00.0, 550.54.15, 23034, $used, 5, 41, Disabled, [N/A], [N/A]"
	;;
esac
`

// A worker gives its tasks the GPUs of its host, each its own, and those that need none see none.
// What others use is given out when it is free.
func TestTasksOfAWorkerWithGPUs(t *testing.T) {
	t.Parallel()
	s := open(t)
	c := newCluster(t, s)
	bin, own, busy := c.path("bin"), c.path("own"), c.path("busy")
	for _, err := range []error{os.Mkdir(bin, 0o700), os.Mkdir(own, 0o700),
		os.WriteFile(c.path("bin", "nvidia-smi"), []byte(nvidiaSMI), 0o700),
		os.WriteFile(busy, nil, 0o600)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	d := newDaemon(t, c.dir, "w1", append([]string{"worker", "--name", "w1", "--host", "host-w1",
		"--slots", "3", "--outputs", c.path("w1"), "--revisions", c.path("revisions")},
		s.worker("w1")...)...)
	d.env = []string{"PATH=" + bin + ":" + os.Getenv("PATH"), "BUSY=" + busy,
		"MLFRAMEWORK_GPU_LOCKS=" + c.dir}
	c.workers["w1"] = d
	d.start()
	c.ready("w1")
	if w := c.shown("w1"); len(w.GPUs) != 2 || w.GPUs[1].Unavailable != "busy: 6.0 GB in use" {
		t.Errorf("the worker's GPUs: %+v", w.GPUs)
	}

	one := c.submission("one", `echo sees $GPU_UUIDS
mkdir "$HELD/$GPU_UUIDS" || exit 1
`+held+`
rmdir "$HELD/$GPU_UUIDS"`, 4)
	one.Record.Recipe.GPUs = task.GPUs{Count: 1}
	one.Record.Recipe.Env["HELD"] = own
	needing := c.submit(one)
	none := c.sweep("none", `[ -z "$CUDA_VISIBLE_DEVICES" ] || exit 1
[ $NVIDIA_VISIBLE_DEVICES = void ] || exit 1`, 2)
	c.ended(patience, none)
	c.succeeded(none)
	running := func() (all []string) {
		entries, _ := os.ReadDir(own)
		for _, e := range entries {
			all = append(all, e.Name())
		}
		return all
	}
	eventually(t, patience, "one runs on the GPU that is free", func() bool {
		return slices.Equal(running(), []string{"GPU-0"})
	})
	if err := os.Remove(busy); err != nil {
		t.Fatal(err)
	}
	eventually(t, patience, "another runs on the second", func() bool {
		return slices.Equal(running(), []string{"GPU-0", "GPU-1"})
	})
	c.letGo()
	c.ended(2*patience, needing)
	c.succeeded(needing)
	c.verify()
}
