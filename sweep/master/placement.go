package master

import "time"

// Numbers of the placement: see window and chunk.
const (
	ahead     = 200 * time.Millisecond // work beyond the free slots that a worker has at hand
	message   = 100 * time.Millisecond // work in one batch
	mostAhead = 4096                   // tasks that a worker has at most
	mostTold  = 256                    // tasks in one batch
)

// window is how many tasks of a kind a worker should have: one for each slot and 200 ms of work for each beyond that,
// so that no slot waits for the master, and no worker hoards. Mean is the running time of one task; 0 is not known yet.
func window(slots int, mean time.Duration) int {
	if mean <= 0 {
		return 2 * slots
	}
	return min(slots+int(int64(slots)*int64(ahead)/int64(mean))+1, mostAhead)
}

// chunk is how many tasks travel together: 100 ms of work, so that long tasks travel alone and short ones cost little.
func chunk(mean time.Duration) int {
	if mean <= 0 {
		return 1
	}
	return max(1, min(int(message/mean), mostTold))
}
