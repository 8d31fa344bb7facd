package infra

import (
	"context"
	"errors"
	"fmt"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
	"mlframework/infra/remote"
)

// Locked is a host on which somebody else is at work.
type Locked struct {
	Host   string
	Holder string // who, since when, why; as they wrote it
}

func (l *Locked) Error() string {
	return fmt.Sprintf("%s: somebody is at work on this cluster: %s; wait until they are done, or take the lock away with --break-lock", l.Host, l.Holder)
}

// lock takes the lock of a host's folder. It is held until it is closed, or the connection has
// ended.
func (u *up) lock(ctx context.Context, m *machine) (*agent.Lock, error) {
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

// sessionTime is how long a host may take for a command beside its lock. A busy one takes seconds.
const sessionTime = 20 * time.Second

// sessions makes sure that commands run on hosts beside their agents: an agent is one of the
// sessions of its connection, and the next waits for ever where sshd allows no other.
func (u *up) sessions(ctx context.Context, locked []string) error {
	limited, stop := context.WithTimeout(ctx, sessionTime)
	defer stop()
	errs := u.each(locked, func(m *machine) error {
		return m.host.Run(limited, remote.Command{Argv: []string{"true"}})
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	all := problems(errs)
	for i, p := range all {
		e, ok := errors.AsType[*remote.Error](errs[p.Host])
		none := ok && e.Kind == remote.NoSession
		if none || errors.Is(errs[p.Host], context.DeadlineExceeded) {
			all[i].Unreached = false
			all[i].What = "its sshd opens no second session on a connection (MaxSessions 1)"
			all[i].Remedy = "set MaxSessions to 2 or more in its sshd_config; the default is 10"
		}
	}
	return orNil(all)
}
