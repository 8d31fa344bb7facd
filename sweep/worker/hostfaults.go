package worker

import (
	"mlframework/sweep/task"
)

// countHostFaults drains the worker after several host faults in a row, so that a broken host does
// not burn through the queue before the master reacts. The master, which counts as well, decides
// when the worker accepts work again. The caller holds the lock.
func (s *scheduler) countHostFaults(o *task.Outcome) {
	switch {
	case o.HostFault():
		s.hostFaults++
	case o.Ran():
		s.hostFaults = 0
	}
	if s.hostFaults >= task.MaxHostFaults && !s.drained && !s.soleWorker {
		s.drained = true
		s.returnAll()
		s.outbox.expedite()
	}
}
