package core

import (
	"cmp"
	"container/list"
	"slices"
)

// turns is the order in which sweeps that have something to place get slots: those of the highest
// priority first, and those of one priority in turn. The zero value is empty.
type turns struct {
	ranks []*rank // the highest first; none is empty
}

// rank is the sweeps that take turns.
type rank struct {
	priority int
	position int64     // of the only sweep of a local run, where sweeps run one after the other; else 0
	sweeps   list.List // of *activeSweep; the next to get something is at the front
}

func (t *turns) empty() bool { return len(t.ranks) == 0 }

// add lets a sweep wait behind the others of its rank.
func (t *turns) add(a *activeSweep, local bool) {
	key := rank{priority: a.record.Priority}
	if local {
		key.position = a.position
	}
	at, found := slices.BinarySearchFunc(t.ranks, &key, func(r, key *rank) int {
		return cmp.Or(cmp.Compare(key.priority, r.priority), cmp.Compare(r.position, key.position))
	})
	if !found {
		t.ranks = slices.Insert(t.ranks, at, &key)
	}
	a.rank = t.ranks[at]
	a.turn = a.rank.sweeps.PushBack(a)
}

// remove lets a sweep wait no longer.
func (t *turns) remove(a *activeSweep) {
	if a.turn == nil {
		return
	}
	a.rank.sweeps.Remove(a.turn)
	if a.rank.sweeps.Len() == 0 {
		t.ranks = slices.DeleteFunc(t.ranks, func(r *rank) bool { return r == a.rank })
	}
	a.turn, a.rank = nil, nil
}

// next is the sweep of a rank whose turn it is.
func (r *rank) next() *activeSweep { return r.sweeps.Front().Value.(*activeSweep) }

// pass gives the turn of a sweep to the next of its rank.
func (r *rank) pass(a *activeSweep) { r.sweeps.MoveToBack(a.turn) }
