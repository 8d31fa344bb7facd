package master

import (
	"context"
	"errors"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Submission is a sweep to be run.
type Submission struct {
	api.Submission
	// a submission that is repeated under the same key makes one sweep; "": no key
	IdempotencyKey string
}

// Submit keeps a sweep and begins it. When it returns, the sweep survives any crash.
func (m *Master) Submit(ctx context.Context, s Submission) (id string, err error) {
	id, _, err = m.submit(ctx, s, "")
	return id, err
}

// SubmitWatched is Submit, and follows the sweep in some detail from its beginning on, as Watch
// does.
func (m *Master) SubmitWatched(ctx context.Context, s Submission, d api.Detail) (id string,
	w *Watcher, stop func(), err error) {
	id, w, err = m.submit(ctx, s, d)
	if err != nil {
		return "", nil, nil, err
	}
	return id, w, m.unwatch(ctx, w, d), nil
}

func (m *Master) submit(ctx context.Context, s Submission, d api.Detail) (id string, w *Watcher,
	err error) {
	if s.Record.Space == nil {
		return "", nil, errors.New("submit: the record has no space")
	}
	if err := m.checkTaskSize("record.space", s.Record.Recipe, s.Record.Space); err != nil {
		return "", nil, err
	}
	audit := AuditOf(ctx)
	err = m.change(ctx, func(ctx context.Context) (core.Command, error) {
		again, err := m.repeated(ctx, audit, "")
		if err != nil {
			return nil, err
		}
		if !again { // else Add finds the sweep
			err := m.core.CheckNeeds(s.Record.Recipe.Definition, s.Record.Recipe.Needs)
			if err != nil {
				return nil, err
			}
		}
		if err := m.pin(&s.Record); err != nil {
			return nil, err
		}
		if len(s.Environ) > 0 && !m.o.Local {
			return nil, core.ErrEnviron
		}
		if n := s.Record.Notify; n != nil && len(n.Command) > 0 && !m.o.Local {
			return nil, core.ErrNotifyCommand
		}
		draft, err := m.draftNew(s)
		if err != nil {
			return nil, err
		}
		defer draft.Discard()
		stored, err := m.o.Store.Add(ctx, store.NewSweep{
			Record: s.Record, Total: api.Total(s.Record), Submitted: m.o.Now().UTC(),
			IdempotencyKey: s.IdempotencyKey, MinNumber: s.MinNumber, Code: s.Code,
		})
		if err != nil {
			return nil, err
		}
		id = stored.Head.ID
		if _, err := m.add(ctx, id); err != nil {
			return nil, err
		}
		start := core.StartSweep{Sweep: id, Environ: s.Environ, Followed: d.Output()}
		if draft != nil && m.core.LacksSecrets(id) && stored.Head.Ended.IsZero() {
			if start.Edition, err = draft.Commit(id); err != nil {
				return nil, err
			}
		}
		if d != "" {
			w, err = m.watchStored(ctx, stored, d)
		}
		return start, err
	})
	if err != nil && w != nil {
		w.close()
	}
	return id, w, err
}

// pin gives a sweep that runs once on every worker its tasks: one for each that is there.
func (m *Master) pin(r *core.Record) error {
	if !r.EachWorker || m.o.Local {
		return nil
	}
	need := r.Recipe.Needs
	if r.Workers, r.Ranges = m.core.Present(need), nil; len(r.Workers) == 0 {
		return &core.NoWorker{Definition: r.Recipe.Definition, Needs: need}
	}
	return nil
}

// changeSweep decides a command about a sweep, which the core is given before; "" is the newest.
// The command is checked before anything is prepared for it. What was done before under the same
// idempotency key is not done again.
func (m *Master) changeSweep(ctx context.Context, id string,
	command func(ctx context.Context, id string) (core.Command, error)) error {
	audit := AuditOf(ctx)
	err := m.change(ctx, func(ctx context.Context) (core.Command, error) {
		sweep, err := m.add(ctx, id)
		if err != nil {
			return nil, err
		}
		if again, err := m.repeated(ctx, audit, sweep); again || err != nil {
			return core.Note{}, err
		}
		return command(ctx, sweep)
	})
	return err
}

// Cancel ends a sweep. One that was cancelled before stays so.
func (m *Master) Cancel(ctx context.Context, id, reason string) error {
	return m.changeSweep(ctx, id, func(_ context.Context, id string) (core.Command, error) {
		return core.CancelSweep{Sweep: id, Reason: reason}, nil
	})
}

// CancelTask cancels one task.
func (m *Master) CancelTask(ctx context.Context, id task.ID, reason string) error {
	return m.changeSweep(ctx, id.Sweep, func(ctx context.Context, sweep string) (core.Command,
		error) {
		id.Sweep = sweep
		c := core.CancelTask{Task: id, Reason: reason}
		if _, ended := errors.AsType[*core.TaskEnded](m.core.Check(c)); !ended {
			return c, nil
		}
		_, t, _, err := m.task(ctx, id)
		if err == nil {
			wrong := core.TaskInState(id, t.State, "")
			wrong.Is += " already"
			err = wrong
		}
		return c, err
	})
}

// Pause hands out nothing more of a sweep; with stop its attempts are stopped too, and go back to
// pending.
func (m *Master) Pause(ctx context.Context, id, reason string, stop bool) error {
	return m.changeSweep(ctx, id, func(_ context.Context, id string) (core.Command, error) {
		return core.PauseSweep{Sweep: id, Reason: reason, Stop: stop}, nil
	})
}

// Prioritize changes the priority of a sweep; see core.PrioritizeSweep.
func (m *Master) Prioritize(ctx context.Context, id string, priority int) error {
	return m.changeSweep(ctx, id, func(_ context.Context, id string) (core.Command, error) {
		return core.PrioritizeSweep{Sweep: id, Priority: priority}, nil
	})
}

// goOn prepares what a sweep goes on with, for a command that could be done now: its secrets are
// kept where they are gone.
func (m *Master) goOn(id string, with api.Continuation,
	command func(core.Revision) core.Command) (core.Command, error) {
	r := core.Revision{Revision: with.Revision, Code: with.Code, Settings: with.Settings,
		Environ: with.Environ, KeepGoing: with.KeepGoing}
	err := m.core.Check(command(r))
	if err == nil {
		record, _ := m.core.Record(id)
		err = m.checkSettings("settings", record, with.Settings)
	}
	if err == nil {
		r.Edition, err = m.supply(id, with.Secrets)
	}
	return command(r), err
}

// Resume hands out the tasks of a paused sweep again.
func (m *Master) Resume(ctx context.Context, id string, with api.Continuation) error {
	return m.changeSweep(ctx, id, func(_ context.Context, id string) (core.Command, error) {
		return m.goOn(id, with, func(r core.Revision) core.Command {
			return core.ResumeSweep{Sweep: id, With: r}
		})
	})
}

// Extend gives a sweep the points of a space that its parameters did not describe so far; see
// core.ExtendSweep.
func (m *Master) Extend(ctx context.Context, id string, by api.Extension) error {
	return m.changeSweep(ctx, id, func(_ context.Context, id string) (core.Command, error) {
		command := func(r core.Revision) core.Command {
			r.Overrides = by.Overrides
			return core.ExtendSweep{Sweep: id, Space: by.Space, With: r}
		}
		if record, _ := m.core.Record(id); m.core.Check(command(core.Revision{})) == nil {
			if _, n, _ := record.Extended(by.Space); n == 0 {
				return core.ExtendSweep{Sweep: id, Space: by.Space}, nil
			}
			if by.Settings != nil {
				record, _ = record.Revised(record.Recipe.Revision, *by.Settings, m.o.Now())
			}
			if err := m.checkTaskSize("space", record.Recipe, by.Space); err != nil {
				return nil, err
			}
		}
		return m.goOn(id, by.Continuation, command)
	})
}

// Retry makes tasks pending again that ended other than well or are being cancelled: those of
// indexes, or all. With fresh, they start in new folders.
func (m *Master) Retry(ctx context.Context, id string, indexes []int64, fresh bool,
	with api.Continuation) error {
	return m.changeSweep(ctx, id, func(ctx context.Context, id string) (core.Command, error) {
		if err := m.checkRemovals(ctx, id); err != nil {
			return nil, err
		}
		tasks, err := m.retriableTasks(ctx, id, indexes)
		if err != nil {
			return nil, err
		}
		return m.goOn(id, with, func(r core.Revision) core.Command {
			return core.RetryTasks{Sweep: id, Tasks: tasks, All: len(indexes) == 0, Fresh: fresh,
				With: r}
		})
	})
}

// retriableTasks reads the rows of tasks to run again: those of indexes, or all that have ended.
func (m *Master) retriableTasks(ctx context.Context, id string, indexes []int64) (
	tasks []core.Task, err error) {
	for _, i := range indexes {
		t, err := m.retriableTask(ctx, task.ID{Sweep: id, Index: i})
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	if len(indexes) > 0 {
		return tasks, nil
	}
	s, err := m.o.Store.Sweep(ctx, id)
	if err != nil {
		return nil, err
	}
	bad := slices.DeleteFunc(slices.Clone(task.States), func(s task.State) bool {
		return !(&core.Task{State: s}).Retriable()
	})
	for t, err := range m.o.Store.Tasks(ctx, s, store.TaskQuery{States: bad}) {
		if err != nil {
			return nil, err
		}
		tasks = append(tasks, t)
	}
	return tasks, nil
}

func (m *Master) retriableTask(ctx context.Context, id task.ID) (core.Task, error) {
	if err := m.core.HasTask(id); err != nil {
		return core.Task{}, err
	}
	_, t, ok, err := m.task(ctx, id)
	if err != nil || ok && t.Retriable() {
		return t, err
	}
	wrong := core.TaskInState(id, t.State, "only tasks that failed or were cancelled run again")
	if t.Retriable() {
		wrong.Is += " with its sweep"
		wrong.Remedy = "`run-tasks retry " + id.Sweep + "` runs all that was"
	}
	return t, wrong
}

// Reread gives a sweep other metrics and another objective, and tasks that have ended the values
// that were read by them; see core.RereadMetrics.
func (m *Master) Reread(ctx context.Context, id string, metrics []metric.Rule, o metric.Objective,
	all []core.Remeasured) error {
	return m.changeSweep(ctx, id, func(ctx context.Context, id string) (core.Command, error) {
		c := core.RereadMetrics{Sweep: id, Metrics: metrics, Objective: o, Values: all}
		if err := m.core.Check(c); err != nil {
			return nil, err
		}
		record, _ := m.core.Record(id)
		settings := record.Settings()
		settings.Metrics = metrics
		if err := m.checkSettings("metrics", record, &settings); err != nil {
			return nil, err
		}
		for _, v := range all {
			_, t, ok, err := m.task(ctx, task.ID{Sweep: id, Index: v.Index})
			if err != nil {
				return nil, err
			}
			if ok {
				c.Rows = append(c.Rows, t)
			}
		}
		return c, nil
	})
}
