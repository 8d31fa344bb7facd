package worker_test

import (
	"os"
	"os/exec"
	"reflect"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

func ceiling(n int64) func(*worker.Options) { return func(o *worker.Options) { o.OutputLimit = n } }

const mark = "\n[cut here: only the first 1000 bytes of this output are kept]\n"

func TestOutputIsKeptUpToTheCeiling(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, script string
		out          task.Output
		file         string
	}{
		{"nothing", "true", task.Output{}, ""},
		{"to the byte", "head -c 1000 /dev/zero", task.Output{Bytes: 1000},
			strings.Repeat("\x00", 1000)},
		{"a byte more", "head -c 1001 /dev/zero", task.Output{Bytes: 1000, Printed: 1001,
			Truncated: true}, strings.Repeat("\x00", 1000) + mark},
		{"a lot", "yes | head -c 5000000", task.Output{Bytes: 1000, Printed: 5000000,
			Truncated: true}, strings.Repeat("y\n", 500) + mark},
		{"in pieces", "for i in $(seq 300); do echo 12345; done",
			task.Output{Bytes: 1000, Printed: 1800, Truncated: true},
			strings.Repeat("12345\n", 166) + "1234" + mark},
		{"not text", `printf '\377\376\000\033[31m'`, task.Output{Bytes: 8},
			"\xff\xfe\x00\x1b[31m"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil, ceiling(1000))
			s.send(batch(c.script+"; echo end >&2", 0))
			o := s.ended(0, 1)
			if o.Class != task.Success || !reflect.DeepEqual(o.Stdout, c.out) ||
				!reflect.DeepEqual(o.Stderr, task.Output{Bytes: 4}) {
				t.Errorf("%+v; want %+v", o, c.out)
			}
			if got := s.file(0, "stdout.log"); got != c.file {
				t.Errorf("kept %d bytes, ending with %q", len(got), got[max(0, len(got)-80):])
			}
			if got := s.file(0, "stderr.log"); got != "end\n" {
				t.Errorf("stderr: %q", got)
			}
		})
	}
}

// It measures memory, so it is not parallel.
func TestOutputWithoutEndFillsNoMemory(t *testing.T) {
	const bytes = 100 << 20
	s := newSite(t, nil, ceiling(1<<20), inherit("KEY=s3cr3t-value"), ownSecrets)
	lines := s.queue.Lines(t.Context())
	s.tell(task.Control{Kind: task.FollowControl, Sweep: "train-1"})
	s.obeyed()
	b := batch("head -c $0 /dev/zero", 0) // no line end, invalid text
	b.Recipe.Command = []string{"head", "-c", "104857600", "/dev/zero"}
	b.Recipe.Secrets = []string{"KEY"}
	runtime.GC()
	var before runtime.MemStats
	runtime.ReadMemStats(&before)
	var most atomic.Uint64
	done := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		tick := time.NewTicker(10 * time.Millisecond)
		defer tick.Stop()
		for {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			most.Store(max(most.Load(), m.HeapAlloc))
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	s.send(b)
	o := s.ended(0, 1)
	close(done)
	<-watched
	if want := (task.Output{Bytes: 1 << 20, Printed: bytes,
		Truncated: true}); !reflect.DeepEqual(o.Stdout, want) || o.Class != task.Success {
		t.Errorf("%+v", o)
	}
	if grown := int64(most.Load()) - int64(before.HeapAlloc); grown > 16<<20 {
		t.Errorf("memory grew by %d MiB", grown>>20)
	}
	if l := <-lines; len(l.Text) != 4096 {
		t.Errorf("a line of %d bytes", len(l.Text))
	}
}

// smallDisk makes the folder of outputs a file system of its own.
func smallDisk(t *testing.T, size string) func(*worker.Options) {
	return func(o *worker.Options) {
		if err := os.MkdirAll(o.Outputs, 0o700); err != nil {
			t.Fatal(err)
		}
		if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size="+size, "tmpfs",
			o.Outputs).CombinedOutput(); err != nil {
			t.Skipf("NOT TESTED: a full disk needs the right to mount: %s", out)
		}
		t.Cleanup(func() {
			if out, err := exec.Command("umount", "-l", o.Outputs).CombinedOutput(); err != nil {
				t.Errorf("%s", out)
			}
		})
	}
}

