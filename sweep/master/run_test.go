package master_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

func TestASweepRunsToItsEnd(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 2)
	id := s.submit(5)
	if id != "train-1" || s.head(id).Total != 5 { // on disk when the answer is there
		t.Fatal(id)
	}
	for n := range 5 {
		g := h.has(n + 1)[n]
		value := string(rune('0' + n))
		want := task.Attempt{Index: int64(n), Number: 1, Args: []string{"--i=" + value},
			Parameters: []space.Assignment{{Name: "i", Value: value}}}
		if diff := cmp.Diff(want, g.Attempt); diff != "" {
			t.Error(diff)
		}
		if got := s.task(id, g.Index); got.State != task.Queued || got.Attempt.Worker != "w1" {
			// on disk before it is published
			t.Errorf("published when it was %+v", got)
		}
		h.report(task.ClaimedEvent, g)
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	s.becomes(id, core.Finished, "5 succeeded")
	if s.head(id).Ended.IsZero() {
		t.Error("it has no end")
	}
}

func TestAnswersAreOnDisk(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(3)
	h.report(task.StartedEvent, h.has(2)[0])
	s.becomes(id, core.Open, "1 pending, 1 queued, 1 running")
	ctx := t.Context()
	for _, step := range []struct {
		do   func() error
		want core.State
	}{
		{func() error { return s.master.Pause(ctx, "", "lunch", false) }, core.Paused},
		{func() error { return s.master.Resume(ctx, id, api.Continuation{}) }, core.Open},
		{func() error { return s.master.Cancel(ctx, id, "enough") }, core.Cancelled},
	} {
		s.must(step.do())
		if got := s.head(id).State; got != step.want {
			t.Errorf("%s; want %s", got, step.want)
		}
	}
}

func TestAnIdempotencyKeyMakesOneSweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	key := func(sub *master.Submission) { sub.IdempotencyKey = "k1" }
	first, second, other := s.submit(1, key), s.submit(1, key), s.submit(1)
	if first != second || first == other {
		t.Errorf("%s, %s, %s", first, second, other)
	}
	s.newRunner("w1", 1, time.Millisecond)
	s.becomes(first, core.Finished, "1 succeeded")
	if again := s.submit(1, key); again != first {
		t.Errorf("after its end: %s", again)
	}
}

func TestARecordWithoutASpaceIsRefused(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	if _, err := s.master.Submit(t.Context(), master.Submission{}); err == nil {
		t.Error("taken")
	}
}

func TestBackOffEndsByItself(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	s.submit(1)
	g := h.has(1)[0]
	h.report(task.StartedEvent, g)
	begin := time.Now()
	h.end(task.Loss, g)
	if again := h.has(2)[1]; again.Number != 2 || time.Since(begin) < 900*time.Millisecond {
		t.Errorf("%+v after %v", again, time.Since(begin))
	}
}

func TestWhatIsNotUnderstoodIsDropped(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(2)
	g := h.has(1)[0]
	newer := h.ending(g, &task.Outcome{Class: task.Error})
	newer.Version = task.Version + 1
	nameless := h.ending(g, &task.Outcome{Class: task.Error})
	nameless.Sweep = ""
	h.emit(newer, nameless, h.event(task.StartedEvent, given{"train-99", g.Attempt}),
		h.event("unheard of", g))
	h.report(task.StartedEvent, g)
	s.becomes(id, core.Open, "1 queued, 1 running")
	for _, want := range []string{"event of another version",
		"events of an unknown sweep", "sweep=train-99"} {
		s.poll("logged: "+want, func() bool { return strings.Contains(s.log.String(), want) },
			s.log.String)
	}
}

func TestRepeatedEventsChangeNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(1)
	g := h.has(1)[0]
	for range 3 {
		h.report(task.ClaimedEvent, g)
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	h.end(task.Error, g)
	s.becomes(id, core.Finished, "1 succeeded")
	h.toldStop(g) // what was started once more is superseded
	if got := s.task(id, 0); got.Attempts != 1 || got.State != task.Succeeded {
		t.Errorf("%+v", got)
	}
}

func TestTheMasterEndsWithWordsForAll(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	w, stop, err := s.master.Watch(t.Context(), id, api.DetailOutput)
	s.must(err)
	if err := s.end(); err != nil {
		t.Errorf("Run: %v", err)
	}
	if err := s.master.Cancel(t.Context(), id, "x"); !errors.Is(err, master.ErrStopped) {
		t.Errorf("cancel: %v", err)
	}
	for closed := false; !closed; {
		u, err := w.Next(t.Context())
		s.must(err)
		closed = u.Closed
	}
	stop()
}

