package worker

import (
	"context"
	"sync/atomic"
	"time"

	"mlframework/sweep/task"
)

// meter measures how busy the host is. It does so beside the heartbeats: they go on where a disk hangs.
type meter struct {
	outputs string
	before  cpuTime
	now     atomic.Pointer[task.Load]
}

func (m *meter) init(outputs string) { m.outputs = outputs }

// load is what was measured last; nil where nothing can be. Who gets it must not change it.
func (m *meter) load() *task.Load { return m.now.Load() }

// run measures until ctx ends.
func (m *meter) run(ctx context.Context) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.measure()
		case <-ctx.Done():
			return
		}
	}
}

// cpuTime is what the processors of a host did since it started, in ticks of its clock.
type cpuTime struct{ busy, all uint64 }

// share is the part of the time since before that was busy, 0 to 1.
func (t cpuTime) share(before cpuTime) float64 {
	if before.all == 0 || t.all <= before.all || t.busy < before.busy {
		return 0
	}
	return min(1, float64(t.busy-before.busy)/float64(t.all-before.all))
}
