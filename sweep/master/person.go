package master

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"mlframework/sweep/core"
	"mlframework/sweep/secret"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Submission is a sweep to be run.
type Submission struct {
	Record    core.Record
	Total     int64  // tasks
	Code      string // of the record's revision
	ClientKey string // a submission that is repeated under the same key makes one sweep; "": no key
	MinNumber int64  // the number in the sweep's id is at least this
	Followed  bool   // the caller is about to follow its output, and wants that of the first tasks, too
	Secrets   secret.Values
	Environ   []string // what its tasks inherit, as NAME=value, of a master that is Alone; nil: what its worker has
}

// Submit keeps a sweep and begins it. When it returns, the sweep survives any crash.
func (m *Master) Submit(ctx context.Context, s Submission) (id string, err error) {
	if s.Record.Space == nil {
		return "", errors.New("submit: the record has no space")
	}
	deed := DeedOf(ctx)
	err = m.act(ctx, func(ctx context.Context) error {
		if err := m.pin(&s); err != nil {
			return err
		}
		if err := m.inheritable(s.Environ); err != nil {
			return err
		}
		draft, err := m.prepare(s)
		if err != nil {
			return err
		}
		defer draft.Drop()
		stored, err := m.o.Store.Add(ctx, store.New{
			Record: s.Record, Total: s.Total, Submitted: m.o.Now().UTC(), ClientKey: s.ClientKey, MinNumber: s.MinNumber,
			Code: s.Code,
		})
		if err != nil {
			return err
		}
		id = stored.Head.ID
		deed.on(id)
		if s.Followed {
			m.expected[id] = m.o.Now().Add(expectFor)
		}
		if m.sweeps[id] == nil {
			if _, err := m.activate(ctx, stored); err != nil {
				return err
			}
		}
		m.inherit(id, s.Environ)
		return m.equip(m.sweeps[id], draft)
	})
	return id, err
}

// NoWorker says that a sweep has to run on every worker, and there is none.
type NoWorker struct{ Definition string }

func (e *NoWorker) Error() string {
	return e.Definition + " runs once on every worker, and there is none: start workers first"
}

// pin gives a sweep that runs once on every worker its tasks: one for each that is there.
func (m *Master) pin(s *Submission) error {
	if !s.Record.EachWorker || m.o.Alone {
		return nil
	}
	s.Record.Workers, s.Record.Ranges = nil, nil
	for _, name := range m.names() {
		if w := m.workers[name]; w.registered() && w.away == "" && w.refused() == "" {
			s.Record.Workers = append(s.Record.Workers, name)
		}
	}
	if s.Total = int64(len(s.Record.Workers)); s.Total == 0 {
		return &NoWorker{s.Record.Recipe.Definition}
	}
	return nil
}

// Cancel ends a sweep. One that was cancelled before stays so.
func (m *Master) Cancel(ctx context.Context, id, reason string) (core.Head, error) {
	return m.alter(ctx, id, func(a *active) error {
		if h := a.ledger.Head(); h.State == core.Finished {
			return &WrongState{ID: h.ID, Is: "finished already"}
		}
		a.ledger.Cancel(reason, m.o.Now())
		return nil
	})
}

// CancelTask cancels one task.
func (m *Master) CancelTask(ctx context.Context, id task.ID, reason string) (core.Head, error) {
	return m.alter(ctx, id.Sweep, func(a *active) error {
		if !a.has(id.Index) {
			return a.unknown(id.Index)
		}
		if a.ledger.CancelTask(id.Index, reason, m.o.Now()) != nil { // one of the sweep's that is not open
			return m.over(ctx, a, id.Index)
		}
		return nil
	})
}

// over tells how a task has ended.
func (m *Master) over(ctx context.Context, a *active, index int64) error {
	t, _, err := m.task(ctx, a, index)
	if err != nil {
		return err
	}
	return &WrongState{ID: task.ID{Sweep: a.stored.Head.ID, Index: index}.String(), Is: t.State.String() + " already"}
}