func TestACallBeforeTheMasterRunsWaitsForItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("enough")
	cancel(reason)
	if err := master.New(master.Options{}).Cancel(ctx, "", ""); !errors.Is(err, reason) {
		t.Error(err)
	}
}

func TestAPanicIsLeftOutAndTheMasterGoesOn(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(2)
	g := h.has(1)[0]
	h.report(task.StartedEvent, g)
	s.becomes(id, core.Open, "1 queued, 1 running")
	err := s.master.Do(t.Context(), func(context.Context) error { panic("request") })
	if err == nil || !strings.Contains(err.Error(), "request") {
		t.Errorf("the call's error: %v", err)
	}
	h.end(task.Success, g)
	s.becomes(id, core.Open, "1 queued, 1 succeeded")
}

func TestAnEventThatPanicsIsLeftOut(t *testing.T) {
	t.Parallel()
	var on atomic.Bool
	on.Store(true)
	s := newSite(t, func(o *master.Options) {
		o.Log = slog.New(tripwire{o.Log.Handler(), &on, "events of an unknown sweep are dropped"})
	})
	h := s.newHand("w1", 1)
	id := s.submit(2)
	all := h.has(2)
	h.emit(h.event(task.StartedEvent, all[0]), h.event(task.StartedEvent, given{sweep: "none-1"}),
		h.event(task.ClaimedEvent, all[1]))
	s.becomes(id, core.Open, "1 claimed, 1 running")
	if !strings.Contains(s.log.String(), "fault in the master") {
		t.Errorf("nothing logged:\n%s", s.log)
	}
	h.end(task.Success, all[0])
	s.becomes(id, core.Open, "1 claimed, 1 succeeded")
}

// full is a store on a small disk of its own.
func full(t *testing.T) (folder string) {
	t.Helper()
	folder = t.TempDir()
	if out, err := exec.Command("mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs",
		folder).CombinedOutput(); err != nil {
		t.Skipf("NOT TESTED: a full disk needs the right to mount: %s", out)
	}
	t.Cleanup(func() {
		if out, err := exec.Command("umount", "-l", folder).CombinedOutput(); err != nil {
			t.Errorf("%s", out)
		}
	})
	return folder
}

func TestAFullDiskStopsTheMasterAndLosesNothing(t *testing.T) {
	t.Parallel()
	folder := full(t)
	s := &site{t: t, folder: folder}
	s.queue = memory.NewEncoding()
	s.start()
	h := s.newHand("w1", 1)
	id := s.submit(2000)
	g := h.has(1)[0]
	h.report(task.StartedEvent, g)
	s.becomes(id, core.Open, "1998 pending, 1 queued, 1 running")
	junk := filepath.Join(folder, "junk")
	fill(t, junk)
	var err error
	for n := 0; err == nil && n < 2000; n++ { // what SQLite has reserved is used up first
		err = s.master.CancelTask(t.Context(), task.ID{Sweep: id, Index: int64(1999 - n)}, "x")
	}
	if !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the caller got %v", err)
	}
	if again := s.master.Cancel(t.Context(), id, "x"); !errors.Is(again, master.ErrStopped) ||
		!errors.Is(again, syscall.ENOSPC) {
		t.Errorf("the next caller got %v", again)
	}
	before := s.counts(id)
	if err := s.end(); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("Run: %v", err)
	}
	s.must(os.Remove(junk))
	s.start()
	if got := s.counts(id); got != before {
		t.Errorf("%s; before %s", got, before)
	}
}

func TestASubmissionThatDoesNotFitLeavesTheMasterRunning(t *testing.T) {
	t.Parallel()
	s := &site{t: t, folder: full(t)}
	s.queue = memory.NewEncoding()
	s.start()
	h := s.newHand("w1", 1)
	id := s.submit(1)
	var sub master.Submission
	sub.Record = record(t, 1)
	sub.Record.Project = strings.Repeat("x", 3<<20)
	if _, err := s.master.Submit(t.Context(), sub); !errors.Is(err, syscall.ENOSPC) {
		t.Errorf("the caller got %v", err)
	}
	h.end(task.Success, h.has(1)[0])
	s.becomes(id, core.Finished, "1 succeeded")
	all, err := s.store.Sweeps(t.Context())
	if err != nil || len(all) != 1 {
		t.Errorf("%d sweeps, %v", len(all), err)
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 16; size > 0; size /= 2 {
		for err = nil; err == nil; {
			_, err = f.Write(make([]byte, size))
		}
	}
}
