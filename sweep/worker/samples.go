package worker

import (
	"sync"
	"time"

	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// samplesEvery is how often an attempt that prints metrics without end sends them.
const samplesEvery = time.Second

// mostSamples is how many are sent at once, so that no event is too long for a queue, whatever a program prints.
const mostSamples = 2000

// collector gathers the metrics of one attempt and sends them a second after the first, many at once. It is safe for
// the two streams of the attempt.
type collector struct {
	series result.Series
	files  *metricFiles // nil: the definition names none
	send   func([]result.Sample)

	mu      sync.Mutex
	pending []result.Sample
	timer   *time.Timer
}

// add returns what a scanner of one stream calls with what it finds.
func (c *collector) add(stream string) func(result.Sample) {
	return func(s result.Sample) {
		s.Stream = stream
		if !c.series.Add(s) {
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pending = append(c.pending, s); len(c.pending) >= mostSamples {
			c.tell()
			return
		}
		if c.timer == nil {
			c.timer = time.AfterFunc(samplesEvery, c.flush)
		}
	}
}

// final is the final values so far.
func (c *collector) final() result.Final { return filesFirst(c.series.Final(), c.files.final()) }

func (c *collector) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	c.tell()
}

// tell sends what there is. The caller holds the lock.
func (c *collector) tell() {
	if len(c.pending) > 0 {
		c.send(c.pending)
		c.pending = nil
	}
}

// collect makes the collector of an attempt.
func (w *Worker) collect(i item) *collector {
	return &collector{series: result.Series{Rules: i.job.rules}, send: func(s []result.Sample) {
		e := i.event(task.SamplesEvent, w.o.Name)
		e.Samples = s
		w.outbox.put(e)
	}}
}
