package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// A query is answered in two steps, so that nobody holds the rows of a sweep: first the tasks are
// found, of which nothing is read but what filter and order look at; then those that are shown are
// read, some hundreds at a time. A task that changes in between is shown as it is then. No query of
// the store stays open while a caller reads slowly: the log of the store could not shrink.

// fetchSize is how many rows are read at a time.
const fetchSize = 500

// window is what is wanted of the rows that a query chooses.
type window struct {
	from int64 // indexes below it are left out
	skip int64 // rows, of a query with an order
	most int64 // rows; 0: all
}

// rows yields what a query chooses.
func (a *Archive) rows(ctx context.Context, p prepared, w window) iter.Seq2[table.Row, error] {
	if p.Top > 0 {
		if left := max(0, int64(p.Top)-w.skip); w.most == 0 || left < w.most {
			w.most = left
		}
		if w.most == 0 {
			return none
		}
	}
	switch {
	case p.nothing:
		return none
	case p.order != nil:
		return a.inOrder(ctx, p, w)
	case p.byIndex.IsZero() && p.rest.IsZero():
		return first(w.most, a.plain(ctx, p, w))
	}
	return first(w.most, a.filtered(ctx, p, w))
}

func none(func(table.Row, error) bool) {}

// first yields at most so many rows; 0: all.
func first(most int64, rows iter.Seq2[table.Row, error]) iter.Seq2[table.Row, error] {
	if most == 0 {
		return rows
	}
	return func(yield func(table.Row, error) bool) {
		left := most
		for r, err := range rows {
			if left--; !yield(r, err) || left == 0 {
				return
			}
		}
	}
}

// plain yields the rows of tasks in some states, by index.
func (a *Archive) plain(ctx context.Context, p prepared, w window) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		fill := p.fill(table.AllFields)
		size := fetchSize
		if w.most > 0 {
			size = int(min(w.most, fetchSize))
		}
		var tasks []core.Task
		var r table.Row
		for from, more := w.from, true; more; {
			tasks, more = tasks[:0], false
			err := a.scan(ctx, p, store.TaskQuery{From: from, Fields: table.AllFields}, false,
				func(t *core.Task) bool {
					tasks = append(tasks, *t)
					more = len(tasks) == size
					from = t.Index + 1
					return !more
				})
			if err != nil {
				yield(table.Row{}, err)
				return
			}
			for i := range tasks {
				if fill(&r, &tasks[i]); !yield(r, nil) {
					return
				}
			}
		}
	}
}

// filtered yields the rows that the filter picks, by index. Its error is that of find.
func (a *Archive) filtered(ctx context.Context, p prepared, w window) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		size := fetchSize
		if w.most > 0 {
			size = int(min(w.most, fetchSize))
		}
		for from, more := w.from, true; more; {
			var found []int64
			more = false
			q := store.TaskQuery{From: from, Fields: p.rest.Fields(), Metrics: p.rest.Metrics()}
			err := a.find(ctx, p, q, func(r *table.Row) bool {
				found = append(found, r.Index)
				more = len(found) == size
				from = r.Index + 1
				return !more
			})
			if far, ok := errors.AsType[*unmatched](err); ok && len(found) > 0 {
				from, more, err = far.next, true, nil
			}
			if err != nil {
				yield(table.Row{}, err)
				return
			}
			if !a.fetch(ctx, p, found, yield) {
				return
			}
		}
	}
}

// inOrder yields rows in the query's order.
func (a *Archive) inOrder(ctx context.Context, p prepared, w window) iter.Seq2[table.Row, error] {
	return func(yield func(table.Row, error) bool) {
		indexes, err := a.leaders(ctx, p, w)
		if err == nil && indexes == nil {
			indexes, err = a.sorted(ctx, p, w)
		}
		if err != nil {
			yield(table.Row{}, err)
			return
		}
		indexes = indexes[min(w.skip, int64(len(indexes))):]
		for part := range slices.Chunk(indexes, fetchSize) {
			if !a.fetch(ctx, p, part, yield) {
				return
			}
		}
	}
}

