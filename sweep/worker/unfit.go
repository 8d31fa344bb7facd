package worker

import "mlframework/sweep/task"

// judge stops the worker when its host could not run several attempts in a row: it gives back what waits, as if it was
// drained, so that a queue is not burnt before the master hears of it. The master, which counts too, decides when it goes on.
// The caller holds the lock.
func (d *desk) judge(o *task.Outcome) {
	switch {
	case o.HostFault():
		d.faults++
	case o.Ran():
		d.faults = 0
	}
	if d.faults >= task.MostHostFaults && !d.drained && !d.alone {
		d.drained = true
		d.takeNothing()
		d.out.hurry()
	}
}
