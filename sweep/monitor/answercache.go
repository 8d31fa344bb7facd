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

// Limits of what readers cost the master. A question is asked once for all of its readers, and an
// answer is reused for twenty times as long as it took, up to five seconds: one that takes up to a
// quarter of a second costs at most a twentieth of a core.
const (
	queryTimeout       = 20 * time.Second // of one question
	maxQueriesInFlight = 4                // questions on their way, beside a short one
	maxSessionQueries  = 2                // of those, that one session asked
	minRefreshInterval = time.Second      // after which a page that is loaded asks anew
	reuseFactor        = 20               // times what it took,
	// but no longer: it may have taken long because the machine stood still
	maxReuse   = 5 * time.Second
	maxAnswers = 300 // answers kept
)

// answerCache caches the master's answers for a moment and merges equal questions that are in
// flight (singleflight). Its values are shared and must not be changed.
type answerCache struct {
	now func() time.Time
	log *slog.Logger
	// counts what readers were told of; an answer is as new as the clock when it was asked for
	clock    atomic.Int64
	inFlight chan struct{}
	short    chan struct{} // for shortQuestions
	ctx      context.Context
	cancel   context.CancelFunc
	running  sync.WaitGroup

	mu     sync.Mutex
	byKey  map[string]*cachedAnswer
	closed bool
}

// shortQuestions have a slot of their own, so that long ones delay no page that needs only these.
var shortQuestions = map[string]bool{"sweeps": true, "workers": true, "health": true}

// slotsKey is the key of a context for the slots of its session.
type slotsKey struct{}

// cachedAnswer is an answer, or a question in flight. The cache's mutex guards the readers.
type cachedAnswer struct {
	readers int
	cancel  context.CancelFunc
	slots   chan struct{} // of the session that asked; nil: of none, or others ask it, too
	shared  chan struct{} // closed when others do
	done    chan struct{}
	version int64
	value   any
	err     error
	asOf    time.Time // when it was asked
	cost    time.Duration
}

// reply is an answer.
type reply[T any] struct {
	value T
	freshness
}

// freshness is how new an answer is.
type freshness struct {
	version     int64
	asOf        time.Time
	reusableFor time.Duration // it is asked for again after this time at the soonest
}

// with returns how new something is that is made of an older answer, too.
func (f freshness) with(other freshness) freshness {
	f.version, f.reusableFor = min(f.version, other.version), max(f.reusableFor, other.reusableFor)
	return f
}

func newAnswerCache(now func() time.Time, log *slog.Logger) *answerCache {
	ctx, end := context.WithCancel(context.Background())
	return &answerCache{now: now, log: log, inFlight: make(chan struct{}, maxQueriesInFlight),
		short: make(chan struct{}, 1), ctx: ctx, cancel: end,
		byKey: map[string]*cachedAnswer{}}
}

// close cancels the questions in flight and waits for them to return.
func (m *answerCache) close() {
	m.mu.Lock()
	m.closed = true
	m.mu.Unlock()
	m.cancel()
	m.running.Wait()
}

// ask answers a question, with an answer that is kept where that is new enough: as new as a version
// of the clock, or for version 0 not older than a second. What is expensive may be older; the reply
// says so by its version. A question is cancelled when its last reader has left.
func ask[T any](ctx context.Context, m *answerCache, key string, version int64,
	f func(context.Context) (T, error)) (r reply[T], err error) {
	slots, _ := ctx.Value(slotsKey{}).(chan struct{})
	k := m.join(key, version, slots, func(ctx context.Context) (any, error) { return f(ctx) })
	if k == nil {
		return r, context.Canceled
	}
	defer m.leave(key, k)
	select {
	case <-k.done:
	case <-ctx.Done():
		return r, context.Cause(ctx)
	}
	r.freshness = freshness{k.version, k.asOf, k.reusableFor()}
	if k.err != nil {
		return r, k.err
	}
	r.value = k.value.(T)
	return r, nil
}

func (m *answerCache) join(key string, version int64, slots chan struct{},
	f func(context.Context) (any, error)) *cachedAnswer {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k := m.byKey[key]; k != nil && k.isFreshEnough(version, m.now()) {
		if k.readers++; k.slots != nil && k.slots != slots {
			k.slots = nil
			close(k.shared)
		}
		return k
	}
	if m.closed {
		return nil
	}
	if len(m.byKey) >= maxAnswers {
		m.evict()
	}
	ctx, cancel := context.WithTimeoutCause(m.ctx, queryTimeout, errMasterTimeout)
	k := &cachedAnswer{readers: 1, cancel: cancel, slots: slots, shared: make(chan struct{}),
		done: make(chan struct{}), version: m.clock.Load(), asOf: m.now()}
	m.byKey[key] = k
	m.running.Go(func() {
		defer close(k.done)
		defer cancel()
		release, err := m.acquire(ctx, shortQuestions[key], slots, k.shared)
		defer release()
		if k.err = err; err == nil {
			m.fetch(ctx, k, f)
		}
	})
	return k
}

// leave ends the reading of an answer.
func (m *answerCache) leave(key string, k *cachedAnswer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if k.readers--; k.readers > 0 || k.isDone() {
		return
	}
	k.cancel()
	if m.byKey[key] == k {
		delete(m.byKey, key) // the next reader gets a new one
	}
}

// acquire waits until a question may be asked: for a slot of its session, unless readers of others
// wait for it too, and for one of all.
func (m *answerCache) acquire(ctx context.Context, short bool, slots, shared chan struct{}) (
	release func(), err error) {
	all := m.inFlight
	if short {
		all, slots = m.short, nil
	}
	releaseOwn := func() {}
	if slots != nil {
		select {
		case slots <- struct{}{}:
			releaseOwn = func() { <-slots }
		case <-shared:
		case <-ctx.Done():
			return releaseOwn, context.Cause(ctx)
		}
	}
	select {
	case all <- struct{}{}:
		return func() { <-all; releaseOwn() }, nil
	case <-ctx.Done():
		return releaseOwn, context.Cause(ctx)
	}
}

// evict drops all answers; questions in flight stay.
func (m *answerCache) evict() {
	for key, k := range m.byKey {
		if k.isDone() {
			delete(m.byKey, key)
		}
	}
}

func (m *answerCache) fetch(ctx context.Context, k *cachedAnswer,
	f func(context.Context) (any, error)) {
	defer func() {
		if value := recover(); value != nil {
			m.log.Error("fault in the monitor; it goes on", "fault", value, "stack",
				string(debug.Stack()))
			k.err = &fault{http.StatusInternalServerError, "There is a fault in the monitor.",
				"Its log has the place."}
		}
	}()
	begin := time.Now()
	k.value, k.err = f(ctx)
	k.cost = time.Since(begin)
}

func (k *cachedAnswer) isDone() bool {
	select {
	case <-k.done:
		return true
	default:
		return false
	}
}

// reusableFor returns how long an answer is returned without asking again.
func (k *cachedAnswer) reusableFor() time.Duration { return min(reuseFactor*k.cost, maxReuse) }

// isFreshEnough reports whether an answer serves a reader who wants a version.
func (k *cachedAnswer) isFreshEnough(version int64, now time.Time) bool {
	age := now.Sub(k.asOf)
	switch {
	case !k.isDone():
		return k.version >= version
	case k.err != nil:
		return age < minRefreshInterval && k.version >= version
	case age < k.reusableFor():
		return true
	case version == 0:
		return age < minRefreshInterval
	}
	return k.version >= version
}
