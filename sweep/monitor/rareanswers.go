package monitor

import (
	"context"
	"fmt"
	"maps"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// restFactor is how many times as long as an answer took it is given to others: so a sweep that
// changes all the time, and somebody who turns pages, cost the master a twentieth of a core.
const restFactor = 20

// rareAnswer is an answer that takes the master long.
type rareAnswer struct {
	reply[any]
	until time.Time
}

// rareKey names a question about the tasks of a sweep that a filter picks. When a sweep ends, and
// when its tasks have other states then, it is another.
func rareKey(what string, s api.Sweep, where string) string {
	if s.State == core.Open {
		return fmt.Sprintf("%s %s %s", what, s.ID, where)
	}
	return fmt.Sprintf("%s %s %s %s %v", what, s.ID, where, s.State, s.Counts)
}

// askRarely is [ask] for what takes the master long: the answer may be as old as restFactor says. Due
// is how long a page that shows an old one waits to ask again; 0: it is new.
func askRarely[T any](ctx context.Context, m *answers, key string, version int64,
	f func(context.Context) (T, error)) (r reply[T], due time.Duration, err error) {
	m.mu.Lock()
	old, ok := m.rare[key]
	m.mu.Unlock()
	if value, is := old.value.(T); ok && is && m.now().Before(old.until) {
		return reply[T]{value, old.asOf}, old.until.Sub(m.now()), nil
	}
	took := time.Duration(0)
	r, err = ask(ctx, m, key, version, func(ctx context.Context) (T, error) {
		begun := m.now()
		v, err := f(ctx)
		took = m.now().Sub(begun)
		return v, err
	})
	if err == nil && took > 0 {
		m.mu.Lock()
		defer m.mu.Unlock()
		now := m.now()
		maps.DeleteFunc(m.rare, func(_ string, old rareAnswer) bool { return !now.Before(old.until) })
		m.rare[key] = rareAnswer{reply[any]{r.value, r.asOf}, now.Add(restFactor * took)}
	}
	return r, 0, err
}
