package core_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// run takes one placed task through an attempt that ends in class.
func (b *bed) run(index int64, class task.Class) {
	b.event(task.ClaimedEvent, index, nil)
	b.event(task.StartedEvent, index, nil)
	b.end(index, class)
}

// TestBackOff fails one task again and again: it waits 1, 2, 4 ... 60 seconds, and no more often
// than its rule allows.
func TestBackOff(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Error: 8}}, 1)
	now := at(0)
	var waits []time.Duration
	for b.store.head.Ended.IsZero() {
		if early := b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true},
			now.Add(-time.Nanosecond)); len(early) > 0 && len(waits) > 0 {
			t.Fatal("it was handed out before its time")
		}
		b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, now)
		b.run(0, task.Error)
		next := b.NextDue(at(1))
		if !next.IsZero() {
			waits, now = append(waits, next.Sub(at(1))), next
		}
	}
	s := time.Second
	if diff := cmp.Diff([]time.Duration{s, 2 * s, 4 * s, 8 * s, 16 * s, 32 * s, 60 * s, 60 * s},
		waits); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	row := b.store.rows[0]
	if row.State != task.Failed || row.Attempts != 9 || len(b.store.tries) != 8 {
		t.Errorf("%v after %d tries, %d kept beside it", row.State, row.Attempts,
			len(b.store.tries))
	}
}

// TestWaitingForSlot: a task whose time has come waits for a slot; no alarm is set for it, only for
// the next.
func TestWaitingForSlot(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Error: 2}}, 2)
	b.place(2, "w")
	b.run(0, task.Error)
	b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, at(2))
	b.run(0, task.Error) // waits until 3
	b.run(1, task.Error) // waits until 2
	for now, want := range map[float64]time.Time{1: at(2), 1.5: at(2), 2: at(3), 2.5: at(3), 3: {},
		9: {}} {
		if got := b.NextDue(at(now)); !got.Equal(want) {
			t.Errorf("at %v: the alarm is set for %v, want %v", now, got, want)
		}
	}
	b.Pause("wait", false)
	if got := b.NextDue(at(1)); !got.IsZero() {
		t.Errorf("an alarm at %v in a paused sweep", got)
	}
}

// TestClocksDiffer: a worker whose clock is an hour ahead delays no retry.
func TestClocksDiffer(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Lost: 1}}, 1)
	b.place(1, "w")
	b.Event(&task.Event{Kind: task.EndedEvent, Worker: "w", Attempt: 1, Time: at(3600),
		Outcome: &task.Outcome{Class: task.Loss}}, at(1))
	if got := b.NextDue(at(1)); !got.Equal(at(2)) {
		t.Errorf("it waits until %v", got)
	}
}

func TestMaxFailures(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{MaxFailures: 2, Retry: task.Retry{Timeout: 1}}, 9)
	b.place(5, "w")
	b.run(0, task.TimedOut) // forgiven: no failure
	b.run(1, task.Error)
	if b.store.head.State != core.Open {
		t.Fatal("paused too early")
	}
	b.run(2, task.OutOfMemory)
	if h := b.store.head; h.State != core.Paused ||
		h.Reason != "2 tasks failed, and max-failures is 2" {
		t.Fatalf("%s: %q", h.State, h.Reason)
	}
	if len(b.place(5, "w")) > 0 {
		t.Error("a paused sweep hands out tasks")
	}
	want := []core.Order{{Worker: "w", Control: task.Control{Version: task.Version,
		Kind: task.RecallControl, Sweep: "train-1",
		Reason: "2 tasks failed, and max-failures is 2"}}}
	b.event(task.ClaimedEvent, 3, nil) // it was on its way to the worker
	if diff := cmp.Diff(want, b.last.Controls); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	b.event(task.StartedEvent, 4, nil) // too late to be given back: it may finish
	if len(b.last.Controls) > 0 {
		t.Errorf("told %v", b.last.Controls)
	}
}