// A full disk cuts the output, with a mark, and not the program, whose failure is not charged. The
// worker says so, gives back what it has, and takes nothing more until there is room.
func TestAFullDiskCutsTheOutputAndNotTheProgram(t *testing.T) {
	t.Parallel()
	said := make(chan string, 1)
	s := newSite(t, nil, smallDisk(t, "1m"),
		func(o *worker.Options) { o.OnNoSpace = func(reason string) { said <- reason } })
	const script = "test $TASK_INDEX = 0 || exit 0; yes | head -c 2000000; exit 4"
	s.send(batch(script, 0, 1))
	o := s.ended(0, 1)
	if o.Class != task.Stopped || o.ExitCode == nil || *o.ExitCode != 4 {
		t.Errorf("%+v", o)
	}
	if !strings.HasPrefix(o.Reason, "no space left for outputs (") ||
		!strings.Contains(o.Reason, "; exit code 4; output not kept in full: ") ||
		!strings.Contains(o.Reason, "no space left on device") {
		t.Errorf("reason: %s", o.Reason)
	}
	kept, end := s.file(0,
		"stdout.log"), "\n[cut here: this output is not kept in full: no space left on device]\n"
	want := task.Output{Bytes: int64(len(kept) - len(end)), Printed: 2000000, Truncated: true,
		Error: "no space left on device"}
	if !strings.HasSuffix(kept, "y"+end) && !strings.HasSuffix(kept, "\n"+end) ||
		!reflect.DeepEqual(o.Stdout, want) {
		t.Errorf("it is told %+v, and the file has %d bytes and ends with %q", o.Stdout, len(kept),
			kept[max(0, len(kept)-100):])
	}
	s.seen(task.ReturnedEvent, 1, 1)
	s.beat("that there is no room", func(h task.Heartbeat) bool {
		return strings.Contains(h.Refuses, "no space left for outputs")
	})
	select {
	case why := <-said:
		if !strings.Contains(why, "no space left for outputs") {
			t.Errorf("it says %q", why)
		}
	case <-time.After(limit):
		t.Fatal("the worker does not say that there is no room")
	}
	b := batch(script, 1)
	b.Attempts[0].Number = 2
	s.send(b)
	s.seen(task.ReturnedEvent, 1, 2)
	s.must(os.Remove(s.path(0, "stdout.log")))
	s.beat("that there is room", func(h task.Heartbeat) bool { return h.Refuses == "" })
	b.Attempts[0].Number = 3
	s.send(b)
	if o := s.ended(1, 3); o.Class != task.Success {
		t.Errorf("%+v", o)
	}
}

// Where not even the mark has room, it is written when the program ends, if there is room by then.
func TestTheMarkIsWrittenWhenThereIsRoom(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, smallDisk(t, "1m"))
	// It prints more than pipe and buffers hold, so that some of it is written before the rm.
	s.send(batch("cat /dev/zero >ballast 2>&1; yes | head -c 2000000; rm ballast", 0))
	o := s.ended(0, 1)
	const mark = "\n[cut here: this output is not kept in full: no space left on device]\n"
	want := task.Output{Printed: 2000000, Truncated: true, Error: "no space left on device"}
	if kept := s.file(0, "stdout.log"); kept != mark || !reflect.DeepEqual(o.Stdout, want) {
		t.Errorf("it is told %+v (%s), and the file has %q", o.Stdout, o.Reason, kept)
	}
}

// An attempt whose folder finds no room is given back, uncharged: it did not begin.
func TestAttemptWithoutDiskSpaceIsReturned(t *testing.T) {
	t.Parallel()
	// for the root, and folders of the sweep and the task
	s := newSite(t, nil, smallDisk(t, "64k,nr_inodes=3"))
	s.send(batch("true", 0))
	s.seen(task.ReturnedEvent, 0, 1)
}
