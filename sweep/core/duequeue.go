package core

import (
	"container/heap"
	"time"
)

// dueSweep is a sweep of which a task that backs off may be placed at a time.
type dueSweep struct {
	at     time.Time
	serial int64
	sweep  *activeSweep
}

// dueQueue is a heap of sweeps by that time. Entries may be outdated.
type dueQueue []dueSweep

func (q dueQueue) Len() int { return len(q) }

func (q dueQueue) Less(i, j int) bool {
	return q[i].at.Before(q[j].at) || q[i].at.Equal(q[j].at) && q[i].serial < q[j].serial
}

func (q dueQueue) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *dueQueue) Push(x any) { *q = append(*q, x.(dueSweep)) }

func (q *dueQueue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	(*q)[last] = dueSweep{}
	*q = (*q)[:last]
	return x
}

// next is the earliest time; zero: there is none.
func (q dueQueue) next() time.Time {
	if len(q) == 0 {
		return time.Time{}
	}
	return q[0].at
}

// dueNow offers the tasks whose back-off has ended.
func (c *Core) dueNow() {
	for len(c.due) > 0 && !c.due[0].at.After(c.now) {
		due := heap.Pop(&c.due).(dueSweep)
		a := due.sweep
		a.dueAt = time.Time{}
		if c.sweeps[a.id()] == a {
			a.ledger.offerDue(due.at, c.now)
			c.schedule(a)
		}
	}
}
