package api

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strconv"

	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Query chooses tasks of one sweep; the zero value is every task, by index.
type Query struct {
	States []task.State // none: all
	Begun  bool         // only tasks that were handed out at least once, or ended
	Where  string       // a result.Filter; "": all
	Sort   string       // a column, or -COLUMN; "": by index
	Best   bool         // the best by the sweep's objective first, and what has no rank last; excludes Sort
	Top    int          // only the first so many; 0: all
	Limit  int          // of a page; 0: what mostRows says
	After  string       // the Next of the page before; "": from the beginning
}

// mostRows bounds a page.
const mostRows = 1000

// prepared is a query that is known to be good.
type prepared struct {
	Query
	s      store.Sweep
	schema result.Schema
	filter *result.Filter
	row    func(sweep.Task) result.Row
}

func (a *Archive) prepare(ctx context.Context, id string, q Query) (p prepared, err error) {
	p.Query = q
	switch {
	case q.Top < 0:
		return p, wrong("top", "it must not be negative")
	case q.Limit < 0:
		return p, wrong("limit", "it must not be negative")
	case q.Best && q.Sort != "":
		return p, wrong("best", "it excludes sort")
	}
	if p.s, err = a.sweep(ctx, id); err != nil {
		return p, err
	}
	complete(&p.s.Record)
	if p.row, err = a.rowsOf(ctx, p.s); err != nil {
		return p, err
	}
	p.schema = p.s.Record.Schema()
	if q.Where == "" && q.Sort == "" {
		return p, nil
	}
	if p.schema, err = a.schema(ctx, p.s); err != nil {
		return p, err
	}
	if p.filter, err = result.ParseFilter(q.Where, p.schema); err != nil {
		return p, wrongFilter(err)
	}
	if err := result.Sort(nil, p.schema, q.Sort); err != nil && q.Sort != "" {
		return p, wrong("sort", err.Error())
	}
	return p, nil
}

// wrongFilter is a filter that is refused, with the place.
func wrongFilter(err error) *Error {
	e := wrong("where", err.Error())
	if f, ok := errors.AsType[*result.FilterError](err); ok {
		e.Column = f.Column
	}
	return e
}

// schema is the sweep's columns, with the metrics that its tasks printed and nobody declared.
func (a *Archive) schema(ctx context.Context, s store.Sweep) (result.Schema, error) {
	schema := s.Record.Schema()
	seen := map[string]bool{}
	for _, m := range schema.Metrics {
		seen[m] = true
	}
	for t, err := range a.Store.Tasks(ctx, s, store.Query{}) {
		if err != nil {
			return schema, err
		}
		if t.Try.Outcome == nil {
			continue
		}
		for _, m := range t.Try.Outcome.Metrics {
			if !seen[m.Name] {
				seen[m.Name] = true
				schema.Metrics = append(schema.Metrics, m.Name)
			}
		}
	}
	return schema, nil
}

// rows yields what a query chooses. Only what has to be ordered is read before the first.
func (a *Archive) rows(ctx context.Context, p prepared, from int64) iter.Seq2[result.Row, error] {
	rows := a.chosen(ctx, p, from)
	if p.Sort != "" || p.Best {
		rows = p.ordered(rows, a.leaders(ctx, p))
	}
	if p.Top == 0 {
		return rows
	}
	return func(yield func(result.Row, error) bool) {
		left := p.Top
		for r, err := range rows {
			if left--; !yield(r, err) || left == 0 {
				return
			}
		}
	}
}

// leaders are the first rows of the ranking, which the store has in order; nil when they are not all that is asked for.
func (a *Archive) leaders(ctx context.Context, p prepared) []result.Row {
	o := p.s.Record.Objective
	if !p.Best || p.Top == 0 || p.Where != "" || o.IsZero() || len(p.States) > 0 {
		return nil
	}
	order := -1
	if o.Maximize {
		order = 1
	}
	var rows []result.Row
	for t, err := range a.Store.Tasks(ctx, p.s, store.Query{Best: order, Limit: p.Top}) {
		if err != nil {
			return nil // whoever reads all of them meets it, too
		}
		rows = append(rows, p.row(t))
	}
	if len(rows) < p.Top {
		return nil
	}
	return rows
}

