package core

import (
	"cmp"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Demand is what would run now if there were more workers.
type Demand struct {
	Tasks int64
}

// Demand returns what would start now if there were more workers. Tasks that wait on a worker for a
// slot count; those that back off or are for one worker only do not.
func (c *Core) Demand(now time.Time) (d Demand) {
	for _, a := range c.sweeps {
		if len(a.record.Workers) == 0 {
			d.Tasks += a.ledger.demand(now)
		}
	}
	return d
}

// demand returns how many tasks could start now if there were slots for them.
func (l *Ledger) demand(now time.Time) int64 {
	h := &l.head
	if h.State != Open {
		return 0
	}
	due, _ := slices.BinarySearchFunc(l.pending, now, func(t *Task, now time.Time) int {
		return cmp.Or(t.NotBefore.Compare(now), -1)
	})
	n := int64(due)
	if !h.UnissuedCancelled {
		n += h.Total - h.Issued - int64(len(l.cancelledEarly))
	}
	return n + h.Rows[task.Queued] + h.Rows[task.Claimed]
}
