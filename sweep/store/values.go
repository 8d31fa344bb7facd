package store

import (
	"database/sql/driver"
	"encoding/json"
	"math"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// values are what a statement is run with, in the order of its columns. Only what the driver knows
// is put into them: int64, float64, bool, string and nil.
type values []driver.NamedValue

func (v values) add(more ...any) values {
	for _, value := range more {
		v = append(v, driver.NamedValue{Ordinal: len(v) + 1, Value: value})
	}
	return v
}

// head adds what putHead sets.
func (v values) head(h core.Head) values {
	return v.add(string(h.State), h.Reason, h.Stopping, h.IgnoredFailures, micros(h.Ended),
		h.Issued,
		h.UnissuedCancelled, text(h.Rows), h.Total, h.Ran.Microseconds(), h.Bytes)
}

// row adds the columns of a task's row from state on.
func (v values) row(r *core.Record, t core.Task) values {
	var charged, failed any
	if t.Charged != (task.Retry{}) {
		charged = text(t.Charged)
	}
	if t.Failed != "" {
		failed = t.Failed
	}
	v = v.add(int64(t.State), t.Cancelling, charged, micros(t.NotBefore), orNull(int(t.Lapsed)),
		int64(t.Attempts), orNull(t.Since), failed, orNull(t.Fresh),
		objective(r.Objective, t), orNull(t.Bytes))
	return v.attempt(t.Attempt)
}

// start adds the columns of an attempt's start.
func (v values) start(t core.Attempt) values {
	var host, slot, gpus, resumed any
	if !t.Started.IsZero() {
		host, slot, resumed = t.Start.Host, int64(t.Start.Slot), t.Start.Resumed
	}
	if len(t.Devices) > 0 {
		gpus = text(t.Devices)
	}
	return v.add(host, slot, gpus, resumed, micros(t.Started))
}

// startUpdate adds the arguments of updateStart.
func (v values) startUpdate(t core.Attempt) values {
	return v.add(int64(t.Number), t.Worker).start(t).add(core.StartUnknown, core.NotStarted)
}

// attempt adds attemptColumns. A column of which nothing is known is NULL.
func (v values) attempt(t core.Attempt) values {
	var duration, class, code, reason, metrics, output any
	if o := t.Outcome; o != nil {
		duration, class, reason = o.Duration.Microseconds(), string(o.Class), o.Reason
		if o.ExitCode != nil {
			code = int64(*o.ExitCode)
		}
		if out := (outputs{o.Stdout, o.Stderr, o.Unmeasured, o.Thinned, o.Frame}); !out.isZero() {
			output = text(out)
		}
	}
	if all := t.Metrics(); len(all) > 0 {
		metrics = string(all.AppendStored(nil))
	}
	return v.add(int64(t.Number), t.Revision, t.Worker).start(t).add(duration, class, code, reason,
		metrics, output)
}

// objective returns the value that a task is ranked by; nil unless it succeeded and has one.
func objective(o metric.Objective, t core.Task) any {
	if t.Attempt.Outcome == nil || !o.Ranks(t.State.String()) {
		return nil
	}
	if v, ok := t.Attempt.Outcome.Metrics.Get(o.Metric); ok && !math.IsNaN(v) {
		return v
	}
	return nil
}

// outputs is the form of the column output.
type outputs struct {
	Stdout     task.Output     `json:"stdout"`
	Stderr     task.Output     `json:"stderr"`
	Unmeasured []string        `json:"unmeasured,omitempty"`
	Thinned    *metric.Thinned `json:"thinned,omitempty"`
	Frame      string          `json:"frame,omitempty"`
}

func (o outputs) isZero() bool {
	return isEmptyOutput(o.Stdout) && isEmptyOutput(o.Stderr) && len(o.Unmeasured) == 0 &&
		o.Thinned == nil && o.Frame == ""
}

func isEmptyOutput(o task.Output) bool {
	return o.Bytes == 0 && !o.Truncated && o.Error == "" && len(o.Unread) == 0
}

func text(v any) string {
	b, _ := json.Marshal(v) // of structs of text and numbers: it cannot fail
	return string(b)
}

// orNull returns NULL for 0.
func orNull[N int | int64](n N) any {
	if n == 0 {
		return nil
	}
	return int64(n)
}

// micros returns a time's form in the store; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}
