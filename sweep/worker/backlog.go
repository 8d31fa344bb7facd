package worker

import (
	"sync"

	"mlframework/sweep/task"
)

// item is an attempt that was claimed.
type item struct {
	job     *job
	attempt task.Attempt
}

func (i item) key() key { return key{i.job.sweep, i.attempt.Index, i.attempt.Number} }

// backlog is what was claimed and waits for a slot, first come, first served.
type backlog struct {
	mu     sync.Mutex
	some   sync.Cond
	items  []item
	closed bool
}

func (b *backlog) init() { b.some.L = &b.mu }

func (b *backlog) put(items ...item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, items...)
	b.some.Broadcast()
}

// take waits for the next item; false when the backlog is closed and empty.
func (b *backlog) take() (item, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.items) == 0 && !b.closed {
		b.some.Wait()
	}
	if len(b.items) == 0 {
		return item{}, false
	}
	i := b.items[0]
	b.items[0] = item{}
	b.items = b.items[1:]
	return i, true
}

// remove takes out the items that which picks and returns them.
func (b *backlog) remove(which func(item) bool) (removed []item) {
	b.mu.Lock()
	defer b.mu.Unlock()
	var kept []item
	for _, i := range b.items {
		if which(i) {
			removed = append(removed, i)
		} else {
			kept = append(kept, i)
		}
	}
	b.items = kept
	return removed
}

func (b *backlog) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	b.some.Broadcast()
}
