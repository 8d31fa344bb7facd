package store

import (
	"context"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Scan calls each with the tasks that a query chooses, until it returns false. The task and what it
// points to are used again for the next one. It talks to the driver, because what database/sql does
// for each value costs more than the value.
//
// Each asks the store nothing: columns that many questions look at are kept in memory, and one
// question reads them at a time.
func (r *Reader) Scan(ctx context.Context, s Sweep, q TaskQuery, each func(*core.Task) bool) error {
	if r.columns != nil {
		if requested, ok := q.cacheable(); ok && r.columns.fits(s, len(requested)) {
			return r.scanCached(ctx, s, q, requested, each)
		}
	}
	return r.read(ctx, s, q, each)
}

// read is Scan from the store itself.
func (r *Reader) read(ctx context.Context, s Sweep, q TaskQuery, each func(*core.Task) bool) error {
	var t core.Task
	var at rowBuffer
	text, args := q.sql(s.Seq)
	return r.scan(ctx, text, args, func(d decoder, row []driver.Value) (bool, error) {
		t, at = core.Task{}, rowBuffer{metrics: at.metrics}
		err := d.decode(row, &t, &at)
		return err == nil && each(&t), s.damagedTask(t.Index, err)
	})
}

// scan calls each with the rows of a query until it returns false.
func (r *Reader) scan(ctx context.Context, text string, args []any,
	each func(decoder, []driver.Value) (bool, error)) error {
	conn, err := r.db.Conn(ctx)
	if err != nil {
		return readable(err)
	}
	err = conn.Raw(func(c any) error {
		rows, err := c.(driver.QueryerContext).QueryContext(ctx, text, values{}.add(args...))
		if err != nil {
			return err
		}
		return errors.Join(scanRows(ctx, rows, each), rows.Close())
	})
	return readable(errors.Join(err, conn.Close()))
}

// cancelEvery is after how many rows a scan sees whether it is wanted still.
const cancelEvery = 256

func scanRows(ctx context.Context, rows driver.Rows,
	each func(decoder, []driver.Value) (bool, error)) error {
	d, err := newDecoder(rows.Columns())
	if err != nil {
		return err
	}
	row := make([]driver.Value, len(d))
	for n := 1; ; n++ {
		if n%cancelEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := rows.Next(row); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if more, err := each(d, row); err != nil || !more {
			return err
		}
	}
}

// columns returns those that a query reads; fields of results are in columns of their own.
func (q TaskQuery) columns() string {
	if q.Fields == 0 {
		return taskColumns
	}
	columns := "idx, state"
	for _, c := range []struct {
		of    table.Fields
		names string
	}{
		{table.FieldAttempts, "tries"},
		{table.FieldRevision, "revision"},
		{table.FieldHost | table.FieldArgv, "host"},
		{table.FieldSlot | table.FieldArgv, "slot"},
		{table.FieldGPUs, "gpus"},
		{table.FieldStarted | table.FieldHost | table.FieldSlot | table.FieldGPUs | table.FieldArgv,
			"started"},
		{ofOutcome, "class IS NOT NULL AS ended"},
		{table.FieldClass, "class"},
		{table.FieldDuration, "duration"},
		{table.FieldExitCode, "exit_code"},
		{table.FieldReason, "reason"},
		{table.FieldMetrics | table.FieldSteps, "metrics"},
	} {
		if q.Fields.Has(c.of) {
			columns += ", " + c.names
		}
	}
	if q.Frames {
		columns += ", output ->> '$.frame' AS frame"
	}
	return columns
}

const ofOutcome = table.FieldDuration | table.FieldExitCode | table.FieldReason |
	table.FieldMetrics | table.FieldSteps

// rowBuffer is what a task points to.
type rowBuffer struct {
	outcome task.Outcome
	code    int
	metrics metric.Final
}

// decoder has for each column of a query what puts its value into a task; what is NULL is left out.
type decoder []func(t *core.Task, m *rowBuffer, value driver.Value) error

func newDecoder(columns []string) (d decoder, err error) {
	for _, name := range columns {
		f, known := decoders[name]
		if !known {
			return nil, fmt.Errorf("nothing reads the column %s", name)
		}
		d = append(d, f)
	}
	return d, nil
}

func (d decoder) decode(row []driver.Value, t *core.Task, m *rowBuffer) error {
	for i, v := range row {
		if v == nil {
			continue
		}
		if err := d[i](t, m, v); err != nil {
			return err
		}
	}
	return nil
}

// decoders are by the names of columns in tasks and in attempts.
var decoders = map[string]func(*core.Task, *rowBuffer, driver.Value) error{
	"idx":   intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Index = n }),
	"state": stateDecoder(func(t *core.Task, s task.State) { t.State = s }),
	"place": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { // both in one
		t.Index, t.State = n>>stateBits, task.State(n&(1<<stateBits-1))
	}),
	"cancelling": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Cancelling = n != 0 }),
	"charged":    jsonDecoder(func(t *core.Task, _ *rowBuffer) any { return &t.Charged }),
	"not_before": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.NotBefore = timeOf(n) }),
	"lapsed":     stateDecoder(func(t *core.Task, s task.State) { t.Lapsed = s }),
	"tries":      intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Attempts = int(n) }),
	"since":      intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Since = int(n) }),
	"failed":     textDecoder(func(t *core.Task, _ *rowBuffer, s string) { t.Failed = s }),
	"fresh":      intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Fresh = int(n) }),
	"bytes":      intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Bytes = n }),
	"superseded": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) {
		t.Attempt.Superseded = n != 0
	}),
	"attempt":  intDecoder(func(t *core.Task, _ *rowBuffer, n int64) { t.Attempt.Number = int(n) }),
	"revision": textDecoder(func(t *core.Task, _ *rowBuffer, s string) { t.Attempt.Revision = s }),
	"worker":   textDecoder(func(t *core.Task, _ *rowBuffer, s string) { t.Attempt.Worker = s }),
	"host": textDecoder(func(t *core.Task, _ *rowBuffer,
		s string) {
		t.Attempt.Start.Host = s
	}),
	"slot": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) {
		t.Attempt.Start.Slot = int(n)
	}),
	"gpus": jsonDecoder(func(t *core.Task, _ *rowBuffer) any { return &t.Attempt.Devices }),
	"resumed": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) {
		t.Attempt.Start.Resumed = n != 0
	}),
	"started": intDecoder(func(t *core.Task, _ *rowBuffer, n int64) {
		t.Attempt.Started = timeOf(n)
	}),
	"duration": intDecoder(func(_ *core.Task, m *rowBuffer, n int64) {
		m.outcome.Duration = time.Duration(n) * time.Microsecond
	}),
	"class": textDecoder(func(t *core.Task, m *rowBuffer, s string) {
		m.outcome.Class = task.Class(s)
		t.Attempt.Outcome = &m.outcome
	}),
	"ended": intDecoder(func(t *core.Task, m *rowBuffer, n int64) { // instead of the class
		if n != 0 {
			t.Attempt.Outcome = &m.outcome
		}
	}),
	"exit_code": intDecoder(func(_ *core.Task, m *rowBuffer, n int64) {
		m.code = int(n)
		m.outcome.ExitCode = &m.code
	}),
	"reason": textDecoder(func(_ *core.Task, m *rowBuffer, s string) { m.outcome.Reason = s }),
	"frame":  textDecoder(func(_ *core.Task, m *rowBuffer, s string) { m.outcome.Frame = s }),
	"metrics": func(t *core.Task, m *rowBuffer, v driver.Value) (err error) {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("%v is not a text with metrics", v)
		}
		m.metrics, err = metric.AppendFinal(m.metrics[:0], text)
		m.outcome.Metrics = m.metrics
		if t.Attempt.Outcome == nil { // how it ended stands before
			t.Attempt.Newest = m.metrics
		}
		return err
	},
	"output": func(_ *core.Task, m *rowBuffer, v driver.Value) error {
		var out outputs
		err := decodeJSON(v, &out)
		m.outcome.Stdout, m.outcome.Stderr, m.outcome.Unmeasured = out.Stdout, out.Stderr,
			out.Unmeasured
		m.outcome.Thinned, m.outcome.Frame = out.Thinned, out.Frame
		return err
	},
}

