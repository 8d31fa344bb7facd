package server

import (
	"slices"
)

// ring keeps the newest items, of a total weight between capacity and twice that. It never changes
// what it has returned.
type ring[T any] struct {
	capacity int
	weigh    func(T) int

	items  []T
	weight int   // of kept
	end    int64 // how many were ever added or skipped
}

func (r *ring[T]) add(items ...T) {
	r.items, r.end = append(r.items, items...), r.end+int64(len(items))
	for _, i := range items {
		r.weight += r.weigh(i)
	}
	if r.weight <= 2*r.capacity {
		return
	}
	first := 0
	for ; r.weight > r.capacity; first++ {
		r.weight -= r.weigh(r.items[first])
	}
	r.items = slices.Clone(r.items[first:])
}

// skip counts items that were never added: no reader can resume from before them.
func (r *ring[T]) skip(n int64) {
	if n > 0 {
		r.items, r.weight, r.end = nil, 0, r.end+n
	}
}

// covers reports whether everything after a position is kept.
func (r *ring[T]) covers(at int64) bool { return at <= r.end && at >= r.end-int64(len(r.items)) }

// after returns the items after a position, as far as they are kept.
func (r *ring[T]) after(at int64) []T {
	n := min(r.end-at, int64(len(r.items)))
	return slices.Clip(r.items[int64(len(r.items))-n:])
}
