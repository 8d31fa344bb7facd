package worker

// next is the first that waits and may begin; negative when there is none. Attempts of one task share a folder and never
// run at once.
func (d *desk) next() int {
	d.held = false
	for n, i := range d.waiting {
		if !d.busy(i) {
			return n
		}
		d.held = true
	}
	return -1
}

// busy tells whether another attempt of an item's task is in a slot.
func (d *desk) busy(i item) bool {
	for k := range d.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep {
			return true
		}
	}
	return false
}

// follow ends an earlier attempt of an item's task: that the master sent another says that it does not count.
func (d *desk) follow(i item) {
	for k, s := range d.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep && k.number < i.attempt.Number {
			s.cancel(errStopped)
		}
	}
}