// chosen yields the rows that a query's states and filter pick, by index from a point on.
func (a *Archive) chosen(ctx context.Context, p prepared, from int64) iter.Seq2[result.Row, error] {
	tasks := a.every(ctx, p.s, from)
	if p.Begun || len(p.States) > 0 && !slices.Contains(p.States, p.s.Head.Fresh()) {
		tasks = a.Store.Tasks(ctx, p.s, store.Query{States: p.States, From: from})
	}
	return func(yield func(result.Row, error) bool) {
		for t, err := range tasks {
			if err != nil {
				yield(result.Row{}, err)
				return
			}
			if len(p.States) > 0 && !slices.Contains(p.States, t.State) {
				continue
			}
			if r := p.row(t); p.filter.Match(&r) && !yield(r, nil) {
				return
			}
		}
	}
}

// every yields all tasks of a sweep by index, also those that have no row yet.
func (a *Archive) every(ctx context.Context, s store.Sweep, from int64) iter.Seq2[sweep.Task, error] {
	return func(yield func(sweep.Task, error) bool) {
		n := ordinalFrom(s, from)
		fill := func(before int64) bool {
			for ; n < s.Head.Total && (before < 0 || s.Record.Ranges.At(n) < before); n++ {
				if !yield(sweep.Task{Index: s.Record.Ranges.At(n), State: s.Head.Fresh()}, ctx.Err()) {
					return false
				}
			}
			return true
		}
		for t, err := range a.Store.Tasks(ctx, s, store.Query{From: from}) {
			if err == nil && !fill(t.Index) || !yield(t, err) || err != nil {
				return
			}
			n++
		}
		fill(-1)
	}
}

// ordinalFrom counts the tasks of a sweep before an index.
func ordinalFrom(s store.Sweep, from int64) (n int64) {
	if len(s.Record.Ranges) == 0 {
		return from
	}
	for _, r := range s.Record.Ranges {
		n += max(0, min(from, r.To)-r.From)
	}
	return n
}

// ordered reads rows and puts them in the query's order.
func (p prepared) ordered(rows iter.Seq2[result.Row, error], leaders []result.Row) iter.Seq2[result.Row, error] {
	return func(yield func(result.Row, error) bool) {
		all := leaders
		if leaders == nil {
			for r, err := range rows {
				if err != nil {
					yield(r, err)
					return
				}
				all = append(all, r)
			}
			if p.Best {
				all = result.Rank(all, p.s.Record.Objective)
			} else if err := result.Sort(all, p.schema, p.Sort); err != nil {
				yield(result.Row{}, err)
				return
			}
		}
		for _, r := range all {
			if !yield(r, nil) {
				return
			}
		}
	}
}

// Tasks reads a page of tasks.
func (a *Archive) Tasks(ctx context.Context, id string, q Query) (Page, error) {
	p, err := a.prepare(ctx, id, q)
	if err != nil {
		return Page{}, err
	}
	byIndex := q.Sort == "" && !q.Best
	after, err := strconv.ParseInt(q.After, 10, 64)
	if q.After != "" && (err != nil || after < 0) {
		return Page{}, wrong("after", q.After+" is not what a page gave as next")
	}
	limit := mostRows
	if q.Limit > 0 {
		limit = min(q.Limit, mostRows)
	}
	page, from, skip := Page{Tasks: []result.Row{}}, after, int64(0)
	if !byIndex {
		from, skip = 0, after
	}
	for r, err := range a.rows(ctx, p, from) {
		switch {
		case err != nil:
			return Page{}, err
		case skip > 0:
			skip--
		case len(page.Tasks) == limit && byIndex:
			page.Next = strconv.FormatInt(r.Index, 10)
			return page, nil
		case len(page.Tasks) == limit:
			page.Next = strconv.FormatInt(after+int64(limit), 10)
			return page, nil
		default:
			page.Tasks = append(page.Tasks, r)
		}
	}
	return page, nil
}
