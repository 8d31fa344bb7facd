package core

import "time"

// Numbers of the placement: see window and chunk.
const (
	prefetchWork  = 250 * time.Millisecond // work beyond the free slots that a worker has at hand
	batchWork     = 100 * time.Millisecond // work in one batch
	maxAssigned   = 4096                   // tasks that a worker has at most
	maxBatch      = 256                    // tasks in one batch
	suppliedShare = 0.5                    // part of its window that a worker must have to be supplied
	longTask      = 5 * time.Second        // tasks of which a slot may wait for the master: some 10 ms are nothing to them
	roundingUp    = 1e-9                   // what a sum of fractions may lack
)

// window is how many tasks of a kind a worker should have: one for each slot and 250 ms of work for
// each beyond that, so that no slot waits for the master. Of long ones nothing waits on a worker
// where others could begin it. Mean is the running time of one task; 0 is not known yet, and may be
// long.
func window(slots int, mean time.Duration, others bool) int {
	slots = max(0, min(slots, maxAssigned))
	switch {
	case others && (mean <= 0 || mean >= longTask):
		return slots
	case mean <= 0:
		return min(2*slots, maxAssigned)
	}
	return min(slots+int(int64(slots)*int64(prefetchWork)/int64(mean))+min(slots, 1), maxAssigned)
}

// batchSize is how many tasks travel together to a worker: 100 ms of work for it, so that long tasks
// travel alone and short ones cost little.
func batchSize(slots int, mean time.Duration) int {
	if mean <= 0 {
		return 1
	}
	return max(1, min(int(int64(batchWork)*int64(max(1, min(slots, maxAssigned)))/int64(mean)), maxBatch))
}

// room is how many tasks of a window still fit when a part of it is taken, which is a sum of
// fractions.
func room(window int, taken float64) int {
	return max(0, int((1-taken)*float64(window)+roundingUp))
}
