package worker_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// holding is a script with the folder of devices as its first argument. A task of an even index
// starts four children and four daemons without an environment, which ignore SIGTERM and hold a
// device each. A task of an odd index counts who holds one.
const holding = `if [ $((TASK_INDEX % 2)) = 1 ]; then
	ls -l /proc/[0-9]*/fd 2>/dev/null | grep -c "$1/nvidia" > found
	exit 0
fi
trap '' TERM
hold='exec 9<>"$0"; echo > "$1"; exec sleep 1000'
for n in 0 1 2 3; do
	sh -c "$hold" "$1/nvidia$n" held$n &
	(setsid env -i sh -c "$hold" "$1/nvidia$((n + 4))" held$((n + 4)) &)
done
wait`

// holders returns the processes that hold a file of a folder, with the file.
func holders(t *testing.T, folder string) (all []string) {
	t.Helper()
	links, err := filepath.Glob("/proc/[0-9]*/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, link := range links {
		if file, err := os.Readlink(link); err == nil && strings.HasPrefix(file, folder+"/") {
			all = append(all, link+" "+file)
		}
	}
	return all
}

// Nobody of a cancelled attempt holds a GPU's device one second after its grace, and the next
// attempt on the GPU starts after that. With FAULTS=long 100 attempts are cancelled.
func TestNobodyOfACancelledAttemptHoldsAGPU(t *testing.T) {
	t.Parallel()
	rounds, allowed := int64(3), limit/2
	if os.Getenv("FAULTS") == "long" {
		rounds, allowed = 100, time.Second
	}
	devices, c := t.TempDir(), &cards{report: gpus(gpu(0))}
	s := newSite(t, nil, local, func(o *worker.Options) { o.GPUs = c.look })
	slowest := time.Duration(0)
	for n := int64(0); n < 2*rounds; n += 2 {
		b := using(1, "GPU-0", n, n+1)
		b.Recipe.Command = []string{"sh", "-c", holding, "sh", devices}
		b.Recipe.Grace = 200 * time.Millisecond
		s.send(b)
		for device := range 8 {
			s.appears(s.path(n, fmt.Sprint("held", device)))
		}
		if have := holders(t, devices); len(have) != 8 {
			t.Fatalf("the devices are held by %q", have)
		}
		begin := time.Now()
		s.tell(stopOf(n))
		poll(t, "nobody holds a device", func() bool { return len(holders(t, devices)) == 0 })
		took := time.Since(begin) - b.Recipe.Grace
		if slowest = max(slowest, took); took > allowed {
			t.Errorf("devices are held %v after the grace of task %d", took, n)
		}
		s.ended(n+1, 1)
		if found := s.file(n+1, "found"); found != "0\n" {
			t.Errorf("task %d starts while %q hold a device", n+1, found)
		}
	}
	t.Logf("%d cancels; devices are held for at most %v after the grace", rounds, slowest)
}

// A process that SIGKILL does not end keeps its GPUs, whatever memory they show, and heartbeats name
// it.
func TestUnkillableProcessKeepsItsGPUs(t *testing.T) {
	left := exec.Command("sleep", "1000")
	if err := left.Start(); err != nil {
		t.Fatal(err)
	}
	end := func() { _ = left.Process.Kill(); _ = left.Wait() }
	defer end()
	ran := func(_ context.Context, spec process.Spec) process.Exit {
		if variable(spec.Env, "TASK_INDEX") == "0" {
			return process.Exit{Cause: process.TimedOut, Unkillable: []int{left.Process.Pid}}
		}
		return process.Exit{}
	}
	onCards(t, gpus(gpu(0), gpu(1)), func(t *testing.T, s *site, _ *cards, _ *programs) {
		s.send(using(1, "GPU-0", 0, 1), using(1, "GPU-1", 2))
		s.ended(2, 1)
		s.beat("who keeps the GPU", func(h task.Heartbeat) bool {
			return len(h.GPUs) == 2 && h.GPUs[0].Given == 1 && h.GPUs[0].Unavailable ==
				fmt.Sprintf("busy: pid %d of train-1/0 does not end", left.Process.Pid)
		})
		time.Sleep(time.Minute)
		s.seen(task.ReturnedEvent, 1, 1)
		end()
		s.beat("that it is free", func(h task.Heartbeat) bool {
			return len(h.GPUs) == 2 && h.GPUs[0].Given == 0 && h.GPUs[0].Unavailable == ""
		})
		s.send(using(1, "GPU-0", 3))
		s.ended(3, 1)
	}, fake(ran))
}
