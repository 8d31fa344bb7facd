package worker_test

import (
	"log/slog"
	"testing"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// What a living worker runs is no orphan, whoever says so: where no lock can be had, a second
// worker of the same name and folder must not end it.
func TestProcessesOfLiveWorkerAreNotOrphans(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch("touch began; while [ ! -e go ]; do sleep 0.02; done", 0))
	s.appears(s.path(0, "began"))
	s.must(worker.EndOrphans(t.Context(), s.options.Name, s.outputs, "",
		slog.New(slog.DiscardHandler)))
	s.must(touch(s.path(0, "go")))
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Errorf("it ended as %s: %s", o.Class, o.Reason)
	}
}
