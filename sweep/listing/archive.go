// Package listing reads a store for pages, tables and exports: it finds, filters, orders and groups
// tasks, and says what a person should know of their results. An [Archive] answers in the types of
// the API, whose server asks it; commands ask it where no master has the store open.
package listing

import (
	"context"
	"slices"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
)

// Archive answers questions from a store, as a Client does from a master. It is safe for concurrent
// use.
type Archive struct {
	Store *store.Reader
	// Stands, when set, corrects how a sweep stands: the store of a master that was killed has
	// tasks as running that do not run.
	Stands func(context.Context, *core.Head) error
	// Waits, when set, tells by index which tasks of a sweep wait for a worker and why, and what
	// happens to those on silent workers.
	Waits func(ctx context.Context, id string) (map[int64]string, error)
	// Notices, when set, tells by id what sweeps wait for and which of their workers are silent.
	Notices func(context.Context) (map[string]core.Notices, error)

	unmatched int64 // 0: maxUnmatched
}

// filler returns what makes fields of rows of tasks of a sweep, as sweep.Record.Fill does.
func (a *Archive) filler(ctx context.Context, s store.Sweep) (func(table.Fields) func(*table.Row,
	*core.Task), error) {
	if a.Waits == nil || !s.Head.Ended.IsZero() {
		return func(f table.Fields) func(*table.Row, *core.Task) {
			return s.Record.Fill(s.Head.ID,
				f)
		}, nil
	}
	waits, err := a.Waits(ctx, s.Head.ID)
	return func(f table.Fields) func(*table.Row, *core.Task) {
		fill := s.Record.Fill(s.Head.ID, f)
		return func(r *table.Row, t *core.Task) {
			if !t.State.Terminal() {
				t.Blocked = waits[t.Index]
			}
			fill(r, t)
		}
	}, err
}

// Stored finds a sweep: by its id, or the newest.
func (a *Archive) Stored(ctx context.Context, id string) (store.Sweep, error) {
	if id == api.Newest {
		id = ""
	}
	s, err := a.Store.Sweep(ctx, id)
	if err == nil && a.Stands != nil {
		err = a.Stands(ctx, &s.Head)
	}
	return s, err
}

// Sweeps lists sweeps, the oldest first: those after a sweep, "" for the first, and at most limit,
// 0 for all. Of one that cannot be read the reason says why.
func (a *Archive) Sweeps(ctx context.Context, after string,
	limit int) (all []core.Summary, err error) {
	listed, err := a.Store.List(ctx, after, limit)
	if err != nil {
		return nil, err
	}
	heads := make([]*core.Head, len(listed))
	for i := range listed {
		heads[i] = &listed[i].Head
		if a.Stands != nil {
			if err := a.Stands(ctx, heads[i]); err != nil {
				return nil, err
			}
		}
	}
	if err := a.completeHeads(ctx, heads...); err != nil {
		return nil, err
	}
	for i := range listed {
		all = append(all, listed[i].Summary())
	}
	return all, nil
}

// completeHeads adds to heads what is not stored: why sweeps wait, and which of their workers are
// silent.
func (a *Archive) completeHeads(ctx context.Context, heads ...*core.Head) error {
	if a.Notices == nil || !slices.ContainsFunc(heads,
		func(h *core.Head) bool { return h.Ended.IsZero() }) {
		return nil
	}
	notices, err := a.Notices(ctx)
	for _, h := range heads {
		n := notices[h.ID]
		h.Waits, h.Silent = n.Waits, n.Silent
	}
	return err
}

// Summary returns a sweep as a list has it; "" and Newest are the newest.
func (a *Archive) Summary(ctx context.Context, id string) (core.Summary, error) {
	s, err := a.Stored(ctx, id)
	if err == nil {
		err = a.completeHeads(ctx, &s.Head)
	}
	return s.Record.Summary(s.Head), err
}

// Size returns the size of the outputs of tasks of a sweep, as far as it is known.
func (a *Archive) Size(ctx context.Context, id string, tasks core.Ranges) (int64, error) {
	s, err := a.Stored(ctx, id)
	if err != nil {
		return 0, err
	}
	return a.Store.Bytes(ctx, s, tasks)
}

// firstUnranked is how many tasks are named that have no number for the objective.
const firstUnranked = 3

// Sweep reads one sweep; "" and Newest are the newest. Checks are made when asked for.
func (a *Archive) Sweep(ctx context.Context, id string, checks bool) (api.Sweep, error) {
	s, err := a.Stored(ctx, id)
	if err == nil {
		err = a.completeHeads(ctx, &s.Head)
	}
	if err != nil {
		return api.Sweep{}, err
	}
	view := api.Sweep{Summary: s.Record.Summary(s.Head), Record: s.Record}
	complete(&view.Record)
	for _, n := range s.Head.Rows {
		view.Issued += n
	}
	if checks {
		view.Checks, err = a.checks(ctx, s)
	}
	return view, err
}

func (a *Archive) checks(ctx context.Context, s store.Sweep) (*api.Checks, error) {
	revisions, err := a.Store.Revisions(ctx, s)
	if err != nil {
		return nil, err
	}
	told, err := a.Store.Checks(ctx, s)
	if err != nil {
		return nil, err
	}
	count, nan, first, err := a.Store.Unranked(ctx, s, firstUnranked)
	c := &api.Checks{Revisions: revisions, Unranked: count, NaN: nan, First: []int64{},
		ResultChecks: told}
	for _, t := range first {
		c.First = append(c.First, t.Index)
	}
	return c, err
}

// StoredTask reads the row of a task; one that was never handed out has only its index and state.
func (a *Archive) StoredTask(ctx context.Context, s store.Sweep, index int64) (core.Task, error) {
	n, ok := s.Record.Ranges.Ordinal(index)
	if !ok || n < 0 || n >= s.Head.Total {
		return core.Task{}, &core.UnknownTask{Sweep: s.Head.ID, Index: strconv.FormatInt(index, 10),
			Total: s.Head.Total}
	}
	t, have, err := a.Store.Task(ctx, s, index)
	if !have {
		t = core.Task{Index: index, State: s.Head.UnissuedState()}
	}
	return t, err
}

// Task reads one task.
func (a *Archive) Task(ctx context.Context, id string, index int64) (api.Task, error) {
	s, err := a.Stored(ctx, id)
	if err != nil {
		return api.Task{}, err
	}
	t, err := a.StoredTask(ctx, s, index)
	if err != nil {
		return api.Task{}, err
	}
	tries, err := a.Store.EarlierAttempts(ctx, s, index)
	if err != nil {
		return api.Task{}, err
	}
	tries = attempts(tries, t.Attempt)
	filler, err := a.filler(ctx, s)
	if err != nil {
		return api.Task{}, err
	}
	view := api.Task{Attempts: []api.Attempt{}, Since: t.Since, Series: []metric.Sample{}}
	filler(table.AllFields)(&view.Row, &t)
	for _, t := range tries {
		view.Attempts = append(view.Attempts, newAttempt(t))
	}
	if n := len(tries); n > 0 {
		series, err := a.Store.Series(ctx, s, index, tries[n-1].Number)
		view.Series = append(view.Series, series...)
		return view, err
	}
	return view, nil
}

// complete makes a record what people are shown: it fills what encoding/json leaves nil, and hides
// what may be secret.
func complete(r *core.Record) {
	if r.Space == nil {
		r.Space = new(space.Space)
	}
	if r.Notify != nil {
		shown := r.Notify.Redacted()
		r.Notify = &shown
	}
}
