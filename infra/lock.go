package infra

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
)

// Locked is a host on which somebody else is at work.
type Locked struct {
	Host   string
	Holder string // who, since when, why; as they wrote it
}

func (l *Locked) Error() string {
	return fmt.Sprintf("%s: somebody is at work on this cluster: %s; wait until they are done, "+
		"or take the lock away with --break-lock", l.Host, l.Holder)
}

// lock takes the lock of a host's folder. It is held until it is closed, or the connection has
// ended.
func (u *up) lock(ctx context.Context, m *connectedHost) (*agent.Lock, error) {
	c, err := m.agent(ctx)
	if err != nil {
		return nil, err
	}
	held, err := c.Lock(ctx, agent.LockRequest{File: layout.Root(m.found.Root).Lock(),
		Holder: fmt.Sprintf("%s, since %s: infrainit", u.o.Who,
			u.o.Now().UTC().Format(time.RFC3339)),
		Break: u.request.BreakLock})
	if e, ok := errors.AsType[*agent.Error](err); ok && e.Holder != "" {
		return nil, &Locked{m.name, e.Holder}
	}
	if err != nil {
		return nil, fmt.Errorf("lock %s: %w", m.found.Root, err)
	}
	return held, nil
}
