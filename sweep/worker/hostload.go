package worker

import (
	"context"
	"sync/atomic"
	"time"

	"mlframework/sweep/task"
)

// loadMeter measures the load of the host. It runs apart from the heartbeats, which must continue
// when a disk hangs.
type loadMeter struct {
	outputs string
	before  cpuTimes
	now     atomic.Pointer[task.Load]
}

func (m *loadMeter) init(outputs string) { m.outputs = outputs }

// load returns the latest measurement, nil if there is none. The caller must not change it.
func (m *loadMeter) load() *task.Load { return m.now.Load() }

// run measures until ctx ends.
func (m *loadMeter) run(ctx context.Context) {
	ticker := time.NewTicker(heartbeatInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			m.sample()
		case <-ctx.Done():
			return
		}
	}
}

// cpuTimes are the CPU times of a host since boot, in clock ticks.
type cpuTimes struct{ busy, all uint64 }

// share returns the busy share of the time since before, from 0 to 1.
func (t cpuTimes) share(before cpuTimes) float64 {
	if before.all == 0 || t.all <= before.all || t.busy < before.busy {
		return 0
	}
	return min(1, float64(t.busy-before.busy)/float64(t.all-before.all))
}