func stateDecoder(set func(*core.Task, task.State)) func(*core.Task, *rowBuffer,
	driver.Value) error {
	return func(t *core.Task, _ *rowBuffer, v driver.Value) error {
		n, ok := v.(int64)
		if !ok || n < 0 || n >= int64(len(task.States)) {
			return fmt.Errorf("%v is not a state", v)
		}
		set(t, task.State(n))
		return nil
	}
}

func intDecoder(set func(*core.Task, *rowBuffer, int64)) func(*core.Task, *rowBuffer,
	driver.Value) error {
	return func(t *core.Task, m *rowBuffer, v driver.Value) error {
		n, ok := v.(int64)
		if !ok {
			return fmt.Errorf("%v is not an integer", v)
		}
		set(t, m, n)
		return nil
	}
}

func textDecoder(set func(*core.Task, *rowBuffer, string)) func(*core.Task, *rowBuffer,
	driver.Value) error {
	return func(t *core.Task, m *rowBuffer, v driver.Value) error {
		text, ok := v.(string)
		if !ok {
			return fmt.Errorf("%v is not a text", v)
		}
		set(t, m, text)
		return nil
	}
}

func jsonDecoder(in func(*core.Task, *rowBuffer) any) func(*core.Task, *rowBuffer,
	driver.Value) error {
	return func(t *core.Task, m *rowBuffer, v driver.Value) error { return decodeJSON(v, in(t, m)) }
}

func decodeJSON(v driver.Value, into any) error {
	text, ok := v.(string)
	if !ok {
		return fmt.Errorf("%v is not JSON", v)
	}
	return json.Unmarshal([]byte(text), into)
}

func timeOf(micros int64) time.Time { return time.UnixMicro(micros).UTC() }