// TestMaxFailuresAfterResume: who lets a sweep go on has seen its failures; as many again pause it
// again.
func TestMaxFailuresAfterResume(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{MaxFailures: 2}, 9)
	b.place(9, "w")
	b.run(0, task.Error)
	b.run(1, task.Error)
	b.Resume(at(1))
	b.keep()
	b.run(2, task.Success)
	b.run(3, task.Error)
	if h := b.store.head; h.State != core.Open {
		t.Fatalf("%s after one more failure: %q", h.State, h.Reason)
	}
	b.run(4, task.Error)
	if h := b.store.head; h.State != core.Paused ||
		h.Reason != "2 more tasks failed, and max-failures is 2" {
		t.Errorf("%s: %q", h.State, h.Reason)
	}
}

// TestLastFailure: a sweep whose last task reaches max-failures has finished, there is nothing to
// resume.
func TestLastFailure(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{MaxFailures: 1}, 1)
	b.place(1, "w")
	b.run(0, task.Error)
	if h := b.store.head; h.State != core.Finished || h.Reason != "" || !h.Ended.Equal(at(1)) {
		t.Errorf("%+v", h)
	}
}

// TestFencing loses a worker and lets its late messages arrive while another one runs the task.
func TestFencing(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{Retry: task.Retry{Lost: 3}}, 1)
	b.place(1, "w")
	b.event(task.ClaimedEvent, 0, nil)
	b.event(task.StartedEvent, 0, nil)
	b.MarkLost("w", "away", core.Vanished, at(1))
	b.Place(core.Offer{Worker: "v", Tasks: 1, Empty: true}, at(9))
	b.keep()
	late := task.Event{Worker: "w", Attempt: 1, Time: at(10),
		Outcome: &task.Outcome{Class: task.Success, Duration: 7}}
	for _, late.Kind = range []task.EventKind{task.ClaimedEvent, task.StartedEvent} {
		b.Event(&late, at(10))
		want := []core.Order{{Worker: "w", Control: task.Control{Version: task.Version,
			Kind: task.StopControl, Sweep: "train-1", Attempt: 1, Reason: "superseded"}}}
		if diff := cmp.Diff(want, b.keep().Controls); diff != "" {
			t.Errorf("%s: -want +got:\n%s", late.Kind, diff)
		}
	}
	for range 2 {
		late.Kind = task.EndedEvent
		b.Event(&late, at(10))
		b.keep()
	}
	b.run(0, task.Success)
	want := map[tryKey]core.Attempt{
		{0, 1, false}: {Number: 1, Worker: "w", Started: at(1),
			Outcome: &task.Outcome{Class: task.Loss, Reason: "away"}},
		{0, 1, true}: {Number: 1, Worker: "w", Outcome: late.Outcome, Superseded: true},
	}
	if diff := cmp.Diff(want, b.store.tries); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if row := b.store.rows[0]; row.State != task.Succeeded || row.Attempt.Number != 2 ||
		row.Attempt.Worker != "v" {
		t.Errorf("%+v", row)
	}
}

// TestNumbers: a number is used again only where nothing can report it any more.
func TestNumbers(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		back func(*bed)
		next int
	}{
		"returned":    {func(b *bed) { b.event(task.ReturnedEvent, 0, nil) }, 2},
		"worker lost": {func(b *bed) { b.MarkLost("w", "away", core.Vanished, at(1)) }, 2},
		"killed":      {func(b *bed) { b.MarkLost("", "killed", core.Dead, at(1)) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{}, 1)
			b.place(1, "w")
			b.event(task.ClaimedEvent, 0, nil)
			test.back(b)
			if got := b.place(1, "w")[0].Attempt.Number; got != test.next {
				t.Errorf("the next attempt is %d, want %d", got, test.next)
			}
		})
	}
}

