package worker

import (
	"slices"

	"mlframework/sweep/task"
)

// next is the first that waits and may begin; negative when there is none. Attempts of one task share a folder and never
// run at once.
func (d *desk) next() int {
	d.held = false
	if d.noRoom != "" {
		return -1 // what waits is about to be given back
	}
	for n, i := range d.waiting {
		lot, ready := d.lot(i)
		switch {
		case !ready:
		case d.busy(i):
			d.held = true
		default:
			d.waiting[n].lot = lot
			return n
		}
	}
	return -1
}

// lot is the secrets of an item; false when they have not come yet.
func (d *desk) lot(i item) (l *lot, ready bool) {
	if i.job.need == nil || i.job.err != nil { // what cannot run needs none
		return i.job.lot, true
	}
	l = d.secrets.get(*i.job.need)
	return l, l != nil
}

// needs are the secrets that something waits for.
func (d *desk) needs() (all []task.Need) {
	for _, i := range d.waiting {
		if _, ready := d.lot(i); !ready && !slices.Contains(all, *i.job.need) && len(all) < task.MostNeeds {
			all = append(all, *i.job.need)
		}
	}
	return all
}

// wake lets slots look again whether something may begin.
func (d *desk) wake() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.some.Broadcast()
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

// waits tells whether an attempt of a job waits for a slot.
func (d *desk) waits(j *job) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.ContainsFunc(d.waiting, func(i item) bool { return i.job == j })
}

// follow ends an earlier attempt of an item's task: that the master sent another says that it does not count.
func (d *desk) follow(i item) {
	for k, s := range d.running {
		if k.index == i.attempt.Index && k.sweep == i.job.sweep && k.number < i.attempt.Number {
			s.cancel(errStopped)
		}
	}
}
