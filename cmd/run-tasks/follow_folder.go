package main

import (
	"context"
	"errors"
	"fmt"

	"mlframework/cmd/run-tasks/local"
	"mlframework/sweep/api"
)

// follow ends at once when no process runs the sweep, and with its runner: the store says how far
// it came. A runner that is only stopped, as by Ctrl-Z, is waited for.
func (h *localFolder) follow(ctx context.Context, b api.StartedSweep, d api.Detail,
	each func(api.Update) error) error {
	if h.idle, h.lost = false, false; h.attached == nil && !local.Alive() {
		return nil
	}
	holder := local.Holder()
	away := func(why error) (end bool) {
		switch {
		case why == nil:
			h.command.messages.Note("the process that runs the tasks is back")
		case !errors.Is(why, api.ErrSilent):
			h.lost = true
		default:
			h.command.messages.Note(fmt.Sprintf("the process that runs the tasks is away (%v); "+
				"waiting for it", why))
		}
		return h.lost
	}
	err := h.api.Follow(ctx, b.ID,
		api.FollowOptions{Detail: d, After: b.Events, OnDisconnect: away},
		func(u api.Update) error {
			h.idle = u.Idle()
			return each(u)
		})
	if h.lost && ctx.Err() == nil && local.Gone(holder) {
		return nil
	}
	return err
}
