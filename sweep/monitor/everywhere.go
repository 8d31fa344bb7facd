package monitor

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

// What is asked for one page of the tasks of all sweeps. The API lists tasks by sweep; here they are one list, the newest
// sweep first.
const (
	sweepsAPage = 50   // sweeps that are looked through for one page; the next page goes on
	sweepsASort = 20   // the newest sweeps, for a list in another order
	rowsASort   = 1000 // rows that such a list has at most: what the API gives of one sweep
)

// askEverywhere reads a page of the tasks of all sweeps, given the oldest first. A sweep without a column that the question
// names has nothing to show.
func (m *Monitor) askEverywhere(ctx context.Context, all []core.Summary, q query) (taskPage, error) {
	if e := misspelt(q.where); e != nil {
		return taskPage{wrong: e}, nil
	}
	newest := slices.Clone(all)
	slices.Reverse(newest)
	w := walk{m: m, q: q, page: taskPage{}}
	var err error
	if q.sort == "" {
		err = w.inTurn(ctx, newest)
	} else {
		err = w.sorted(ctx, newest)
	}
	w.conclude()
	return w.page, err
}

// walk goes through sweeps.
type walk struct {
	m       *Monitor
	q       query
	page    taskPage
	asked   int
	refused *api.Error // by the first sweep that did
	without int        // sweeps that refused
}

// ask asks one sweep.
func (w *walk) ask(ctx context.Context, id string, q query) (api.Page, error) {
	w.asked++
	page, err := w.m.o.Master.Tasks(ctx, id, q.of())
	if e := refusal(err); e != nil && (e.Parameter == "where" || e.Parameter == "sort") {
		w.without++
		if w.refused == nil {
			w.refused = e
		}
		return api.Page{}, nil
	}
	return page, err
}

// inTurn fills a page with the tasks of one sweep after the other. A page begins at "SWEEP/PLACE".
func (w *walk) inTurn(ctx context.Context, newest []core.Summary) error {
	from, place := 0, ""
	if id, at, ok := strings.Cut(w.q.after, "/"); ok {
		place = at
		if from = slices.IndexFunc(newest, func(s core.Summary) bool { return s.ID == id }); from < 0 {
			from, place = 0, ""
		}
	}
	for n, s := range newest[from:] {
		left := w.q.size - len(w.page.rows)
		if left == 0 || n == sweepsAPage {
			w.page.next = s.ID + "/" + place
			break
		}
		q := w.q
		q.size, q.after = left, place
		place = ""
		page, err := w.ask(ctx, s.ID, q)
		if err != nil {
			return err
		}
		w.page.rows = append(w.page.rows, page.Tasks...)
		if page.Next != "" {
			w.page.next = s.ID + "/" + page.Next
			break
		}
	}
	if w.page.next != "" && len(w.page.rows) < w.q.size {
		w.page.notes = append(w.page.notes, fmt.Sprintf("%d sweeps were looked through; the next page goes on.", sweepsAPage))
	}
	return nil
}

// sorted merges the first tasks of the newest sweeps. A page begins at a number.
func (w *walk) sorted(ctx context.Context, newest []core.Summary) error {
	from, _ := strconv.Atoi(w.q.after) // what is none is the beginning
	from = min(max(0, from), rowsASort)
	to := min(from+w.q.size, rowsASort)
	q := w.q
	q.after, q.size = "", min(to+1, rowsASort)
	var rows []table.Row
	cut := false // some sweep has more
	for _, s := range newest[:min(len(newest), sweepsASort)] {
		page, err := w.ask(ctx, s.ID, q)
		if err != nil {
			return err
		}
		rows = append(rows, page.Tasks...)
		cut = cut || page.Next != ""
	}
	if err := table.Sort(rows, table.Schema{}.With(rows), w.q.sort); err != nil && len(rows) > 0 {
		w.page.wrong = &api.Error{Parameter: "sort", Text: err.Error()}
		return nil
	}
	if len(rows) > to && to < rowsASort {
		w.page.next = strconv.Itoa(to)
	} else if to == rowsASort && (cut || len(rows) > to) {
		w.page.notes = append(w.page.notes, fmt.Sprintf("A sorted list of all sweeps ends after %d tasks. Filter it, or look at one sweep.", rowsASort))
	}
	w.page.rows = rows[min(from, len(rows)):min(to, len(rows))]
	if len(newest) > sweepsASort {
		w.page.notes = append(w.page.notes, fmt.Sprintf("Sorted are the tasks of the newest %d sweeps, of %d.", sweepsASort, len(newest)))
	}
	return nil
}

// conclude says what of the question fits no sweep that was asked, or not all.
func (w *walk) conclude() {
	switch {
	case w.without == 0:
	case w.without == w.asked && w.page.next == "":
		w.page.wrong = w.refused
	default:
		w.page.notes = append(w.page.notes, fmt.Sprintf("%d of %d sweeps have no such column, and nothing to show.", w.without, w.asked))
	}
}

// misspelt is what is wrong with a filter whatever the columns are; nil: nothing.
func misspelt(where string) *api.Error {
	err := table.CheckFilter(where)
	if err == nil {
		return nil
	}
	wrong := &api.Error{Parameter: "where", Text: err.Error()}
	if e, ok := errors.AsType[*table.FilterError](err); ok {
		wrong.Column = e.Column
	}
	return wrong
}
