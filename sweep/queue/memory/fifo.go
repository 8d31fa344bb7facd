package memory

import (
	"slices"
	"sync"
)

// fifo is a line of items, first in, first out. The zero value is empty.
type fifo[T any] struct {
	mu    sync.Mutex
	items []T
	more  chan struct{} // closed when items come; nil when nobody waits for that
}

func (b *fifo[T]) put(items ...T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = append(b.items, items...)
	b.wake()
}

// offer puts an item unless the queue holds most already, and reports whether it did.
func (b *fifo[T]) offer(item T, most int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) >= most {
		return false
	}
	b.items = append(b.items, item)
	b.wake()
	return true
}

// putBack puts items that were taken before all others.
func (b *fifo[T]) putBack(items []T) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.items = slices.Concat(items, b.items)
	b.wake()
}

// wake wakes everybody who waits, as there may be enough for all of them. The caller holds the
// lock.
func (b *fifo[T]) wake() {
	if b.more != nil && len(b.items) > 0 {
		close(b.more)
		b.more = nil
	}
}

// next removes the first items, no more than most, as soon as there are any; nil when done or cut
// is closed first.
func (b *fifo[T]) next(most int, done, cut <-chan struct{}) []T {
	for {
		items, more := b.take(most)
		if items != nil {
			return items
		}
		select {
		case <-more:
		case <-done:
			return nil
		case <-cut:
			return nil
		}
	}
}

// take removes the first items. When there are none it returns a channel that is closed when some
// come.
func (b *fifo[T]) take(most int) (items []T, more <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.items) == 0 {
		if b.more == nil {
			b.more = make(chan struct{})
		}
		return nil, b.more
	}
	n := min(most, len(b.items))
	items = b.items[:n:n]
	if b.items = b.items[n:]; len(b.items) == 0 {
		b.items = nil // so that items that were taken can be collected
	}
	return items, nil
}

// count is how many items nobody has taken.
func (b *fifo[T]) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.items)
}

// purge empties the queue and returns how many items it had.
func (b *fifo[T]) purge() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	n := len(b.items)
	b.items = nil
	return n
}
