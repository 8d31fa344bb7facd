package monitor_test

import (
	"strings"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// A sweep that finished with failures says so where its state stands, and one that no worker can
// run says that it waits, and for what.
func TestOutcomes(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	waiting := s.submit("i: 1\n")
	for _, path := range []string{"/sweeps", "/sweeps/" + waiting} {
		s.until(path+" says that it waits", func() bool {
			return strings.Contains(v.get(path).text, `state-waiting">waiting</span>`)
		})
		has(t, v.get(path), "waits for a worker: there are no workers")
	}
	s.hire("w1", "gpu1", 2, func(id string, a task.Attempt) *task.Outcome {
		if a.Index == 1 {
			return badly(id, a)
		}
		return well(id, a)
	})
	id := s.submit("i: !interval [0, 3]\n", func(r *core.Record) { r.KeepGoing = true })
	s.becomes(id, "succeeded", 2)
	for _, path := range []string{"/sweeps", "/sweeps/" + id} {
		s.until(path+" has the outcome", func() bool {
			return strings.Contains(v.get(path).text,
				`state-failed">finished, 1 failed</span>`)
		})
	}
}
