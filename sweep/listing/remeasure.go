package listing

import (
	"context"
	"errors"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// MeasureFunc reads the metrics of a task from what its attempts left.
type MeasureFunc func(context.Context, task.ID, task.Measure) (task.Measured, error)

var errRunsAgain = errors.New("it runs again, or did meanwhile")

// Measure has the metrics of a task that has ended read by its rules. What is read is of the task's
// newest attempt, and of those that ran in the same folder before. Values that the files cannot
// have any more are those that the task has; see [task.Measured.KeepValues].
func (a *Archive) Measure(ctx context.Context, of store.Sweep, index int64, by task.Measure,
	read MeasureFunc) (m api.MeasuredTask, err error) {
	m.Index = index
	t, err := a.StoredTask(ctx, of, index)
	if err != nil {
		return m, err
	}
	m.Attempt, by.Since, by.Revision = t.Attempt.Number, t.Since, t.Attempt.Revision
	by.Exited = t.Attempt.Outcome != nil && t.Attempt.Outcome.Exited()
	by.Hide = len(of.Record.Recipe.Secrets) > 0
	id := task.ID{Sweep: of.Head.ID, Index: index}
	if m.Measured, err = read(ctx, id, by); err != nil {
		return m, err
	}
	now, err := a.StoredTask(ctx, of, index)
	if err == nil && (!now.State.Terminal() || now.Attempt.Number != t.Attempt.Number) {
		err = errRunsAgain
	}
	m.Kept, m.Gone = m.KeepValues(t.Attempt.Metrics(), of.Record.SameMetrics(by.Metrics, t.Attempt),
		func(name string) bool { return of.Record.RemovedMetric(name, by.Metrics) })
	return m, err
}
