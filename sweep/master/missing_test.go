package master_test

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// What workers tell and the store does not know is said until the sweep is submitted again, its tasks have run again, or
// nobody has spoken of it for an hour.
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
	h.report(task.ClaimedEvent, given{"train-1", task.Attempt{Index: 1, Number: 7}}) // of a retry that was lost
	missing("gone-1 false;train-1 true;")
	h.report(task.ClaimedEvent, all...)
	h.report(task.StartedEvent, all...)
	h.end(task.Success, all...)
	missing("gone-1 false;")
	later.Store(int64(time.Hour + time.Minute))
	missing("")
}
