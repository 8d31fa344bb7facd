package worker_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
)

// A worker gives back what a master of another version sends it, says why, and goes on with what
// runs, until it is told to stop that.
func TestABatchOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	for name, version := range map[string]int{"newer": task.Version + 1, "older": task.Version - 1} {
		t.Run(name, func(t *testing.T) { refusesBatches(t, version) })
	}
}

func refusesBatches(t *testing.T, version int) {
	t.Parallel()
	s := newSite(t, project)
	ctx, stop := context.WithTimeout(t.Context(), limit)
	defer stop()
	beats := s.queue.Heartbeats(ctx)
	until := func(what string, is func(task.Heartbeat) bool) {
		t.Helper()
		for h := range beats {
			if is(h) {
				return
			}
		}
		t.Fatalf("no heartbeat says: %s", what)
	}
	script := "until test -e go; do sleep 0.01; done"
	s.send(batch(script, 0))
	s.seen(task.StartedEvent, 0, 1)
	s.send(batch(script, 1)) // it waits for the slot
	other := batch(script, 0, 2, 3)
	other.Version = version
	s.send(other, other)
	why := task.Mismatch(task.Version, version)
	until(why, func(h task.Heartbeat) bool {
		return h.Refuses == why && h.Draining && len(h.Running) == 1 && h.Version == task.Version
	})
	// it cannot know what that means
	s.tell(task.Control{Version: version, Kind: task.DrainControl, Off: true})
	s.until("the second is refused, too", func(all []task.Event) bool { return len(all) == 10 })
	if diff := cmp.Diff([]string{"claimed 0/1", "started 0/1", "claimed 1/1", "returned 1/1",
		"started 0/1", "returned 2/1", "returned 3/1",
		"started 0/1", "returned 2/1", "returned 3/1"}, kinds(s.soFar())); diff != "" {
		t.Error(diff)
	}
	s.must(touch(s.path(0, "go")))
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Errorf("what ran ended as %+v", o)
	}
	s.tell(task.Control{Kind: task.DrainControl, Off: true}) // by a master that is read
	until("it takes tasks", func(h task.Heartbeat) bool { return h.Refuses == "" && !h.Draining })
	s.send(batch(script, 4))
	s.seen(task.StartedEvent, 4, 1)
	s.tell(task.Control{Version: version, Kind: task.StopControl, Sweep: "train-1", Index: 4,
		Attempt: 1})
	if o := s.ended(4, 1); o.Class != task.Stopped {
		t.Errorf("what was to be stopped ended as %+v", o)
	}
}
