package worker_test

import (
	"testing"
	"time"

	"mlframework/sweep/task"
)

// What could not begin as its definition names what is not there says nothing of the host: three
// faults of it in a row are three, whatever such tasks there are between them.
func TestUnstartedAttemptsDoNotHideUnfitHost(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	unfit, misfit := batch("true", 0), batch("true", 0)
	unfit.Sweep, unfit.Recipe.Revision = "unfit-1", "not-there"
	misfit.Recipe.Links = map[string]string{"data": "/nowhere/at/all"}
	for n, b := range []task.Batch{unfit, unfit, misfit, unfit} {
		b.Attempts = []task.Attempt{{Index: int64(n), Number: 1}}
		s.send(b)
		if o, host := s.ended(int64(n), 1), b.Sweep == unfit.Sweep; o.HostFault() != host {
			t.Fatalf("%d ended as %+v", n, o)
		}
	}
	beats := s.queue.Heartbeats(t.Context())
	late := time.After(limit)
	for {
		select {
		case h := <-beats:
			if h.Draining {
				return
			}
		case <-late:
			t.Fatal("it takes more")
		}
	}
}
