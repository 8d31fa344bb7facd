package worker_test

import (
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// restart asks a process to end, so that another begins.
func restart(incarnation string, now bool) task.Control {
	return task.Control{Kind: task.RestartControl, Incarnation: incarnation, Now: now}
}

// hasEnded returns how a worker ended, and whether it did.
func (s *site) hasEnded() (again, over bool) {
	synctest.Wait()
	select {
	case why := <-s.over:
		return why == worker.Restart, true
	default:
		return false, false
	}
}

func TestGracefulRestart(t *testing.T) {
	var c count
	bubble(t, c.minute, func(t *testing.T, s *site) {
		beats := s.queue.Heartbeats(t.Context())
		born := (<-beats).Incarnation
		s.send(batch("", 0), batch("", 1))
		s.seen(task.StartedEvent, 0, 1)
		s.tell(restart("another", true))
		synctest.Wait()
		s.tell(restart(born, false))
		s.tell(task.Control{Kind: task.DrainControl, Off: true}) // it is too late for that
		s.seen(task.ReturnedEvent, 1, 1)
		s.send(batch("", 2))
		s.seen(task.ReturnedEvent, 2, 1)
		if _, over := s.hasEnded(); over || c.get() != 1 {
			t.Errorf("it did not finish what runs: over %t", over)
		}
		var h task.Heartbeat
		for !h.Leaving {
			h = <-beats
		}
		if !h.Draining || len(h.Running) != 1 {
			t.Errorf("%+v", h)
		}
		time.Sleep(time.Minute)
		if o := s.ended(0, 1); o.Class != task.Success {
			t.Errorf("%+v", o)
		}
		if again, over := s.hasEnded(); !over || !again {
			t.Errorf("over %t, again %t", over, again)
		}
	})
}

func TestImmediateRestart(t *testing.T) {
	for name, asked := range map[string][]bool{"at once": {true},
		"after it was to finish": {false, true, true}} {
		t.Run(name, func(t *testing.T) {
			var c count
			bubble(t, c.minute, func(t *testing.T, s *site) {
				born := (<-s.queue.Heartbeats(t.Context())).Incarnation
				s.send(batch("", 0))
				s.seen(task.StartedEvent, 0, 1)
				began := time.Now()
				for _, now := range asked {
					s.tell(restart(born, now))
				}
				if o := s.ended(0, 1); o.Class != task.Stopped || time.Since(began) > time.Second {
					t.Errorf("after %v: %+v", time.Since(began), o)
				}
				if again, over := s.hasEnded(); !over || !again {
					t.Errorf("over %t, again %t", over, again)
				}
			})
		})
	}
}

// An idle worker ends at once, with or without a wait, and the next process of its name is not
// meant any more.
func TestIdleRestart(t *testing.T) {
	for _, now := range []bool{true, false} {
		t.Run("", func(t *testing.T) {
			bubble(t, nil, func(t *testing.T, s *site) {
				born := (<-s.queue.Heartbeats(t.Context())).Incarnation
				s.tell(restart(born, now))
				if again, over := s.hasEnded(); !over || !again {
					t.Errorf("over %t, again %t", over, again)
				}
				s.stop()
				s.start(s.queue.Worker("w1"))
				s.tell(restart(born, now))
				if _, over := s.hasEnded(); over {
					t.Error("the next process ended, too")
				}
				s.stop()
				if why := <-s.over; why != worker.Stopped {
					t.Error("it was ended, and says that it is to be started again")
				}
			})
		})
	}
}
