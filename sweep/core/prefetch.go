package core

import "time"

// Numbers of the prefetch: see prefetchTarget and batchSize.
const (
	prefetchWork = 250 * time.Millisecond // work beyond the free slots that a worker has at hand
	batchWork    = 100 * time.Millisecond // work in one batch
	maxAssigned  = 4096                   // tasks that a worker has at most
	maxBatch     = 256                    // tasks in one batch
	// suppliedShare is the part of its prefetch that a worker must have to be supplied.
	suppliedShare = 0.5
	// longTask is from when on a slot may wait some 10 ms for the master: a task takes so long that
	// they do not count.
	longTask   = 5 * time.Second
	roundingUp = 1e-9 // what a sum of fractions may lack
)

// prefetchTarget returns how many tasks of one sweep a worker with no others should have: one for
// each of the slots and 250 ms of work for each beyond that, so that no slot waits for the master.
// Long tasks do not wait on a worker if others could start them. Mean is the running time of one
// task; 0 is not known yet, and may be long.
func prefetchTarget(slots int, mean time.Duration, others bool) int {
	slots = max(0, min(slots, maxAssigned))
	switch {
	case others && (mean <= 0 || mean >= longTask):
		return slots
	case mean <= 0:
		return min(2*slots, maxAssigned)
	}
	return min(slots+int(int64(slots)*int64(prefetchWork)/int64(mean))+min(slots, 1), maxAssigned)
}

// batchSize returns how many tasks travel together to a worker: 100 ms of work for it, so that long
// tasks travel alone and short ones cost little.
func batchSize(slots int, mean time.Duration) int {
	if mean <= 0 {
		return 1
	}
	slots = max(1, min(slots, maxAssigned))
	return max(1, min(int(int64(batchWork)*int64(slots)/int64(mean)), maxBatch))
}

// remaining returns how many more tasks a worker gets if used, a sum of fractions, is the part of
// its target that it has.
func remaining(target int, used float64) int {
	return max(0, int((1-used)*float64(target)+roundingUp))
}