const (
	// maxExpected bounds the memory that is taken before the first row is read, and maxSorted what
	// an order over all tasks of a sweep may take: a key has 24 bytes.
	maxExpected = 1_000_000
	maxSorted   = 10_000_000
	// maxCompared is how many tasks a page in order looks at that have no row: some seconds.
	maxCompared = 100_000_000
	// maxUnmatched is how many tasks that have no row a filter may leave out before it picks one.
	maxUnmatched = 20_000_000
)

// sorted finds the tasks of a window in the query's order, after those that it skips.
func (a *Archive) sorted(ctx context.Context, p prepared, w window) ([]int64, error) {
	if kept := w.skip + w.most; !p.Issued && p.s.Head.Total > maxSorted &&
		(w.most == 0 || kept > maxSorted) {
		return nil, api.Wrong("sort",
			fmt.Sprintf("the sweep has %d tasks, and %d can be sorted: add begun=true, or top",
				p.s.Head.Total, maxSorted))
	}
	sorter := p.order()
	if w.most > 0 {
		sorter.Keep(int(w.skip + w.most))
		if p.unstartedAlike && sameForUnstarted(sorter.Fields()) {
			p.maxUnstarted = w.skip + w.most
		}
	}
	if unstarted := p.s.Head.Total - p.s.Rows(); p.maxUnstarted == 0 && p.withUnstarted() &&
		unstarted > maxCompared {
		return nil, api.Wrong("sort",
			fmt.Sprintf("%d tasks of the sweep have not begun, and %d can be sorted: "+
				"add begun=true", unstarted, maxCompared))
	}
	if p.byIndex.IsZero() && p.rest.IsZero() && len(p.States) == 0 && !p.Issued {
		sorter.Expect(int(min(p.s.Head.Total, maxExpected)))
	}
	q := store.TaskQuery{Fields: p.rest.Fields() | sorter.Fields(),
		Metrics: append(p.rest.Metrics(), sorter.Metrics()...)}
	err := a.find(ctx, p, q, func(r *table.Row) bool {
		sorter.Add(r, r.Index)
		return true
	})
	return sorter.Sorted(), err
}

// leaders returns the first tasks of the ranking, which the store has in order; nil when they are
// not all that is asked for.
func (a *Archive) leaders(ctx context.Context, p prepared, w window) (indexes []int64, err error) {
	o := p.s.Record.Objective
	if !p.Best || w.most == 0 || p.Where != "" || o.IsZero() || len(p.States) > 0 {
		return nil, nil
	}
	order := -1
	if o.Maximize {
		order = 1
	}
	most := int(w.skip + w.most)
	err = a.Store.Scan(ctx, p.s, store.TaskQuery{Best: order, Limit: most,
		Fields: table.FieldState},
		func(t *core.Task) bool {
			indexes = append(indexes, t.Index)
			return true
		})
	if len(indexes) < most {
		return nil, err
	}
	return indexes, err
}

// find calls each with the tasks that the filter picks, by index from a point on, until it returns
// false. Of a row, which is used again for the next, it has the fields that the query names. The
// error is *unmatched where it picks none of very many tasks that have no row.
func (a *Archive) find(ctx context.Context, p prepared, q store.TaskQuery,
	each func(*table.Row) bool) error {
	var r table.Row
	q.From = max(q.From, p.first)
	if q.Fields == 0 && !p.Issued && len(p.States) == 0 {
		return a.points(ctx, p, q.From, &r, each)
	}
	fill := p.fill(q.Fields)
	byIndex := p.byIndex.Match
	// the store has no columns of what follows from the index
	q.Fields = q.Fields&^(table.FieldID|table.FieldParameters) | table.FieldState
	missed, most := int64(0), int64(math.MaxInt64)
	if p.withUnstarted() {
		most = cmp.Or(a.unmatched, maxUnmatched)
	}
	var far error
	err := a.scan(ctx, p, q, true, func(t *core.Task) bool {
		if r.Index = t.Index; byIndex(&r) {
			if fill(&r, t); p.rest.Match(&r) {
				missed = 0
				return each(&r)
			}
		}
		if missed++; missed > most {
			far = &unmatched{t.Index, most}
		}
		return far == nil && t.Index < p.last
	})
	return cmp.Or(err, far)
}

// cancelEvery is after how many tasks that are only counted it is seen whether anybody still waits.
const cancelEvery = 4096

// unmatched is the refusal of a filter that picked none of very many tasks that have no row. A
// person who waits for a page has waited long enough; next is where it can go on.
type unmatched struct {
	next   int64 // index
	looked int64 // tasks
}

