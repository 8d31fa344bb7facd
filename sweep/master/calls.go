package master

import (
	"context"

	"mlframework/sweep/core"
)

// call is work for the loop.
type call struct {
	// query reads what it wants between two steps; nil: the call is a command.
	query func(context.Context) error
	// prepare reads what a command needs and returns it. It runs in the loop, before the step that
	// decides the command.
	prepare func(context.Context) (core.Command, error)
	audit   *core.AuditEntry // of the command; nil: none
	// then reads, in the loop, how things stand after the command, before another step; nil:
	// nothing.
	then func()
	done chan error // how it ended, when what it changed is on disk
}

// query lets the loop run f between two steps, and waits for that. Ctx bounds the wait for the loop
// to take it; then the answer is near, and f never runs on after query has returned.
func (m *Master) query(ctx context.Context, f func(context.Context) error) error {
	return m.ask(ctx, call{query: f})
}

// do lets the loop decide a command that needs no preparation.
func (m *Master) do(ctx context.Context, command core.Command) error {
	return m.ask(ctx, call{prepare: func(context.Context) (core.Command, error) {
		return command, nil
	}})
}

// change is do, with the audit entry of ctx.
func (m *Master) change(ctx context.Context, prepare func(context.Context) (core.Command,
	error)) error {
	return m.ask(ctx, call{prepare: prepare, audit: AuditOf(ctx)})
}

func (m *Master) ask(ctx context.Context, c call) error {
	c.done = make(chan error, 1)
	select {
	case m.calls <- c:
	case <-m.ended:
		return m.exitErr
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-c.done:
		return err
	case <-m.ended:
	}
	select {
	case err := <-c.done:
		return err
	default:
		return m.exitErr
	}
}
