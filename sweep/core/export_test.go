package core

import (
	"maps"
	"slices"
)

// Dump is everything that a ledger knows, but for what it has not handed over yet.
type Dump struct {
	Head     Head
	Revision string
	Open     map[int64]Task
	Waiting  []int64
	Load     map[string]int
	Ahead    []int64
}

// Dump copies what the ledger knows, for comparison.
func (l *Ledger) Dump() Dump {
	d := Dump{Head: l.head, Revision: l.revision, Open: map[int64]Task{}, Waiting: append([]int64(nil), l.waiting...),
		Load: map[string]int{}, Ahead: slices.Sorted(maps.Keys(l.ahead))}
	for i, t := range l.open {
		d.Open[i] = *t
	}
	for worker, held := range l.held {
		d.Load[worker] = len(held)
	}
	return d
}

// Stored is the form of anything, read back.
func Stored[T any](v T) (string, error) { return stored(v) }

// MostImages is how many images a worker adds to a sweep's record.
const MostImages = mostImages
