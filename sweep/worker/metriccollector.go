package worker

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// samplesEvery is how often an attempt that keeps printing metrics sends them.
const samplesEvery = time.Second

// maxSamples is how many samples are sent at once, so that no event is too large for a queue.
const maxSamples = 2000

// collector gathers the metrics of one attempt and sends them in batches, a second after the first.
// It is safe for the attempt's two streams to use concurrently.
type collector struct {
	series metric.Series
	rules  []metric.Rule
	// nil: the definition names none
	files *metricFiles
	send  func(samples []metric.Sample, newest metric.Final)
	// reports whether what is sent would wait
	waits func() bool

	mu      sync.Mutex
	pending []metric.Sample
	timer   *time.Timer
}

// add returns the callback for the scanner of a stream.
func (c *collector) add(stream string) func(metric.Sample) {
	return func(s metric.Sample) {
		s.Stream = stream
		kept := c.series.Add(s)
		c.mu.Lock()
		defer c.mu.Unlock()
		if kept {
			if c.pending = append(c.pending, s); len(c.pending) >= maxSamples {
				c.sendPending(nil)
			}
		}
		if c.timer == nil {
			c.timer = time.AfterFunc(samplesEvery, c.sendRunning)
		}
	}
}

// resume starts with the values that attempt since and later ones printed, and sends them soon,
// because the program may print nothing.
func (c *collector) resume(ctx context.Context, dir string, since int) error {
	folder, err := openFolder(dir)
	if err != nil {
		return err
	}
	defer unix.Close(folder)
	earlier, err := earlierMetrics(ctx, folder, c.series.Rules, since)
	c.series.Continue(earlier)
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.series.Final()) > 0 && c.timer == nil {
		c.timer = time.AfterFunc(samplesEvery, c.sendRunning)
	}
	return err
}

// final returns the final values so far.
func (c *collector) final() metric.Final {
	return metric.JoinFiles(c.series.Final(), c.files.final(), c.rules)
}

// maxNewest is for how many metrics the current value is sent while an attempt runs.
const maxNewest = 200

// sendRunning sends what was collected while the attempt runs. Current values are sent once they
// need not wait: otherwise more of them would wait with every second, and all but the last are
// outdated. The number of samples is limited anyway.
func (c *collector) sendRunning() {
	var newest metric.Final
	later := c.waits()
	if !later {
		newest = c.final()
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer == nil { // it has ended
		return
	}
	c.timer = nil
	if later {
		c.timer = time.AfterFunc(samplesEvery, c.sendRunning)
	}
	c.sendPending(newest[:min(len(newest), maxNewest)])
}

// flush sends the rest at the end.
func (c *collector) flush() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.timer != nil {
		c.timer.Stop()
		c.timer = nil
	}
	c.sendPending(nil)
}

// sendPending sends what was collected. The caller holds the lock.
func (c *collector) sendPending(newest metric.Final) {
	if len(c.pending)+len(newest) > 0 {
		c.send(c.pending, newest)
		c.pending = nil
	}
}

// newCollector returns the collector of an attempt.
func (w *Worker) newCollector(i item) *collector {
	send := func(samples []metric.Sample, newest metric.Final) {
		e := i.event(task.SamplesEvent, w.o.Name)
		e.Samples, e.Newest = samples, metric.Stored(newest)
		w.outbox.put(e)
	}
	return &collector{series: metric.Series{Rules: i.job.rules,
		Attempt: i.attempt.Number}, rules: i.job.recipe.Metrics,
		send:  send,
		waits: w.outbox.overflows}
}
