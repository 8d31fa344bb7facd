package worker

import (
	"context"
	"sync"
)

// remembered is how many attempts that have left the desk are still known: two of the largest windows of a master, so
// that a batch which is published twice runs once.
const remembered = 1 << 13

// desk holds the attempts that were claimed: those that wait for a slot, first come, first served, and those that run.
// An attempt is at one place at a time, so that who wants to stop it finds it.
type desk struct {
	mu      sync.Mutex
	some    sync.Cond
	waiting []item
	running map[key]context.CancelCauseFunc
	known   map[key]struct{} // what is here, and what left lately
	left    []key            // what left lately: a ring, the oldest at next when it is full
	next    int
	drained bool // nothing new is taken
	closed  bool
}

func (d *desk) init() {
	d.some.L = &d.mu
	d.running, d.known = map[key]context.CancelCauseFunc{}, map[key]struct{}{}
}

// knows tells whether an attempt is here or left lately.
func (d *desk) knows(k key) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	_, ok := d.known[k]
	return ok
}

// put adds items that are not known, and returns those that have to be given back because nothing new is taken.
func (d *desk) put(items []item) (refused []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, i := range items {
		if _, twice := d.known[i.key()]; !twice {
			d.known[i.key()] = struct{}{}
			d.waiting = append(d.waiting, i)
		}
	}
	d.some.Broadcast()
	return d.remove(func(item) bool { return d.drained || d.closed })
}

// take waits for the next item, which from then on runs until done; ctx is the attempt's, which stop ends. It is false
// when the desk is closed or ctx has ended.
func (d *desk) take(ctx context.Context) (i item, attempt context.Context, ok bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for len(d.waiting) == 0 && !d.closed {
		d.some.Wait()
	}
	if d.closed || ctx.Err() != nil {
		return item{}, nil, false
	}
	i = d.waiting[0]
	d.waiting[0] = item{}
	d.waiting = d.waiting[1:]
	attempt, d.running[i.key()] = context.WithCancelCause(ctx)
	return i, attempt, true
}

// done ends the running of an item.
func (d *desk) done(i item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.running[i.key()](nil)
	delete(d.running, i.key())
	d.forget([]item{i})
}

// stop ends an attempt that runs, and returns one that waits.
func (d *desk) stop(k key) (removed []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if cancel := d.running[k]; cancel != nil {
		cancel(errStopped)
		return nil
	}
	return d.remove(func(i item) bool { return i.key() == k })
}

// recall takes out what waits of a sweep.
func (d *desk) recall(sweep string) (removed []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.remove(func(i item) bool { return i.job.sweep == sweep })
}

// drain turns the taking of anything new off or on, and returns what waits.
func (d *desk) drain(off bool) (removed []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.drained = off
	return d.remove(func(item) bool { return off })
}

func (d *desk) draining() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.drained
}

// close ends every take, and returns what waits.
func (d *desk) close() (removed []item) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	d.some.Broadcast()
	return d.remove(func(item) bool { return true })
}

func (d *desk) remove(which func(item) bool) (removed []item) {
	var kept []item
	for _, i := range d.waiting {
		if which(i) {
			removed = append(removed, i)
		} else {
			kept = append(kept, i)
		}
	}
	d.waiting = kept
	d.forget(removed)
	return removed
}

// forget lets items leave; they are known for a while.
func (d *desk) forget(items []item) {
	for _, i := range items {
		if len(d.left) < remembered {
			d.left = append(d.left, i.key())
			continue
		}
		delete(d.known, d.left[d.next])
		d.left[d.next] = i.key()
		d.next = (d.next + 1) % remembered
	}
}
