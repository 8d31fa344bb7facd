package monitor

import (
	"context"
	"maps"
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
)

// answers are what the master says. A question that several readers have at one moment is asked
// once. What it says is shared and must not be changed.
type answers struct {
	now func() time.Time
	// counts what readers were told of; an answer is as new as the clock when it was asked for
	clock   atomic.Int64
	ctx     context.Context // of all questions
	close   context.CancelFunc
	flights singleflight.Group

	mu   sync.Mutex
	memo map[string]answer // of the last memoTime
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

func newAnswers(now func() time.Time) *answers {
	ctx, cancel := context.WithCancel(context.Background())
	return &answers{now: now, ctx: ctx, close: cancel, memo: map[string]answer{}}
}

// ask answers a question, with an answer not older than a second and as new as a version of the
// clock. A question goes on when a reader leaves: others may wait for it.
func ask[T any](ctx context.Context, m *answers, key string, version int64,
	f func(context.Context) (T, error)) (reply[T], error) {
	v, _, _ := m.flights.Do(strconv.FormatInt(version, 10)+" "+key, func() (any, error) {
		if a, ok := m.recall(key, version); ok {
			return a, nil
		}
		ctx, cancel := context.WithTimeoutCause(m.ctx, queryTimeout, errMasterTimeout)
		defer cancel()
		a := answer{version: m.clock.Load()}
		a.asOf = m.now()
		a.value, a.err = f(ctx)
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
	m.memo[key] = *a
}
