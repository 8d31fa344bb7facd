package server

import (
	"context"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/master"
)

// linger is how long a feed is kept after the last of its readers left, for those whose connection
// broke.
const linger = time.Minute

// feeds are the feeds of all sweeps that are followed. The zero value, with a master, is ready.
type feeds struct {
	master *master.Master

	mu     sync.Mutex
	all    map[feedKey]*followed
	closed bool
	parts  sync.WaitGroup
}

type feedKey struct {
	sweep  string
	detail api.Detail
}

// followed is a feed with its readers.
type followed struct {
	*feed
	readers int
	end     func()
	last    *time.Timer // ends it; nil while somebody reads
}

// join returns the feed of a sweep; the caller calls leave when it reads no more.
func (fs *feeds) join(ctx context.Context, sweep string, d api.Detail) (f *feed, leave func(),
	err error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if fs.closed {
		return nil, nil, master.ErrStopped
	}
	key := feedKey{sweep, d}
	have := fs.all[key]
	if have == nil {
		if have, err = fs.open(ctx, key); err != nil {
			return nil, nil, err
		}
	}
	have.readers++
	if have.last != nil {
		have.last.Stop()
		have.last = nil
	}
	return have.feed, sync.OnceFunc(func() { fs.leave(key, have) }), nil
}

func (fs *feeds) open(ctx context.Context, key feedKey) (*followed, error) {
	w, stop, err := fs.master.Watch(ctx, key.sweep, key.detail)
	if err != nil {
		return nil, err
	}
	reading, cancel := context.WithCancel(context.WithoutCancel(ctx))
	f := &followed{feed: newFeed(key.detail), end: cancel}
	if fs.all == nil {
		fs.all = map[feedKey]*followed{}
	}
	fs.all[key] = f
	fs.parts.Go(func() {
		f.run(reading, w)
		stop()
	})
	return f, nil
}

func (fs *feeds) leave(key feedKey, f *followed) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f.readers--; f.readers > 0 || fs.closed {
		return
	}
	f.last = time.AfterFunc(linger, func() {
		fs.mu.Lock()
		defer fs.mu.Unlock()
		if f.readers == 0 && fs.all[key] == f {
			delete(fs.all, key)
			f.end()
		}
	})
}

// close ends all feeds.
func (fs *feeds) close() {
	fs.mu.Lock()
	fs.closed = true
	for key, f := range fs.all {
		if f.last != nil {
			f.last.Stop()
		}
		f.end()
		delete(fs.all, key)
	}
	fs.mu.Unlock()
	fs.parts.Wait()
}
