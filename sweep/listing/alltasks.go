package listing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// What a page of the tasks of all sweeps may cost.
const (
	// tasks that a filter or an order looks at; one sweep may have more
	maxSearched  = 5_000_000
	maxOrdered   = 100_000        // rows of a list in the order of a column
	endOfNumbers = int64(1) << 60 // a table.Sorter knows rows by numbers below it
)

// AllTasks reads a page of the tasks of all sweeps: the newest sweep's first, each sweep's by
// index, or in the order of a column. A sweep without a column that the query names has no tasks
// for it; the query is refused when no sweep has the column. Sweeps whose counts of tasks say that
// they have none in the states wanted are not read, nor are those that are damaged. Issued, Best
// and Top are not used.
func (a *Archive) AllTasks(ctx context.Context, q api.Query) (api.AllTasks, error) {
	if q.Limit < 0 {
		return api.AllTasks{}, api.Wrong("limit", "it must not be negative")
	}
	s := &search{archive: a, q: q, limit: pageSize(q), page: api.AllTasks{Tasks: []table.Row{}}}
	s.q.After, s.q.Limit = "", 0
	possible, err := s.begin()
	if err != nil || !possible {
		return s.page, err
	}
	if q.Sort == "" {
		err = s.bySweep(ctx, q.After)
	} else {
		err = s.inOrder(ctx, q.After)
	}
	if err == nil && s.page.Next == "" && s.asked == s.page.WithoutColumn && s.refused != nil {
		err = s.refused
	}
	return s.page, err
}

// search makes one page.
type search struct {
	archive *Archive
	q       api.Query
	limit   int          // rows
	states  []task.State // that tasks may be in; none: any
	page    api.AllTasks
	asked   int   // sweeps that were read
	looked  int64 // tasks of these
	refused error // why the first sweep without a column was left out
}

// begin checks what can be known of the query without a sweep; possible is false when no task can
// be chosen.
func (s *search) begin() (possible bool, err error) {
	p := prepared{Query: s.q}
	f, err := table.ParseFilter(s.q.Where, table.Schema{})
	if err == nil {
		p.filter(f)
	} else if err = wrongFilter(err); !lacksColumn(err) {
		return false, err
	}
	s.states = p.States
	return !p.nothing, nil
}

func lacksColumn(err error) bool {
	_, lacks := errors.AsType[*noColumn](err)
	return lacks
}

// candidates returns how many tasks of a sweep are in the states wanted.
func (s *search) candidates(h core.Head) (n int64) {
	for state, count := range h.Counts() {
		if len(s.states) == 0 || slices.Contains(s.states, task.State(state)) {
			n += count
		}
	}
	return n
}

// visitor adds the tasks of a sweep to a page; more is false when the page needs no other sweep.
type visitor func(id string, p prepared) (more bool, err error)

// sweeps calls visit with every sweep that may have tasks for the page, the newest first, from one
// on, "" for the newest.
func (s *search) sweeps(ctx context.Context, from string, visit visitor) error {
	for l, err := range s.archive.Store.NewestFirst(ctx, from) {
		if err == nil && s.archive.Stands != nil {
			err = s.archive.Stands(ctx, &l.Head)
		}
		if err != nil {
			return err
		}
		if n := s.candidates(l.Head); n > 0 && l.Damage == "" {
			if more, err := s.sweep(ctx, l.Head.ID, visit); err != nil || !more {
				return err
			}
			s.looked += n
		}
		s.page.Searched++
	}
	return nil
}

// sweep calls visit with a sweep, unless that lacks a column.
func (s *search) sweep(ctx context.Context, id string, visit visitor) (more bool, err error) {
	stored, err := s.archive.Stored(ctx, id)
	if err != nil {
		return false, err
	}
	s.asked++
	p, err := s.archive.prepareFor(ctx, stored, s.q, s.refused != nil)
	switch {
	case err == nil:
		return visit(id, p)
	case !lacksColumn(err):
		return false, err
	case s.refused == nil:
		s.refused = err
	}
	s.page.WithoutColumn++
	return true, nil
}

