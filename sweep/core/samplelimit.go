package core

import (
	"log/slog"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// maxSamples bounds the samples that are kept of one attempt: several times what a worker sends of
// one, whose metric.Series thins them. A sample counts as there, once more for so many bytes.
const (
	maxSamples = 32 * metric.MaxSamples
	sampleUnit = 40
)

// sampled is how much was kept of an attempt's samples since the core was loaded.
type sampled struct {
	attempt int
	kept    int64
	refused bool // and logged
}

// boundSamples returns an event without its samples if its attempt has as many as one may have.
func (c *Core) boundSamples(l *Ledger, w *worker, e *task.Event) *task.Event {
	if e.Kind != task.SamplesEvent || len(e.Samples) == 0 || !l.IsCurrent(e) {
		return e
	}
	s := l.sampled[e.Index]
	if s.attempt != e.Attempt {
		s = sampled{attempt: e.Attempt}
	}
	var size int64
	for i := range e.Samples {
		size += 1 + int64(len(e.Samples[i].Name)+len(e.Samples[i].Stream))/sampleUnit
	}
	if s.kept+size <= maxSamples {
		s.kept += size
	} else {
		if !s.refused {
			c.logOf(w, slog.LevelWarn, "an attempt has too many samples; more are not kept",
				"worker", e.Worker, "task", e.ID(), "attempt", e.Attempt)
		}
		s.refused = true
		without := *e
		without.Samples = nil
		e = &without
	}
	l.sampled[e.Index] = s
	return e
}
