package listing

import (
	"context"
	"errors"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// prepared is a query that is known to be good.
type prepared struct {
	api.Query
	s      store.Sweep
	schema table.Schema
	brief  bool // as in prepareFor
	fill   func(table.Fields) func(*table.Row, *core.Task)

	// What the filter says of a task's index, of its state, and of the rest. States is what the
	// filter and the query allow.
	byIndex, rest *table.Filter
	first, last   int64                // the indexes that byIndex may pick
	nothing       bool                 // no state is left
	order         func() *table.Sorter // nil: by index

	// unstartedAlike tells that the filter picks all tasks without a row, and maxUnstarted how many
	// of them are looked at, the first; 0: all.
	unstartedAlike bool
	maxUnstarted   int64
}

// withUnstarted reports whether tasks that have no row may be chosen.
func (p *prepared) withUnstarted() bool {
	return !p.Issued && (len(p.States) == 0 || slices.Contains(p.States, p.s.Head.UnissuedState()))
}

// sameForUnstarted reports whether all tasks of a sweep that have no row have the same in fields.
// The zero value stands for what follows from the index.
func sameForUnstarted(f table.Fields) bool {
	return f != 0 && !f.Has(table.FieldID|table.FieldArgv|table.FieldParameters)
}

// checkUnstarted leaves out the tasks that have no row where the filter picks none of them, so that
// a sweep of many tasks of which few began costs what these cost.
func (p *prepared) checkUnstarted() {
	if !p.byIndex.IsZero() || len(p.s.Record.Workers) > 0 || p.s.Head.Total == 0 {
		return
	}
	if p.unstartedAlike = p.rest.IsZero(); p.unstartedAlike {
		return
	}
	if p.rest.LooksAtIndex() || !sameForUnstarted(p.rest.Fields()) {
		return
	}
	var r table.Row
	t := core.Task{Index: p.s.Record.Ranges.At(0), State: p.s.Head.UnissuedState()}
	p.fill(p.rest.Fields())(&r, &t)
	p.unstartedAlike = p.rest.Match(&r)
	p.Issued = p.Issued || !p.unstartedAlike
}

func (a *Archive) prepare(ctx context.Context, id string, q api.Query) (p prepared, err error) {
	switch {
	case q.Top < 0:
		return p, api.Wrong("top", "it must not be negative")
	case q.Limit < 0:
		return p, api.Wrong("limit", "it must not be negative")
	case q.Best && q.Sort != "":
		return p, api.Wrong("best", "mutually exclusive with sort")
	}
	s, err := a.Stored(ctx, id)
	if err != nil {
		return p, err
	}
	return a.prepareFor(ctx, s, q, false)
}

// prepareFor prepares a query of a sweep. The error is *noColumn when the query names a column
// that the sweep does not have; it lists those that it has unless brief.
func (a *Archive) prepareFor(ctx context.Context, s store.Sweep, q api.Query,
	brief bool) (p prepared, err error) {
	p.Query, p.s, p.brief = q, s, brief
	p.States = slices.Compact(slices.Sorted(slices.Values(q.States))) // each once
	complete(&p.s.Record)
	if p.fill, err = a.filler(ctx, p.s); err != nil {
		return p, err
	}
	p.schema = schemaOf(p.s, nil)
	var filter *table.Filter
	err = a.known(ctx, p.s, &p.schema, p.brief, func(schema table.Schema) (err error) {
		filter, err = table.ParseFilter(q.Where, schema)
		return err
	})
	if err != nil {
		return p, wrongFilter(err)
	}
	p.filter(filter)
	p.checkUnstarted()
	return p, a.prepareOrder(ctx, &p)
}

func (a *Archive) prepareOrder(ctx context.Context, p *prepared) error {
	if p.Best {
		p.order = func() *table.Sorter { return table.NewRanking(p.s.Record.Objective) }
	}
	if p.Sort == "" {
		return nil
	}
	err := a.known(ctx, p.s, &p.schema, p.brief, func(schema table.Schema) error {
		_, err := table.NewSorter(schema, p.Sort)
		return err
	})
	if api.UnknownColumn(err) != "" {
		return &noColumn{api.Wrong("sort", err.Error())}
	} else if err != nil {
		return err
	}
	schema := p.schema
	p.order = func() *table.Sorter {
		sorter, _ := table.NewSorter(schema, p.Sort) // there is such a column
		return sorter
	}
	return nil
}

// filter takes a filter apart by what of a task it looks at.
func (p *prepared) filter(f *table.Filter) {
	var byState *table.Filter
	p.byIndex, byState, p.rest = f.Split()
	p.first, p.last = p.byIndex.IndexRange()
	if byState.IsZero() {
		return
	}
	among := p.States
	if len(among) == 0 {
		among = task.States
	}
	p.States, p.nothing = nil, true
	for _, s := range among {
		if byState.Match(&table.Row{State: s.String()}) {
			p.States, p.nothing = append(p.States, s), false
		}
	}
}

// wrongFilter returns the refusal of a filter, with the place; another error as it is.
func wrongFilter(err error) error {
	f, ok := errors.AsType[*table.FilterError](err)
	if !ok {
		return err
	}
	e := api.Wrong("where", f.Error())
	if e.Column = f.Column; f.Unknown != "" {
		return &noColumn{e}
	}
	return e
}

// noColumn is the refusal of a query that names a column which a sweep does not have.
type noColumn struct{ refusal *api.Error }

func (e *noColumn) Error() string { return e.refusal.Error() }
func (e *noColumn) Unwrap() error { return e.refusal }
