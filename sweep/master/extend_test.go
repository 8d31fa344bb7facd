package master_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

func spaceOf(t *testing.T, text string) *space.Space {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// upTo is the parameters of record(t, n).
func upTo(t *testing.T, n int) *space.Space {
	return spaceOf(t, fmt.Sprintf("i: !interval [0, %d]", n))
}

func TestAFinishedSweepIsExtended(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.newRunner("w1", 2, time.Millisecond)
	id := s.submit(3)
	s.becomes(id, core.Finished, "3 succeeded")
	before := s.task(id, 1)
	if err := s.master.Extend(t.Context(), id, api.Extension{Space: upTo(t, 3),
		Continuation: api.Continuation{Revision: "r2"}}); err != nil {
		t.Errorf("by nothing: %v", err)
	}
	if h := s.head(id); h.State != core.Finished || h.Ended.IsZero() {
		t.Errorf("it is %+v", h)
	}
	err := s.master.Extend(t.Context(), "", api.Extension{Space: upTo(t, 5)})
	if err != nil {
		t.Fatal(err)
	}
	s.becomes(id, core.Finished, "5 succeeded")
	s.again() // what it is stands on disk
	err = s.master.Extend(t.Context(), id, api.Extension{Space: spaceOf(t,
		"i: [0, 9]\nswitch: true"),
		Continuation: api.Continuation{Revision: "r2", Code: "c2"}})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, s.task(id, 1)); diff != "" {
		t.Errorf("a task that it had changed: %s", diff)
	}
	sw, err := s.store.Sweep(t.Context(), id)
	s.must(err)
	if sw.Head.Total != 7 || sw.Record.Recipe.Revision != "r2" || len(sw.Record.Extensions) != 2 {
		t.Errorf("%+v", sw)
	}
	if argv := sw.Record.Rows(id)(core.Task{Index: 6}).Argv; strings.Join(argv,
		" ") != "train.py --i=9 --switch" {
		t.Errorf("%v", argv)
	}
}

