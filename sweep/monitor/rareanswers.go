package monitor

import (
	"context"
	"maps"
	"time"
)

// restFactor is how many times as long as an answer took it is given to others, while what it is
// about changes all the time: then it costs the master a twentieth of a core.
const restFactor = 20

// rareAnswer is an answer that takes the master long.
type rareAnswer struct {
	reply[any]
	until time.Time
}

// askRarely is ask for what takes the master long. While its subject changes the answer may be as
// old as restFactor says.
func askRarely[T any](ctx context.Context, m *answers, key string, version int64, changes bool,
	f func(context.Context) (T, error)) (reply[T], error) {
	if changes {
		m.mu.Lock()
		old, ok := m.rare[key]
		m.mu.Unlock()
		if value, is := old.value.(T); ok && is && m.now().Before(old.until) {
			return reply[T]{value, old.asOf}, nil
		}
	}
	took := time.Duration(0)
	r, err := ask(ctx, m, key, version, func(ctx context.Context) (T, error) {
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
	return r, err
}