// TestUnchargedAttemptsAreBounded: a worker that stops whatever it gets, or claims it and knows
// nothing of it later, uses up the retries of a task in the end. What was asked to be stopped does
// not count.
func TestUnchargedAttemptsAreBounded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		fail func(*bed)
		want task.State
	}{
		"stopped": {func(b *bed) { b.run(0, task.Stopped) }, task.Lost},
		"not begun": {func(b *bed) {
			b.event(task.ClaimedEvent, 0, nil)
			b.MarkAttemptLost(0, b.store.rows[0].Attempt.Number, "unknown", core.Vanished, at(1))
			b.keep()
		}, task.Lost},
		"asked for": {func(b *bed) {
			b.event(task.StartedEvent, 0, nil)
			b.Pause("wait", true)
			b.end(0, task.Stopped)
			b.Resume(at(1))
			b.keep()
		}, task.Pending},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{Retry: task.Retry{Lost: 3}}, 1)
			attempts := 0
			for now := at(0); attempts < 100 && !b.store.rows[0].State.Terminal(); attempts++ {
				if next := b.NextDue(now); !next.IsZero() {
					now = next
				}
				b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, now)
				c.fail(b)
			}
			row := b.store.rows[0]
			if row.State != c.want || c.want == task.Lost && attempts != core.MostUncharged+4 {
				t.Errorf("it is %v after %d attempts, %+v", row.State, attempts, row.Charged)
			}
			if o := row.Attempt.Outcome; c.want == task.Lost && (o == nil || o.Class != task.Loss) {
				t.Errorf("its outcome is %+v", o)
			} else if name == "stopped" && !strings.HasPrefix(o.Reason,
				"its worker w stopped it, which nobody had asked for") {
				t.Errorf("its reason is %q", o.Reason)
			}
			if err := b.store.check(b.Ledger); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRetryMakesChargesUncharged: attempts that were charged before a person's retry count as
// uncharged after it, so that the next one that its worker stops unasked is charged.
func TestRetryMakesChargesUncharged(t *testing.T) {
	t.Parallel()
	for retried, want := range map[bool]task.Retry{
		false: {Error: core.MostUncharged}, true: {Lost: 1},
	} {
		b := newBed(core.Record{Retry: task.Retry{Error: core.MostUncharged, Lost: 3}}, 1)
		now := at(0)
		run := func(class task.Class) {
			if next := b.NextDue(now); !next.IsZero() {
				now = next
			}
			b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, now)
			b.run(0, class)
		}
		for range core.MostUncharged {
			run(task.Error)
		}
		if retried {
			run(task.Error)
			b.Reopen([]core.Task{b.store.rows[0]}, false, false)
			b.keep()
		}
		run(task.Stopped)
		row := b.store.rows[0]
		if diff := cmp.Diff(want, row.Charged); diff != "" || row.State != task.Pending {
			t.Errorf("retried %t: it is %v, charged (-want +got):\n%s", retried, row.State, diff)
		}
	}
}

// TestValuesCountSince: values of attempts up to one that failed with another revision do not count
// for later ones. Values of interrupted attempts count.
func TestValuesCountSince(t *testing.T) {
	t.Parallel()
	type end struct {
		revision string
		class    task.Class
	}
	for name, c := range map[string]struct {
		ends []end
		want int // for an attempt that runs revision b
	}{
		"failed":                  {[]end{{"a", task.Error}}, 2},
		"out of memory":           {[]end{{"a", task.OutOfMemory}}, 2},
		"with the same files":     {[]end{{"b", task.Error}}, 0},
		"interrupted":             {[]end{{"a", task.Stopped}}, 0},
		"out of time":             {[]end{{"a", task.TimedOut}}, 0},
		"lost":                    {[]end{{"a", task.Loss}}, 0},
		"interrupted, and failed": {[]end{{"a", task.Stopped}, {"a", task.Error}}, 3},
		"failed, and interrupted": {[]end{{"a", task.Error}, {"b", task.Stopped}}, 2},
		"failed twice":            {[]end{{"a", task.Error}, {"b", task.Error}}, 2},
		"failed, then interrupted with the same files": {
			[]end{{"a", task.Error}, {"a", task.Stopped}}, 3},
		"failed, then lost with the same files": {[]end{{"a", task.Error}, {"a", task.Loss}}, 3},
		"failed, interrupted, and failed with the new files": {
			[]end{{"a", task.Error}, {"a", task.Stopped}, {"b", task.Error}}, 3},
	} {
		b := newBed(core.Record{Recipe: task.Recipe{Revision: "b"}}, 1)
		place := func(revision string) core.Task {
			b.store.record.Recipe.Revision = revision
			b.Revise(b.store.record)
			return b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true}, at(0))[0]
		}
		for _, e := range c.ends {
			place(e.revision)
			b.run(0, e.class)
			b.Reopen([]core.Task{b.store.rows[0]}, false, false)
			b.keep()
		}
		if got := place("b").Since; got != c.want {
			t.Errorf("%s: since %d, want %d", name, got, c.want)
		}
	}
}
