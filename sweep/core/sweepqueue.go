package core

import (
	"cmp"
	"container/list"
	"slices"
)

// sweepQueue is the order in which sweeps that have something to place get slots: those of the
// highest priority first, and those of one priority in turn. The zero value is empty.
type sweepQueue struct {
	levels []*priorityLevel // the highest first; none is empty
}

// priorityLevel is the sweeps that take turns.
type priorityLevel struct {
	priority int
	position int64     // of the only sweep here in a local run, which runs one at a time; else 0
	sweeps   list.List // of *activeSweep; the next to get something is at the front
}

func (t *sweepQueue) empty() bool { return len(t.levels) == 0 }

// add queues a sweep behind the others of its level.
func (t *sweepQueue) add(a *activeSweep, local bool) {
	key := priorityLevel{priority: a.record.Priority}
	if local {
		key.position = a.position
	}
	at, found := slices.BinarySearchFunc(t.levels, &key, func(r, key *priorityLevel) int {
		return cmp.Or(cmp.Compare(key.priority, r.priority), cmp.Compare(r.position, key.position))
	})
	if !found {
		t.levels = slices.Insert(t.levels, at, &key)
	}
	a.level = t.levels[at]
	a.turn = a.level.sweeps.PushBack(a)
}

// remove takes a sweep out of the queue.
func (t *sweepQueue) remove(a *activeSweep) {
	if a.turn == nil {
		return
	}
	a.level.sweeps.Remove(a.turn)
	if a.level.sweeps.Len() == 0 {
		t.levels = slices.DeleteFunc(t.levels, func(r *priorityLevel) bool { return r == a.level })
	}
	a.turn, a.level = nil, nil
}

// front returns the sweep of a level whose turn it is.
func (r *priorityLevel) front() *activeSweep { return r.sweeps.Front().Value.(*activeSweep) }

// rotate gives the turn of a sweep to the next of its level.
func (r *priorityLevel) rotate(a *activeSweep) { r.sweeps.MoveToBack(a.turn) }
