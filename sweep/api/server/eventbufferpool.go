package server

import (
	"context"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// idleTimeout is how long a buffer is kept after its last reader left, for readers that reconnect.
const idleTimeout = time.Minute

// eventBuffers are the buffers of all sweeps that are followed. The zero value, with a master, is
// ready to use.
type eventBuffers struct {
	master *master.Master

	mu         sync.Mutex
	all        map[bufferKey]*sharedBuffer
	closed     bool
	goroutines sync.WaitGroup
}

type bufferKey struct {
	sweep  string
	detail api.Detail
}

// sharedBuffer is a buffer with its number of readers.
type sharedBuffer struct {
	*eventBuffer
	readers   int
	stop      func()
	idleTimer *time.Timer // ends it; nil while somebody reads
}

// join returns the buffer of a sweep. The caller calls leave when it stops reading.
func (bs *eventBuffers) join(ctx context.Context, sweep string, d api.Detail) (b *eventBuffer,
	leave func(),
	err error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if bs.closed {
		return nil, nil, master.ErrStopped
	}
	key := bufferKey{sweep, d}
	if bs.all[key] == nil {
		w, stop, err := bs.master.Watch(ctx, sweep, d)
		if err != nil {
			return nil, nil, err
		}
		bs.open(ctx, key, w, stop)
	}
	b, leave = bs.enter(key)
	return b, leave, nil
}

// adopt is join for a sweep that is watched already, unless it has a buffer.
func (bs *eventBuffers) adopt(ctx context.Context, sweep string, d api.Detail, w *master.Watcher,
	stop func()) (b *eventBuffer, leave func(), err error) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	key := bufferKey{sweep, d}
	switch {
	case bs.closed:
		stop()
		return nil, nil, master.ErrStopped
	case bs.all[key] != nil: // it was submitted before, under the same idempotency key
		stop()
	default:
		bs.open(ctx, key, w, stop)
	}
	b, leave = bs.enter(key)
	return b, leave, nil
}

// enter adds a reader to a buffer.
func (bs *eventBuffers) enter(key bufferKey) (b *eventBuffer, leave func()) {
	have := bs.all[key]
	have.readers++
	if have.idleTimer != nil {
		have.idleTimer.Stop()
		have.idleTimer = nil
	}
	return have.eventBuffer, sync.OnceFunc(func() { bs.leave(key, have) })
}

// open makes the buffer of a watcher.
func (bs *eventBuffers) open(ctx context.Context, key bufferKey, w *master.Watcher, stop func()) {
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	b := &sharedBuffer{eventBuffer: newEventBuffer(key.detail), stop: cancel}
	if bs.all == nil {
		bs.all = map[bufferKey]*sharedBuffer{}
	}
	bs.all[key] = b
	bs.goroutines.Go(func() {
		b.run(reading, w)
		stop()
	})
}

func (bs *eventBuffers) leave(key bufferKey, b *sharedBuffer) {
	bs.mu.Lock()
	defer bs.mu.Unlock()
	if b.readers--; b.readers > 0 || bs.closed {
		return
	}
	b.idleTimer = time.AfterFunc(idleTimeout, func() {
		bs.mu.Lock()
		defer bs.mu.Unlock()
		if b.readers == 0 && bs.all[key] == b {
			delete(bs.all, key)
			b.stop()
		}
	})
}

// close ends all buffers.
func (bs *eventBuffers) close() {
	bs.mu.Lock()
	bs.closed = true
	for key, b := range bs.all {
		if b.idleTimer != nil {
			b.idleTimer.Stop()
		}
		b.stop()
		delete(bs.all, key)
	}
	bs.mu.Unlock()
	bs.goroutines.Wait()
}