// task reads a task as it is on disk; false when it has no row.
func (m *Master) task(ctx context.Context, a *active, index int64) (core.Task, bool, error) {
	t, ok, err := m.o.Store.Task(ctx, a.stored, index)
	if err == nil && !ok {
		t = core.Task{Index: index, State: a.ledger.Head().Fresh()}
	}
	return t, ok, err
}

// Pause hands out nothing more of a sweep; with stop its attempts are stopped too, and go back to pending.
func (m *Master) Pause(ctx context.Context, id, reason string, stop bool) (core.Head, error) {
	return m.alter(ctx, id, func(a *active) error {
		if h := a.ledger.Head(); h.State != core.Open && h.State != core.Paused {
			return &WrongState{ID: h.ID, Is: string(h.State)}
		}
		a.ledger.Pause(reason, stop)
		return nil
	})
}

// Code is what a sweep goes on with. The zero value keeps its own.
type Code struct {
	Revision, Code string         // for --updated
	Settings       *core.Settings // likewise; nil: its own
	Secrets        secret.Values  // where those that it had are gone; others are not taken
	Environ        []string       // what its tasks inherit from now on, as in Submission; nil: what they did
	Overrides      *space.Change  // that the points by which it is extended are of; nil: those that it has
}

// Resume hands out the tasks of a paused sweep again.
func (m *Master) Resume(ctx context.Context, id string, updated Code) (core.Head, error) {
	return m.alter(ctx, id, func(a *active) error {
		switch h := a.ledger.Head(); h.State {
		case core.Cancelled:
			return &WrongState{h.ID, "cancelled", "`run-tasks retry " + h.ID + "` runs what was cancelled"}
		case core.Finished:
			return finished(h)
		}
		if err := m.supply(a, updated.Secrets); err != nil {
			return err
		}
		if err := m.revise(ctx, a, updated); err != nil {
			return err
		}
		m.queueUp(a)
		a.ledger.Resume(m.o.Now())
		return nil
	})
}

// revise lets attempts of a sweep from now on run another revision, or with other settings.
func (m *Master) revise(ctx context.Context, a *active, to Code) error {
	if err := m.inheritable(to.Environ); err != nil {
		return err
	}
	m.inherit(a.stored.Head.ID, to.Environ)
	was := a.stored.Record
	revision, settings := cmp.Or(to.Revision, was.Recipe.Revision), was.Settings()
	if to.Settings != nil {
		settings = *to.Settings
	}
	now, changed := was.Revised(revision, settings, m.o.Now())
	if !changed {
		return nil
	}
	stored := a.stored
	stored.Record = now
	if err := m.o.Store.Revise(ctx, stored, to.Code, was.Objective != now.Objective); err != nil {
		return fmt.Errorf("move %s to revision %s: %w", a.stored.Head.ID, revision, err)
	}
	a.rewrite(now)
	a.ledger.Revise(now)
	DeedOf(ctx).note(was.Settings().Changes(settings))
	return nil
}

// with lets the loop look at one sweep and returns how the sweep stands.
func (m *Master) with(ctx context.Context, id string, f func(*active) error) (core.Head, error) {
	return m.handle(ctx, m.do, id, f)
}

// alter lets the loop change something about one sweep, as a person wants, and returns how the sweep stands afterwards.
func (m *Master) alter(ctx context.Context, id string, f func(*active) error) (core.Head, error) {
	return m.handle(ctx, m.act, id, func(a *active) error {
		DeedOf(ctx).on(a.stored.Head.ID)
		return f(a)
	})
}

func (m *Master) handle(ctx context.Context, do func(context.Context, func(context.Context) error) error, id string, f func(*active) error) (h core.Head, err error) {
	err = do(ctx, func(ctx context.Context) error {
		a, err := m.sweep(ctx, id)
		if err != nil {
			return err
		}
		err = f(a)
		h = a.ledger.Head()
		return err
	})
	return h, err
}
