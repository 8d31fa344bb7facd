package store

import (
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// columnKind is how a column of tasks gets into memory and back.
type columnKind struct {
	field table.Fields
	name  string                                             // in SQL
	of    func(*core.Task) any                               // its value: int64, string, or nil
	set   func(*core.Task, *rowBuffer, int64, *sweepColumns) // puts a value into a task
}

var columnKinds = []columnKind{
	{table.FieldAttempts, "tries", func(t *core.Task) any { return int64(t.Attempts) },
		func(t *core.Task, _ *rowBuffer, n int64, _ *sweepColumns) { t.Attempts = int(n) }},
	{table.FieldRevision, "revision", func(t *core.Task) any { return t.Attempt.Revision },
		func(t *core.Task, _ *rowBuffer, n int64,
			c *sweepColumns) {
			t.Attempt.Revision = c.texts[n]
		}},
	{table.FieldHost, "host", ofStart(func(t *core.Task) any { return t.Attempt.Start.Host }),
		func(t *core.Task, _ *rowBuffer, n int64,
			c *sweepColumns) {
			startOf(t).Host = c.texts[n]
		}},
	{table.FieldSlot, "slot",
		ofStart(func(t *core.Task) any { return int64(t.Attempt.Start.Slot) }),
		func(t *core.Task, _ *rowBuffer, n int64, _ *sweepColumns) { startOf(t).Slot = int(n) }},
	{table.FieldStarted, "started", ofStart(func(t *core.Task) any {
		return t.Attempt.Started.UnixMicro()
	}),
		func(t *core.Task, _ *rowBuffer, n int64, _ *sweepColumns) {
			t.Attempt.Started = timeOf(
				n)
		}},
	{table.FieldDuration, "duration", ofEnd(func(o *task.Outcome) any {
		return o.Duration.Microseconds()
	}),
		func(t *core.Task, m *rowBuffer, n int64, _ *sweepColumns) {
			m.ended(t).Duration = time.Duration(n) * time.Microsecond
		}},
	{table.FieldExitCode, "exit_code", ofEnd(func(o *task.Outcome) any {
		if o.ExitCode == nil {
			return nil
		}
		return int64(*o.ExitCode)
	}), func(t *core.Task, m *rowBuffer, n int64, _ *sweepColumns) {
		m.code = int(n)
		m.ended(t).ExitCode = &m.code
	}},
	{table.FieldReason, "reason", ofEnd(func(o *task.Outcome) any { return o.Reason }),
		func(t *core.Task, m *rowBuffer, n int64, c *sweepColumns) {
			m.ended(t).Reason = c.texts[n]
		}},
}

var metricKind = columnKind{field: table.FieldMetrics, name: "metrics"}

func ofStart(get func(*core.Task) any) func(*core.Task) any {
	return func(t *core.Task) any {
		if t.Attempt.Started.IsZero() {
			return nil
		}
		return get(t)
	}
}

func ofEnd(get func(*task.Outcome) any) func(*core.Task) any {
	return func(t *core.Task) any {
		if t.Attempt.Outcome == nil {
			return nil
		}
		return get(t.Attempt.Outcome)
	}
}

// startOf returns the start of a task that has one, at a time that nobody asked for.
func startOf(t *core.Task) *task.Start {
	if t.Attempt.Started.IsZero() {
		t.Attempt.Started = time.UnixMicro(0)
	}
	return &t.Attempt.Start
}

func (m *rowBuffer) ended(t *core.Task) *task.Outcome {
	t.Attempt.Outcome = &m.outcome
	return &m.outcome
}
