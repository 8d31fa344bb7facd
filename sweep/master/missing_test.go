package master_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// What workers tell and the store does not know is said until the sweep is submitted again, its
// tasks have run again, or nobody has spoken of it for an hour.
func TestMissingIsResolved(t *testing.T) {
	t.Parallel()
	var later atomic.Int64
	s := newSite(t, func(o *master.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	})
	missing := func(want string) {
		t.Helper()
		names := func() (text string) {
			for _, m := range s.master.Missing() {
				text += fmt.Sprintf("%s %v;", m.Sweep, m.Known)
			}
			return text
		}
		s.poll("missing is "+want, func() bool { return names() == want }, names)
	}
	h := s.newHand("w1", 2)
	h.report(task.StartedEvent, given{sweep: "train-1", Attempt: task.Attempt{Number: 1}})
	h.report(task.StartedEvent, given{sweep: "gone-1", Attempt: task.Attempt{Number: 1}})
	missing("gone-1 false;train-1 false;")
	if id := s.submit(2); id != "train-1" {
		t.Fatal(id)
	}
	missing("gone-1 false;")
	all := h.has(2)
	// of a retry that was lost
	h.report(task.ClaimedEvent, given{"train-1", task.Attempt{Index: 1, Number: 7}})
	missing("gone-1 false;train-1 true;")
	h.report(task.ClaimedEvent, all...)
	h.report(task.StartedEvent, all...)
	h.end(task.Success, all...)
	missing("gone-1 false;")
	later.Store(int64(time.Hour + time.Minute))
	missing("")
}

// However much a worker tells of sweeps that are not there, or have ended, the sweeps that are
// there are not searched for one that may be meant.
func TestSweepsThatWorkersMakeUpAreNotSearchedFor(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newRunner("w1", 1, time.Millisecond)
	ended := s.submit(1)
	s.becomes(ended, core.Finished, "1 succeeded")
	var events []task.Event
	beat := task.Heartbeat{Slots: 1, Incarnation: "1"}
	for n := range 200 {
		g := given{sweep: fmt.Sprint("none-", n), Attempt: task.Attempt{Number: 1}}
		for _, g := range []given{g, g, {ended, task.Attempt{Number: 9}}} {
			events = append(events, h.event(task.StartedEvent, g))
			beat.Running = append(beat.Running, task.Busy{Sweep: g.sweep, Attempt: 1})
		}
	}
	h.emit(events...)
	h.beat(beat)
	s.newHand("w2", 1).processed()
	h.toldStop(given{"none-0", task.Attempt{Number: 1}}) // so the heartbeat was processed
	if n := s.spy.Searches(); n != 0 {
		t.Errorf("sweeps were searched %d times", n)
	}
	err := s.master.Cancel(t.Context(), "none-7", "") // of a person it is
	if unknown := new(store.UnknownSweep); !errors.As(err, &unknown) || s.spy.Searches() != 1 {
		t.Errorf("%v, after %d searches", err, s.spy.Searches())
	}
}
