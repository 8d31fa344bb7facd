package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// apply takes one step: the core decides, the store keeps, and only then is anything told. A step
// that has begun is taken to its end.
func (m *Master) apply(ctx context.Context, s *step) error {
	whole := context.WithoutCancel(ctx)
	if len(s.dead) > 0 {
		if err := m.o.Store.KeepDeadLetters(whole, s.dead); err != nil {
			return fmt.Errorf("write the store: %w", err)
		}
	}
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
		s.call.done <- answer{effects.Answer, effects.Err}
	}
	if err != nil {
		return err
	}
	for _, ack := range s.acks {
		if err := ack(); err != nil && ctx.Err() == nil { // at the end the queue goes first
			m.o.Log.Warn("messages not acknowledged; they come again", "error", err)
		}
	}
	s.supplied = m.supplied
	m.notices.note(m.core, m.o.Now())
	return nil
}

// prepare has a call read what its command needs.
func (m *Master) prepare(ctx context.Context, c *call) (command core.Command) {
	err := m.guard("call", func() (err error) {
		command, err = c.prepare(ctx)
		return err
	})
	if err != nil {
		_, failed := errors.AsType[*fault](err)
		return core.Refuse{Err: err, Failed: failed}
	}
	return command
}

// step decides an input and commits it. Where the core panics the step is dropped, the core is
// loaded again, and the parts of the input are decided one by one: those at which it panics again
// are left out.
func (m *Master) step(ctx context.Context, in core.Input) (core.Effects, error) {
	effects, err := m.decide(ctx, in)
	if _, panicked := errors.AsType[*fault](err); !panicked {
		return effects, err
	}
	m.pausedUntil = m.o.Now().Add(pauseAfterFault)
	if err := m.load(ctx); err != nil {
		return effects, err
	}
	for _, part := range parts(in) {
		done, err := m.decide(ctx, part)
		if _, panicked := errors.AsType[*fault](err); panicked {
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

// leaveOut loads the core again after it panicked at a part of an input. A command's caller is told.
func (m *Master) leaveOut(ctx context.Context, part core.Input, fault error) (core.Effects, error) {
	if err := m.load(ctx); err != nil || part.Command == nil {
		return core.Effects{}, err
	}
	part.Command = core.Refuse{Err: fault, Failed: true}
	return m.decide(ctx, part)
}

// parts are the parts of an input, to be decided one by one.
func parts(in core.Input) (all []core.Input) {
	for _, h := range in.Heartbeats {
		all = append(all, core.Input{Heartbeats: []task.Heartbeat{h}, Hold: true})
	}
	for _, e := range in.Events {
		all = append(all, core.Input{Events: []core.Event{e}, Hold: true})
	}
	if in.Command != nil {
		all = append(all, core.Input{Command: in.Command, Audit: in.Audit, Hold: true})
	}
	return all
}

// decide lets the core decide an input, commits what it decided, and does what follows. The error
// is *fault when the core panicked: then nothing was kept.
func (m *Master) decide(ctx context.Context, in core.Input) (effects core.Effects, err error) {
	if err := m.lookUp(ctx, &in); err != nil {
		return effects, err
	}
	var out core.Output
	if err := m.guard("step", func() error {
		if !in.Hold {
			status := m.o.Queue.Status()
			in.Queue = core.QueueStatus{Down: status.Away || status.Blocked != "", Since: status.Since}
		}
		out = m.core.Step(in, m.o.Now())
		for _, l := range out.Log {
			m.o.Log.Log(ctx, l.Level, l.Text, l.Args...)
		}
		return nil
	}); err != nil {
		return effects, err
	}
	return m.finish(ctx, out, len(in.Events) > 0)
}

// finish commits what a step decided, and does what follows.
func (m *Master) finish(ctx context.Context, out core.Output, events bool) (core.Effects, error) {
	m.metrics.step(&out, events)
	m.supplied = out.Supplied
	effects, err := out.Commit(func(rows *core.Rows) error { return m.commit(ctx, rows) })
	if err != nil {
		return effects, err
	}
	for i := range effects.Changed {
		if err := m.notify(ctx, &effects.Changed[i]); err != nil {
			return effects, err
		}
	}
	for _, w := range effects.Waits {
		m.watch.changed(*w.Record, w.Head, w.Changes.Tasks)
	}
	m.changeVault(effects.Vault)
	m.outbox.send(m.sealed(effects.Messages))
	return effects, nil
}

// commit writes the rows of a step as one group.
func (m *Master) commit(ctx context.Context, rows *core.Rows) error {
	begin := time.Now()
	var groups []store.Group
	for i := range rows.Sweeps {
		r := &rows.Sweeps[i]
		s := store.Sweep{Seq: r.Seq, Definition: r.Record.Recipe.Definition, Record: *r.Record,
			Head: r.Head}
		if r.Revised {
			if err := m.o.Store.Revise(ctx, s, r.Code, r.Ranked); err != nil {
				return fmt.Errorf("move %s to revision %s: %w", r.Head.ID, r.Record.Recipe.Revision, err)
			}
		}
		groups = append(groups, store.Group{Sweep: s, Changes: r.Changes, Rewrite: r.Rewrite})
	}
	for _, name := range rows.Gone {
		if err := m.o.Store.Forget(ctx, name); err != nil {
			return fmt.Errorf("forget worker %s: %w", name, err)
		}
	}
	groups = append(groups, store.Group{Workers: rows.Workers, Audit: rows.Audit})
	if err := m.o.Store.Commit(ctx, groups...); err != nil {
		return fmt.Errorf("write the store: %w", err)
	}
	m.metrics.commit(rows, time.Since(begin))
	m.senders.register(rows.Workers...)
	for _, name := range rows.Gone {
		m.senders.forget(name)
	}
	return nil
}

// notify tells watchers what changed about a sweep.
func (m *Master) notify(ctx context.Context, r *core.SweepRows) error {
	id := r.Head.ID
	if r.Rewrite {
		m.watch.rewritten(id, *r.Record)
	}
	m.senders.changed(id, r.Changes.Tasks)
	again := r.Rewrite || m.watch.changesBest(id, r.Changes.Tasks)
	m.watch.changed(*r.Record, r.Head, r.Changes.Tasks)
	if !again {
		return nil
	}
	best, err := m.best(ctx, store.Sweep{Seq: r.Seq, Record: *r.Record, Head: r.Head})
	if err == nil {
		m.watch.ranked(id, best)
	}
	return err
}

// fault is a panic of this program.
type fault struct{ value any }

func (f *fault) Error() string { return fmt.Sprintf("fault in the master: %v", f.value) }

// guard makes a panic of f an error.
func (m *Master) guard(what string, f func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = &fault{value}
			m.o.Log.Log(context.Background(), slog.LevelError, "fault in the master; it goes on without what caused it",
				"in", what, "fault", value, "stack", string(debug.Stack()))
		}
	}()
	return f()
}
