package worker_test

import (
	"log/slog"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// leave is a script, but for task 1, that starts a process which ignores SIGTERM and prints when
// the file "speak" is there, and ends before that.
const leave = `test $TASK_INDEX = 1 && exit
echo "loss=1"
(trap '' TERM; sh -c 'echo $PPID' > pid; while [ ! -e speak ]; do sleep 0.02; done
echo late; touch spoke; exec sleep 1000) &
while [ ! -s pid ]; do sleep 0.01; done
echo end
exit 3`

// The end of a program is told when it ends, though a process that it left ignores SIGTERM for a
// grace of an hour. Until that one is gone its slot is not free. What it prints stands behind a
// mark and counts nowhere.
func TestAttemptEndIsReportedBeforeLeftovers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch(leave, 0)
	b.Recipe.Grace = time.Hour
	s.send(b)
	o := s.ended(0, 1)
	text, err := os.ReadFile(s.path(0, "pid"))
	s.must(err)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	s.must(err)
	defer syscall.Kill(pid, syscall.SIGKILL) //nolint:errcheck // it is gone after the test
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("what it left is gone: %v", err)
	}
	const printed = "loss=1\nend\n"
	if o.Class != task.Error || o.ExitCode == nil || *o.ExitCode != 3 ||
		o.Stdout.Bytes != int64(len(printed)) || o.Duration > time.Minute {
		t.Errorf("it ended as %+v", o)
	}
	s.send(batch(leave, 1))
	s.seen(task.ClaimedEvent, 1, 1)
	s.beat("one that ends and one that waits", func(h task.Heartbeat) bool {
		return h.Ending == 1 && len(h.Running) == 0 && h.Waiting == 1
	})
	s.must(touch(s.path(0, "speak")))
	s.appears(s.path(0, "spoke"))
	s.must(syscall.Kill(pid, syscall.SIGKILL))
	if o := s.ended(1, 1); o.Class != task.Success {
		t.Errorf("the next ended as %+v", o)
	}
	if got := s.file(0, "stdout.log"); !strings.HasPrefix(got, printed) ||
		!strings.HasSuffix(got, "\nlate\n") || !strings.Contains(got, "[program exited") {
		t.Errorf("stdout.log has %q", got)
	}
	ends := 0
	for _, e := range s.soFar() {
		if e.Kind == task.EndedEvent && e.Index == 0 {
			ends++
		}
	}
	if ends != 1 {
		t.Errorf("its end was told %d times", ends)
	}
}

// What a living worker runs is not a leftover, whoever says so: where no lock can be had, a second
// worker of the same name and folder must not end it.
func TestProcessesOfLiveWorkerAreNotLeftovers(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch("touch began; while [ ! -e go ]; do sleep 0.02; done", 0))
	s.appears(s.path(0, "began"))
	s.must(worker.EndLeftovers(t.Context(), s.options.Name, s.outputs, "",
		slog.New(slog.DiscardHandler)))
	s.must(touch(s.path(0, "go")))
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Errorf("it ended as %s: %s", o.Class, o.Reason)
	}
}
