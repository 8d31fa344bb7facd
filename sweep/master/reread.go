package master

import (
	"context"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Remeasured is the metrics of a task as they were read again from what its attempts left.
type Remeasured struct {
	Index int64 `json:"index"`
	task.Measured
}

// Reread gives a sweep other metrics and another objective, and tasks that have ended the values that were read by them. Others keep
// theirs; of a task that runs again nothing changes.
func (m *Master) Reread(ctx context.Context, id string, metrics []metric.Rule, o metric.Objective,
	all []Remeasured) (core.Head, error) {
	return m.alter(ctx, id, func(a *active) error {
		settings := a.stored.Record.Settings()
		settings.Metrics, settings.Objective = metrics, o
		if err := m.revise(ctx, a, Code{Settings: &settings}); err != nil {
			return err
		}
		for _, read := range all {
			if !a.has(read.Index) {
				return a.unknown(read.Index)
			}
			t, ok, err := m.task(ctx, a, read.Index)
			if err != nil {
				return err
			}
			if !ok || !t.State.Terminal() || t.Try.Outcome == nil {
				continue
			}
			end := *t.Try.Outcome
			end.Metrics, end.Stdout.Unread, end.Stderr.Unread,
				end.Unmeasured = metric.Final(read.Metrics), read.Stdout, read.Stderr,
				read.Unmeasured
			t.Try.Outcome = &end
			a.ledger.Measure(t)
		}
		return nil
	})
}
