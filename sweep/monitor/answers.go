package monitor

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"
)

// How long the master may take for one question, and for how long its answer is given to others.
const (
	queryTimeout = 20 * time.Second
	memoTime     = time.Second
	maxQuestions = 4 // in flight
)

// answers are what the master says. A question that several readers have at one moment is asked
// once. What it says is shared and must not be changed.
type answers struct {
	now func() time.Time
	log *slog.Logger
	// counts what readers were told of; an answer is as new as the clock when it was asked for
	clock   atomic.Int64
	ctx     context.Context // of all questions
	close   context.CancelFunc
	flights singleflight.Group
	places  chan struct{}

	mu   sync.Mutex
	memo map[string]answer // of the last memoTime
	rare map[string]rareAnswer
}

// answer is what the master said, as any.
type answer struct {
	reply[any]
	err     error
	version int64
	came    time.Time
}

// reply is an answer.
type reply[T any] struct {
	value T
	asOf  time.Time // when it was asked
}

func newAnswers(now func() time.Time, log *slog.Logger) *answers {
	ctx, cancel := context.WithCancel(context.Background())
	return &answers{now: now, log: log, ctx: ctx, close: cancel, memo: map[string]answer{},
		rare:   map[string]rareAnswer{},
		places: make(chan struct{}, maxQuestions)}
}

// ask answers a question, with an answer that came less than a second ago and is as new as a version
// of the clock. A question goes on when a reader leaves: others may wait for it. Few are asked at
// one moment.
func ask[T any](ctx context.Context, m *answers, key string, version int64,
	f func(context.Context) (T, error)) (reply[T], error) {
	v, _, _ := m.flights.Do(strconv.FormatInt(version, 10)+" "+key, func() (any, error) {
		m.places <- struct{}{}
		defer func() { <-m.places }()
		if a, ok := m.recall(key, version); ok {
			return a, nil
		}
		ctx, cancel := context.WithTimeoutCause(m.ctx, queryTimeout, errMasterTimeout)
		defer cancel()
		a := answer{version: m.clock.Load()}
		a.asOf = m.now()
		a.value, a.err = recovered(ctx, m.log, f)
		m.remember(key, &a)
		return a, nil
	})
	a := v.(answer)
	if ctx.Err() != nil {
		a.err = context.Cause(ctx)
	}
	value, _ := a.value.(T)
	return reply[T]{value, a.asOf}, a.err
}

func (m *answers) recall(key string, version int64) (answer, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a, ok := m.memo[key]
	return a, ok && a.version >= version && m.now().Sub(a.came) < memoTime
}

// remember keeps an answer, and forgets those that are old.
func (m *answers) remember(key string, a *answer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	a.came = m.now()
	maps.DeleteFunc(m.memo, func(_ string, old answer) bool {
		return a.came.Sub(old.came) >= memoTime
	})
	if m.memo[key].version <= a.version {
		m.memo[key] = *a
	}
}

// forget forgets all answers: an action has changed what they are about.
func (m *answers) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	clear(m.memo)
	clear(m.rare)
}

// recovered calls f, and turns a panic into a fault: it would end the process, as several readers
// wait for f.
func recovered[T any](ctx context.Context, log *slog.Logger,
	f func(context.Context) (T, error)) (v T, err error) {
	defer func() {
		if value := recover(); value != nil {
			log.Error("fault in the monitor; it goes on", "fault", value, "stack",
				string(debug.Stack()))
			err = &fault{http.StatusInternalServerError, "There is a fault in the monitor.",
				"Its log has the place."}
		}
	}()
	return f(ctx)
}