// What workers are handed of an extension is its points, in every state in which a sweep can be
// extended.
func TestAnExtensionIsHandedOut(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 1)
	id := s.submit(2)
	h.has(2)
	w, stop, err := s.master.Watch(t.Context(), id, api.DetailTasks)
	s.must(err)
	defer stop()
	err = s.master.Pause(t.Context(), id, "lunch", false)
	s.must(err)
	err = s.master.Extend(t.Context(), id, api.Extension{Space: spaceOf(t, "i: [1, x, y]")})
	if err != nil {
		t.Fatal(err)
	}
	for _, g := range h.has(2) {
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	for _, g := range h.has(4)[2:] {
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	s.becomes(id, core.Finished, "4 succeeded")
	var args []string
	for _, g := range h.has(4) {
		args = append(args, fmt.Sprint(g.Index, g.Args))
	}
	if diff := cmp.Diff([]string{"0 [--i=0]", "1 [--i=1]", "2 [--i=x]", "3 [--i=y]"},
		args); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	// Who watches is told of them as of any other.
	for seen := map[int64]string{}; ; {
		u, err := w.Next(t.Context())
		s.must(err)
		for _, r := range u.Rows {
			seen[r.Index] = r.Argv[1]
		}
		if u.Sweep.State == core.Finished {
			if u.Sweep.Total != 4 || seen[3] != "--i=y" {
				t.Errorf("%d tasks, %v", u.Sweep.Total, seen)
			}
			return
		}
	}
}

func TestSweepsThatAreNotExtended(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.newHand("w1", 1)
	s.stands("w1", core.WorkerReady)
	cancelled := s.submit(2)
	err := s.master.Cancel(t.Context(), cancelled, "enough")
	s.must(err)
	each := s.submit(1, func(sub *master.Submission) { sub.Record.EachWorker = true })
	huge := s.submit(2, func(sub *master.Submission) {
		sub.Record.Space = spaceOf(t,
			"i: !interval [0, 1000000, 2]")
	})
	for id, want := range map[string]string{
		cancelled: cancelled + " is cancelled, all of it or a part; `run-tasks retry " + cancelled +
			"` runs what was cancelled; then it can be extended",
		each: each +
			" is a sweep with a task for each worker, not for points; " +
			"submit it again for the workers that there are now",
		huge: huge +
			" is not to be extended: parameter i: its 1000000 values cannot be compared " +
			"one by one with those that it had, 100000 is the most; " +
			"submit what is new as a sweep of its own",
	} {
		err := s.master.Extend(t.Context(), id, api.Extension{Space: upTo(t, 1000000)})
		if wrong, ok := errors.AsType[*core.WrongState](err); !ok || wrong.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// Sweeps of the highest priority go first, in turn; the others get what they leave, and all of it
// when they pause.
func TestPriority(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 2)
	with := func(priority int) func(*master.Submission) {
		return func(sub *master.Submission) { sub.Record.Priority = priority }
	}
	low, first, second := s.submit(100, with(-1)), s.submit(100), s.submit(100)
	done := len(h.has(4)) // of the first, before the others were there
	for _, g := range h.has(4) {
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	next := func(n int) (sweeps []string) { // the oldest attempts end, one by one
		for range n {
			g := h.has(done + 1)[done]
			done++
			sweeps = append(sweeps, g.sweep)
			h.emit(h.event(task.StartedEvent, g),
				h.ending(g, &task.Outcome{Class: task.Success, Duration: 10 * time.Second}))
		}
		return sweeps
	}
	if got := next(8); slices.Contains(got, low) || !slices.Contains(got, first) ||
		!slices.Contains(got, second) {
		t.Errorf("of two equal ones and one below: %v", got)
	}
	err := s.master.Prioritize(t.Context(), second, 5)
	s.must(err)
	next(4) // what was at hand
	if got := next(6); slices.ContainsFunc(got, func(id string) bool { return id != second }) {
		t.Errorf("of the one that goes first: %v", got)
	}
	for _, id := range []string{first, second} {
		err = s.master.Pause(t.Context(), id, "lunch", false)
		s.must(err)
	}
	next(4)
	if got := next(6); slices.ContainsFunc(got, func(id string) bool { return id != low }) {
		t.Errorf("while the others are paused: %v", got)
	}
	sw, err := s.store.Sweep(t.Context(), second)
	s.must(err)
	if sw.Record.Priority != 5 {
		t.Errorf("on disk it is %d", sw.Record.Priority)
	}
	err = s.master.Cancel(t.Context(), first, "")
	s.must(err)
	if err := s.master.Prioritize(t.Context(), first, 9); err != nil { // it may run again
		t.Error(err)
	}
}

// A task that has to be alone empties no worker while sweeps of a higher priority have work for it.
func TestPriorityOfAnExclusiveTask(t *testing.T) {
	for _, priority := range []int{0, -1} {
		t.Run(fmt.Sprint(priority), func(t *testing.T) {
			timed(t, func(t *testing.T) {
				s := newSite(t)
				h := s.newHand("w1", 2)
				s.submit(1, func(sub *master.Submission) { sub.Record.Priority = priority })
				for n := range 2 { // it is lost twice
					g := h.has(n + 1)[n]
					h.report(task.StartedEvent, g)
					h.end(task.Loss, g)
				}
				s.submit(1000)
				all := h.has(6)[2:]
				h.report(task.StartedEvent, all[:2]...)
				h.beating(func() task.Heartbeat {
					b := says("1", 2, busy(all[0]), busy(all[1]))()
					b.Waiting = 2
					return b
				})
				time.Sleep(time.Minute)
				h.end(task.Success, all[:2]...)
				time.Sleep(time.Second)
				h.mu.Lock()
				defer h.mu.Unlock()
				if goesOn := len(h.got) > 6; goesOn != (priority < 0) {
					t.Errorf("with priority %d: the other sweep goes on: %t", priority, goesOn)
				}
			})
		})
	}
}
