package monitor

import (
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"
)

// What readers cost the master. However many look at the same thing, it is asked for once; what took long to answer is
// asked again only after twenty times as long, up to five seconds: one question that takes up to a quarter of a second takes
// at most a twentieth of a core.
const (
	askTime   = 20 * time.Second // of one question
	askAtOnce = 4                // questions on their way
	askAgain  = time.Second      // after which a page that is loaded asks anew
	askRest   = 20               // times what it took,
	askRests  = 5 * time.Second  // but no longer: it may have taken long because the machine stood still
	askKept   = 300              // answers kept
)

// memo keeps answers for a moment, and lets those who ask the same at the same time wait for one answer. What it returns
// is shared: nobody changes it.
type memo struct {
	now   func() time.Time
	log   *slog.Logger
	clock atomic.Int64 // counts what readers were told of; an answer is as new as the clock when it was asked for
	slots chan struct{}
	ctx   context.Context
	end   context.CancelFunc
	parts sync.WaitGroup

	mu     sync.Mutex
	kept   map[string]*kept
	closed bool
}

// kept is a question on its way, or its answer.
type kept struct {
	done    chan struct{}
	version int64
	value   any
	err     error
	at      time.Time // when it was asked
	cost    time.Duration
}

// reply is an answer, how new it is, and when it is asked for again at the soonest.
type reply[T any] struct {
	value   T
	version int64
	at      time.Time
	rest    time.Duration
}

func newMemo(now func() time.Time, log *slog.Logger) *memo {
	ctx, end := context.WithCancel(context.Background())
	return &memo{now: now, log: log, slots: make(chan struct{}, askAtOnce), ctx: ctx, end: end, kept: map[string]*kept{}}
}

// close gives up what is on its way and waits for that.
func (m *memo) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.end()
	m.parts.Wait()
}

// ask answers a question, with an answer that is kept where that is new enough: as new as a version of the clock, or for
// version 0 not older than a second. What is expensive may be older; the reply says so by its version.
func ask[T any](ctx context.Context, m *memo, key string, version int64, f func(context.Context) (T, error)) (r reply[T], err error) {
	k := m.find(key, version, func(ctx context.Context) (any, error) { return f(ctx) })
	if k == nil {
		return r, context.Canceled
	}
	select {
	case <-k.done:
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
	r.version, r.at, r.rest = k.version, k.at, k.rest()
	if k.err != nil {
		return r, k.err
	}
	r.value = k.value.(T)
	return r, nil
}

func (m *memo) find(key string, version int64, f func(context.Context) (any, error)) *kept {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.kept[key]; k != nil && k.serves(version, m.now()) {
		return k
	}
	if m.closed {
		return nil
	}
	if len(m.kept) >= askKept {
		m.drop()
	}
	k := &kept{done: make(chan struct{}), version: m.clock.Load(), at: m.now()}
	m.kept[key] = k
	m.parts.Go(func() { m.fetch(k, f) })
	return k
}

// drop forgets answers; those on their way stay.
func (m *memo) drop() {
	for key, k := range m.kept {
		if k.isDone() {
			delete(m.kept, key)
		}
	}
}

func (m *memo) fetch(k *kept, f func(context.Context) (any, error)) {
	defer close(k.done)
	ctx, cancel := context.WithTimeoutCause(m.ctx, askTime, errSlow)
	defer cancel()
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		k.err = context.Cause(ctx)
		return
	}
	defer func() {
		if value := recover(); value != nil {
			m.log.Error("fault in the monitor; it goes on", "fault", value, "stack", string(debug.Stack()))
			k.err = &fault{http.StatusInternalServerError, "There is a fault in the monitor.", "Its log has the place."}
		}
	}()
	begin := time.Now()
	k.value, k.err = f(ctx)
	k.cost = time.Since(begin)
}

func (k *kept) isDone() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// rest is for how long an answer serves whoever asks.
func (k *kept) rest() time.Duration { return min(askRest*k.cost, askRests) }

// serves tells whether an answer is good for who wants a version.
func (k *kept) serves(version int64, now time.Time) bool {
	age := now.Sub(k.at)
	switch {
	case !k.isDone():
		return k.version >= version
	case k.err != nil:
		return age < askAgain && k.version >= version
	case age < k.rest():
		return true
	case version == 0:
		return age < askAgain
	}
	return k.version >= version
}
