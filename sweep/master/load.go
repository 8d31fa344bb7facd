package master

import (
	"context"
	"errors"
	"fmt"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// load makes the core of what the store has.
func (m *Master) load(ctx context.Context) error {
	unended, damaged, err := m.o.Store.ActiveSweeps(ctx)
	if err != nil {
		return err
	}
	for _, d := range damaged {
		m.damage(d)
	}
	if m.vault == nil {
		if err := m.openVault(unended, damaged); err != nil {
			return err
		}
	}
	workers, err := m.o.Store.Workers(ctx)
	if err != nil {
		return err
	}
	m.senders.register(workers...)
	var sweeps []core.Loaded
	for _, s := range unended {
		l, err := m.read(ctx, s)
		if d, ok := errors.AsType[*store.DamagedSweep](err); ok {
			m.damage(d)
			continue
		}
		if err != nil {
			return err
		}
		sweeps = append(sweeps, l)
	}
	o := core.Options{Local: m.o.Local, Lease: m.o.Lease}
	if m.core != nil {
		o.Restarted, o.Memory = true, m.core.Memory()
	}
	c, out := core.Load(o, sweeps, workers, m.o.Now())
	m.core = c
	for _, l := range out.Log {
		m.o.Log.Log(ctx, l.Level, l.Text, l.Args...)
	}
	_, err = m.commitThenSend(ctx, out, false)
	return err
}

// read reads what the core needs of a sweep.
func (m *Master) read(ctx context.Context, s store.Sweep) (core.Loaded, error) {
	open, ahead, err := m.o.Store.Unfinished(ctx, s, s.Record.Ranges.At(s.Head.Issued))
	if d, ok := errors.AsType[*store.DamagedSweep](err); ok {
		return core.Loaded{}, d
	} else if err != nil {
		return core.Loaded{}, fmt.Errorf("read the tasks of %s: %w", s.Head.ID, err)
	}
	l := core.Loaded{Seq: s.Seq, Record: s.Record, Head: s.Head, Open: open, CancelledEarly: ahead}
	l.Edition, l.PausedSince = m.keptSecrets(s)
	return l, nil
}

// add gives the core a sweep, also one that ended; "" is the newest. It returns the sweep's id.
func (m *Master) add(ctx context.Context, id string) (string, error) {
	if m.core.Has(id) {
		return id, nil
	}
	s, err := m.sweeps.Sweep(ctx, id)
	if err != nil {
		return "", err
	}
	if m.core.Has(s.Head.ID) {
		return s.Head.ID, nil
	}
	l, err := m.read(ctx, s)
	if err != nil {
		return "", err
	}
	m.core.Add(l)
	return s.Head.ID, nil
}

// lookUp reads what the core needs to know of the sweeps and attempts in an input.
func (m *Master) lookUp(ctx context.Context, in *core.Input) error {
	in.Unknown, in.Unreadable = nil, nil
	for i := range in.Heartbeats {
		h := &in.Heartbeats[i]
		m.lookUpRunning(ctx, in, h)
		m.lookUpNeeds(in, h)
	}
	for i := range in.Events {
		if err := m.lookUpEvent(ctx, in, &in.Events[i]); err != nil {
			return err
		}
	}
	return nil
}

// maxLookedUp bounds the sweeps of one heartbeat that are looked up. A worker runs tasks of few
// sweeps that have ended.
const maxLookedUp = 16

// lookUpRunning notes the sweeps that a worker says it runs tasks of and that are in no store.
func (m *Master) lookUpRunning(ctx context.Context, in *core.Input, h *task.Heartbeat) {
	seen := map[string]bool{}
	for _, b := range h.Running {
		if m.core.Has(b.Sweep) || seen[b.Sweep] || len(seen) == maxLookedUp {
			continue
		}
		seen[b.Sweep] = true
		if stored, err := m.sweeps.HasSweep(ctx, b.Sweep); err == nil && !stored {
			mark(&in.Unknown, b.Sweep)
		}
	}
}

func (m *Master) lookUpEvent(ctx context.Context, in *core.Input, e *core.Event) error {
	if e.Sweep == "" || task.Foreign(e.Version) || in.Unknown[e.Sweep] ||
		m.notices.hasDamaged(e.Sweep) {
		return nil
	}
	if !m.core.Has(e.Sweep) {
		stored, err := m.sweeps.HasSweep(ctx, e.Sweep)
		if err != nil {
			return err
		}
		if !stored {
			mark(&in.Unknown, e.Sweep)
			return nil
		}
		_, err = m.add(ctx, e.Sweep)
		if d, ok := errors.AsType[*store.DamagedSweep](err); ok {
			m.damage(d)
			return nil
		} else if _, removed := errors.AsType[*store.UnknownSweep](err); removed {
			return nil // it is dropped
		} else if err != nil {
			return err
		}
	}
	if e.Origin = core.OriginAssigned; m.core.IsCurrent(&e.Event) {
		return nil
	}
	p, err := m.sweeps.AttemptWorker(ctx, e.Sweep, e.Index, e.Attempt)
	if d, ok := errors.AsType[*store.DamagedTask](err); ok {
		m.damageTask(d)
		// nothing is kept of it, as of an attempt that does not count
		e.Origin = core.OriginReturned
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the placement of %s, attempt %d: %w", e.ID(), e.Attempt, err)
	}
	e.Origin = core.OriginOf(e.Worker, e.Attempt, p.Worker, p.Newest)
	return nil
}

func mark(set *map[string]bool, id string) {
	if *set == nil {
		*set = map[string]bool{}
	}
	(*set)[id] = true
}