func (e *unmatched) Error() string { return e.Unwrap().Error() }

func (e *unmatched) Unwrap() error {
	return api.Wrong("where", fmt.Sprintf("it picks none of %d tasks that have not begun, up to "+
		"index %d, and more are not looked at: add begun=true, or go on with after=%d",
		e.looked, e.next-1, e.next))
}

// points is find by the index alone: the store is not asked.
func (a *Archive) points(ctx context.Context, p prepared, from int64, r *table.Row,
	each func(*table.Row) bool) error {
	missed, most := int64(0), cmp.Or(a.unmatched, maxUnmatched)
	for n := ordinalFrom(p.s, from); n < p.s.Head.Total; n++ {
		if n%cancelEvery == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r.Index = p.s.Record.Ranges.At(n)
		switch {
		case r.Index > p.last:
			return nil
		case p.byIndex.Match(r):
			if missed = 0; !each(r) {
				return nil
			}
		case missed == most:
			return &unmatched{r.Index, missed}
		default:
			missed++
		}
	}
	return nil
}

// scan calls each with the tasks of a query that are in the states wanted, also with those that
// have no row yet. Reused tells that each keeps nothing of a task.
func (a *Archive) scan(ctx context.Context, p prepared, q store.TaskQuery, reused bool,
	each func(*core.Task) bool) error {
	fresh := p.withUnstarted()
	if !fresh {
		q.States = p.States
	}
	wanted := func(s task.State) bool { return len(p.States) == 0 || slices.Contains(p.States, s) }
	g := gaps{ctx: ctx, s: p.s, at: ordinalFrom(p.s, q.From), most: p.maxUnstarted, each: each}
	row := func(t *core.Task) bool {
		if fresh && !g.before(t.Index) {
			return false
		}
		g.at++
		g.stopped = wanted(t.State) && !each(t)
		return !g.stopped
	}
	var err error
	if reused {
		err = a.Store.Scan(ctx, p.s, q, row)
	} else {
		for t, e := range a.Store.Tasks(ctx, p.s, q) {
			if err = e; e != nil || !row(&t) {
				break
			}
		}
	}
	if err == nil && fresh && !g.stopped {
		g.before(-1)
	}
	if err == nil {
		err = g.err
	}
	return err
}

// gaps fills in the tasks of a sweep that have no row.
type gaps struct {
	ctx     context.Context
	s       store.Sweep
	at      int64 // the next task, counted from 0
	most    int64 // how many are filled in; 0: all
	filled  int64
	each    func(*core.Task) bool
	stopped bool
	err     error
}

// before calls each with the tasks before an index, with -1 all that are left, and is false when
// that was enough.
func (g *gaps) before(index int64) bool {
	for ; g.at < g.s.Head.Total && (g.most == 0 || g.filled < g.most); g.at++ {
		next := g.s.Record.Ranges.At(g.at)
		if index >= 0 && next >= index {
			break
		}
		if g.at%cancelEvery == 0 && g.ctx.Err() != nil {
			g.err, g.stopped = context.Cause(g.ctx), true
			return false
		}
		g.filled++
		if !g.each(&core.Task{Index: next, State: g.s.Head.UnissuedState()}) {
			g.stopped = true
			return false
		}
	}
	return true
}

// fetch yields the rows of tasks in the order in which they are given, and is false when nothing
// more is wanted.
func (a *Archive) fetch(ctx context.Context, p prepared, indexes []int64,
	yield func(table.Row, error) bool) bool {
	if len(indexes) == 0 {
		return true
	}
	rows := make(map[int64]core.Task, len(indexes))
	for t, err := range a.Store.Tasks(ctx, p.s, store.TaskQuery{Indexes: indexes,
		Fields: table.AllFields}) {
		if err != nil {
			yield(table.Row{}, err)
			return false
		}
		rows[t.Index] = t
	}
	fill := p.fill(table.AllFields)
	var t core.Task
	var r table.Row
	for _, index := range indexes {
		var have bool
		if t, have = rows[index]; !have {
			t = core.Task{Index: index, State: p.s.Head.UnissuedState()}
		}
		if fill(&r, &t); !yield(r, nil) {
			return false
		}
	}
	return true
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
