package worker

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// samplesEvery is how often an attempt that prints metrics without end sends them.
const samplesEvery = time.Second

// mostSamples is how many are sent at once, so that no event is too long for a queue, whatever a program prints.
const mostSamples = 2000

// collector gathers the metrics of one attempt and sends them a second after the first, many at once. It is safe for
// the two streams of the attempt.
type collector struct {
	series metric.Series
	files  *metricFiles // nil: the definition names none
	send   func(samples []metric.Sample, newest metric.Final)

	mu      sync.Mutex
	pending []metric.Sample
	timer   *time.Timer
}

// add returns what a scanner of one stream calls with what it finds.
func (c *collector) add(stream string) func(metric.Sample) {
	return func(s metric.Sample) {
		s.Stream = stream
		kept := c.series.Add(s)
		c.mu.Lock()
		defer c.mu.Unlock()
		if kept {
			if c.pending = append(c.pending, s); len(c.pending) >= mostSamples {
				c.tell(nil)
			}
		}
		if c.timer == nil {
			c.timer = time.AfterFunc(samplesEvery, c.report)
		}
	}
}

// goOn begins with the values that earlier attempts printed in the task's folder, and tells them
// soon: the program may print nothing.
func (c *collector) goOn(ctx context.Context, dir string) error {
	folder, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	earlier, err := earlierMetrics(ctx, folder, c.series.Rules)
	c.series.Continue(earlier)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.series.Final()) > 0 && c.timer == nil {
		c.timer = time.AfterFunc(samplesEvery, c.report)
	}
	return err
}

// final is the final values so far.
func (c *collector) final() metric.Final { return filesFirst(c.series.Final(), c.files.final()) }

// mostNewest is of how many metrics the values are told while an attempt runs.
const mostNewest = 200

// report sends what there is while the attempt runs.
func (c *collector) report() {
	newest := c.final()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil { // it has ended
		return
	}
	c.timer = nil
	c.tell(newest[:min(len(newest), mostNewest)])
}

// flush sends what there is at the end.
func (c *collector) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	c.tell(nil)
}

// tell sends what there is. The caller holds the lock.
func (c *collector) tell(newest metric.Final) {
	if len(c.pending)+len(newest) > 0 {
		c.send(c.pending, newest)
		c.pending = nil
	}
}

// collect makes the collector of an attempt.
func (w *Worker) collect(i item) *collector {
	return &collector{series: metric.Series{Rules: i.job.rules}, send: func(s []metric.Sample,
		newest metric.Final) {
		e := i.event(task.SamplesEvent, w.o.Name)
		e.Samples, e.Newest = s, metric.Stored(newest)
		w.outbox.put(e)
	}}
}
