package main

import (
	"errors"
	"fmt"
	"net/http"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
)

// atMaster has the launch run by a master. Ctrl-C before the sweep is known is an end; after it, it
// leaves the sweep running, or cancels it with --attached.
func (s *session) atMaster(m *remote) error {
	work, stop := cli.Interrupts(s.ctx.Context, s.leave)
	defer stop()
	b, err := s.start(work, m)
	if err != nil && isInterrupted(work) {
		return s.detached()
	}
	if err != nil || b.ID == "" {
		return err
	}
	var cancel func() error
	if s.ctx.Bool("attached") {
		cancel = func() error { return s.cancelAttached(m) }
	}
	interrupted, err := s.show(work, s.ctx.Context, m, b, cancel)
	switch {
	case err != nil:
		return err
	case interrupted && cancel == nil:
		return s.detached()
	}
	return s.conclude(s.ctx.Context, m, interrupted)
}

// cancelAttached ends a sweep whose command was interrupted.
func (s *session) cancelAttached(m *remote) error {
	_, err := m.Cancel(s.ctx.Context, s.sweep)
	e, refused := errors.AsType[*api.Error](err)
	if err != nil && !(refused && e.Status == http.StatusConflict) { // it has ended meanwhile
		return err
	}
	fmt.Fprintf(s.messages,
		"%s is cancelled; waiting for what runs, with its grace; Ctrl-C again leaves at once\n",
		s.sweep)
	return nil
}
