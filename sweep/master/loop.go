// The loop, one step at a time: the core decides, the store commits, and only after that commit
// anything is acknowledged, sent, answered or shown (committhensend.go).

package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// apply takes one step: the core decides, the store keeps, and only then is anything told. A step
// that has begun is taken to its end.
func (m *Master) apply(ctx context.Context, s *stepInput) error {
	whole := context.WithoutCancel(ctx)
	in := core.Input{Heartbeats: s.heartbeats}
	for _, e := range s.events {
		in.Events = append(in.Events, core.Event{Event: e})
	}
	if s.call != nil {
		in.Command = m.prepare(whole, s.call)
		if e := s.call.audit; e != nil && e.Time.IsZero() { // a repetition was kept already
			in.Audit = e
		}
	}
	effects, err := m.step(whole, in)
	if s.call != nil {
		if err != nil {
			effects.Err = err
		} else if in.Audit != nil {
			in.Audit.Time = m.o.Now()
		}
		if effects.Err == nil && s.call.then != nil {
			s.call.then()
		}
		s.call.done <- effects.Err
	}
	if err != nil {
		return err
	}
	for _, ack := range s.acks {
		if err := ack(); err != nil && ctx.Err() == nil { // at the end the queue goes first
			m.o.Log.Warn("cannot acknowledge messages; they will be redelivered", "error", err)
		}
	}
	s.supplied = m.supplied
	m.notices.note(m.core, m.o.Now())
	return nil
}

// prepare has a call read what its command needs.
func (m *Master) prepare(ctx context.Context, c *call) (command core.Command) {
	err := m.recoverPanic("call", func() (err error) {
		command, err = c.prepare(ctx)
		return err
	})
	if err != nil {
		_, failed := errors.AsType[*panicError](err)
		return core.Refuse{Err: err, Failed: failed}
	}
	return command
}

// step decides an input and commits it. Where the core panics the step is dropped, the core is
// loaded again, and the parts of the input are decided one by one: those at which it panics again
// are left out.
func (m *Master) step(ctx context.Context, in core.Input) (core.Effects, error) {
	effects, err := m.decide(ctx, in)
	if _, panicked := errors.AsType[*panicError](err); !panicked {
		return effects, err
	}
	m.pausedUntil = m.o.Now().Add(pauseAfterFault)
	if err := m.load(ctx); err != nil {
		return effects, err
	}
	for _, part := range parts(in) {
		done, err := m.decide(ctx, part)
		if _, panicked := errors.AsType[*panicError](err); panicked {
			if done, err = m.leaveOut(ctx, part, err); err != nil {
				return effects, err
			}
		}
		if err != nil {
			return effects, err
		}
		if part.Command != nil {
			effects = done
		}
	}
	return effects, nil
}

// pauseAfterFault is how long nothing is decided, after a panic, but for what comes in.
const pauseAfterFault = time.Second

// leaveOut loads the core again after it panicked at a part of an input. A command's caller is
// told.
func (m *Master) leaveOut(ctx context.Context, part core.Input, fault error) (core.Effects, error) {
	if err := m.load(ctx); err != nil || part.Command == nil {
		return core.Effects{}, err
	}
	part.Command = core.Refuse{Err: fault, Failed: true}
	return m.decide(ctx, part)
}

// parts are the parts of an input, to be decided one by one.
func parts(in core.Input) (all []core.Input) {
	if in.Command != nil {
		all = append(all, core.Input{Command: in.Command, Audit: in.Audit, OnlyInput: true})
	}
	for _, h := range in.Heartbeats {
		all = append(all, core.Input{Heartbeats: []task.Heartbeat{h}, OnlyInput: true})
	}
	for _, e := range in.Events {
		all = append(all, core.Input{Events: []core.Event{e}, OnlyInput: true})
	}
	return all
}

// decide lets the core decide an input, commits what it decided, and does what follows. The error
// is *panicError when the core panicked: then nothing was kept.
func (m *Master) decide(ctx context.Context, in core.Input) (effects core.Effects, err error) {
	if err := m.lookUp(ctx, &in); err != nil {
		return effects, err
	}
	var out core.Output
	if err := m.recoverPanic("step", func() error {
		if !in.OnlyInput {
			status := m.o.Queue.Status()
			in.Queue = core.QueueStatus{Down: status.Unreachable || status.Blocked != "",
				Since: status.Since}
		}
		out = m.core.Step(in, m.o.Now())
		for _, l := range out.Log {
			m.o.Log.Log(ctx, l.Level, l.Text, l.Args...)
		}
		return nil
	}); err != nil {
		return effects, err
	}
	return m.commitThenSend(ctx, out, len(in.Events) > 0)
}

// panicError is a panic of this program.
type panicError struct{ value any }

func (f *panicError) Error() string { return fmt.Sprintf("fault in the master: %v", f.value) }

// recoverPanic makes a panic of f an error.
func (m *Master) recoverPanic(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &panicError{value}
			m.o.Log.Log(context.Background(), slog.LevelError,
				"fault in the master; it goes on without what caused it",
				"in", what, "fault", value, "stack", string(debug.Stack()))
		}
	}()
	return f()
}
