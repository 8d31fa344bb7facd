package master_test

import (
	"context"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// An attempt ends and leaves processes on its host that ignore SIGTERM: the next attempt of its
// task begins nowhere before these are gone, or their worker is.
func TestTheNextAttemptWaitsForWhatTheLastOneLeft(t *testing.T) {
	for name, c := range map[string]struct {
		class   task.Class
		retries func(*site, string) // a person's way back, where no rule leads on
		ends    func(s *site, w1 *hand, beats func(left bool))
	}{
		"until they are gone": {task.Error, nil,
			func(_ *site, _ *hand, beats func(bool)) { beats(false) }},
		"a person's retry": {task.TimedOut, func(s *site, id string) {
			err := s.master.Retry(context.Background(), id, nil, false, api.Continuation{})
			s.must(err)
		}, func(_ *site, _ *hand, beats func(bool)) { beats(false) }},
		"until its worker is lost": {task.Error, nil,
			func(*site, *hand, func(bool)) { time.Sleep(2 * core.DefaultLease) }},
		"until its worker is begun anew": {task.Error, nil, func(_ *site, w1 *hand, _ func(bool)) {
			beat := task.Heartbeat{Version: task.Version, Worker: "w1", Incarnation: "2", Slots: 1,
				StartsReported: true}
			w1.emit(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: "w1",
				Time: time.Now(), Heartbeat: &beat})
		}},
		"until they are gone, by a clock that was set back": {task.Error, nil,
			func(_ *site, w1 *hand, _ func(bool)) {
				for range 10 {
					w1.beat(task.Heartbeat{Incarnation: "1", Slots: 1,
						Time: time.Now().Add(-time.Hour)})
					time.Sleep(2 * time.Second)
				}
			}},
		"a master that began anew": {task.Error, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				s := newSite(t)
				w1 := s.newHand("w1", 1)
				id := s.submit(1, func(sub *master.Submission) { sub.Record.Retry.Error = 1 })
				g := w1.has(1)[0]
				w1.report(task.ClaimedEvent, g)
				w1.report(task.StartedEvent, g)
				time.Sleep(time.Second)
				ended := w1.ending(g, &task.Outcome{Class: c.class, Duration: time.Second})
				ended.Leftovers = true
				w1.emit(ended)
				beats := func(left bool) {
					h := task.Heartbeat{Worker: "w1", Incarnation: "1", Slots: 1, Time: time.Now()}
					if left {
						h.Ending, h.Leftovers = 1, []task.Busy{busy(g)}
					}
					w1.beat(h)
				}
				waits := func() {
					t.Helper()
					if got := s.counts(id); got != "1 pending" {
						t.Errorf("the task is %s, on %s", got, s.task(id, 0).Attempt.Worker)
					}
				}
				time.Sleep(time.Second)
				beats(true)
				if c.ends == nil { // nobody tells the next master but heartbeats
					s.again()
					s.newHand("w2", 1)
					s.stands("w2", core.WorkerReady)
					time.Sleep(10 * time.Second)
					waits()
					beats(true)
					time.Sleep(10 * time.Second)
					waits()
					beats(false)
					time.Sleep(2 * time.Second)
					s.becomes(id, core.Open, "1 queued")
					return
				}
				w2 := s.newHand("w2", 1)
				stop := w2.beating(func() task.Heartbeat {
					return task.Heartbeat{Worker: "w2", Incarnation: "1", Slots: 1}
				})
				defer stop()
				if c.retries != nil {
					s.becomes(id, core.Finished, "1 timeout")
					c.retries(s, id)
				}
				for range 5 {
					time.Sleep(2 * time.Second)
					beats(true)
				}
				waits()
				c.ends(s, w1, beats)
				time.Sleep(2 * time.Second)
				s.becomes(id, core.Open, "1 queued")
			})
		})
	}
}