// bySweep makes a page of the tasks of one sweep after the other. It begins at "SWEEP/INDEX".
func (s *search) bySweep(ctx context.Context, after string) error {
	from, index := "", int64(0)
	if after != "" {
		var err error
		var text string
		from, text, _ = strings.Cut(after, "/")
		if index, err = api.ParseWholeNumber(text); err != nil || index < 0 || from == "" {
			return api.WrongAfter(after)
		}
	}
	filtered := s.q.Where != ""
	err := s.sweeps(ctx, from, func(id string, p prepared) (more bool, err error) {
		if filtered && s.looked >= maxSearched {
			s.page.Next = id + "/0"
			return false, nil
		}
		w := window{most: int64(s.limit-len(s.page.Tasks)) + 1}
		if id == from {
			w.from = index
		}
		for r, err := range s.archive.rows(ctx, p, w) {
			if far, ok := errors.AsType[*unmatched](err); ok {
				s.page.Next = id + "/" + strconv.FormatInt(far.next, 10)
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if len(s.page.Tasks) == s.limit {
				s.page.Next = id + "/" + strconv.FormatInt(r.Index, 10)
				return false, nil
			}
			s.page.Tasks = append(s.page.Tasks, r)
		}
		return true, nil
	})
	if unknown, ok := errors.AsType[*store.UnknownSweep](err); ok && unknown.ID == from {
		return api.WrongAfter(after)
	}
	return err
}

// numbered is a sweep whose tasks have numbers among those of all sweeps, from first on.
type numbered struct {
	id    string
	first int64
}

// inOrder makes a page in the order of a column. It begins at a number of rows.
func (s *search) inOrder(ctx context.Context, after string) error {
	skip, err := api.ParseOffset(after)
	if err != nil {
		return err
	}
	if skip >= maxOrdered {
		return api.Wrong("after", fmt.Sprintf("a sorted list of all sweeps ends after %d tasks: "+
			"filter it, or list the tasks of one sweep", maxOrdered))
	}
	sorter := table.NewSorterOfTables(s.q.Sort)
	sorter.Keep(int(skip) + s.limit + 1)
	var all []numbered
	first := int64(0)
	err = s.sweeps(ctx, "", func(id string, p prepared) (bool, error) {
		n, span := s.candidates(p.s.Head), p.s.Record.Ranges.At(p.s.Head.Total-1)+1
		if n > maxSorted || s.looked > 0 && n > maxSearched-s.looked ||
			span > endOfNumbers-first {
			return false, nil
		}
		all = append(all, numbered{id, first})
		err := s.archive.sortInto(ctx, p, sorter, first)
		first += span
		return true, err
	})
	if err != nil {
		return err
	}
	numbers := sorter.Sorted()
	numbers = numbers[min(skip, int64(len(numbers))):]
	if len(numbers) > s.limit {
		numbers = numbers[:s.limit]
		s.page.Next = strconv.FormatInt(skip+int64(s.limit), 10)
	}
	return s.fetch(ctx, all, numbers)
}

// sortInto adds the tasks that a query chooses, by their indexes behind first.
func (a *Archive) sortInto(ctx context.Context, p prepared, sorter *table.Sorter,
	first int64) error {
	if p.nothing {
		return nil
	}
	sorter.Continue(p.order())
	q := store.TaskQuery{Fields: p.rest.Fields() | sorter.Fields(),
		Metrics: append(p.rest.Metrics(), sorter.Metrics()...)}
	return a.find(ctx, p, q, func(r *table.Row) bool {
		sorter.Add(r, first+r.Index)
		return true
	})
}

// fetch reads the rows of tasks by their numbers, sweep by sweep.
func (s *search) fetch(ctx context.Context, all []numbered, numbers []int64) error {
	s.page.Tasks = make([]table.Row, len(numbers))
	places := map[int][]int{} // in numbers, by sweep
	for place, n := range numbers {
		at, found := slices.BinarySearchFunc(all, n, func(of numbered, n int64) int {
			return cmp.Compare(of.first, n)
		})
		if !found {
			at--
		}
		places[at] = append(places[at], place)
	}
	for at, of := range places {
		sweep, err := s.archive.Stored(ctx, all[at].id)
		if err != nil {
			return err
		}
		complete(&sweep.Record)
		p := prepared{s: sweep}
		if p.fill, err = s.archive.filler(ctx, sweep); err != nil {
			return err
		}
		indexes := make([]int64, len(of))
		for i, place := range of {
			indexes[i] = numbers[place] - all[at].first
		}
		next := 0
		s.archive.fetch(ctx, p, indexes, func(r table.Row, e error) bool {
			if err = e; err == nil {
				s.page.Tasks[of[next]] = r
				next++
			}
			return err == nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
