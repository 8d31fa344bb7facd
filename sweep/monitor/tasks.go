package monitor

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// tasksView is a page of tasks: of one sweep, or of all.
type tasksView struct {
	Path    string
	Sweep   *sweepLine    // nil: of all
	Actions []button      // of operators, with the sweep
	Chosen  []button      // and with the tasks that the filter shows
	Best    *bestLine     // nil: no task has a rank, or of all sweeps
	Failed  *failuresView // nil: nothing failed, or of all sweeps
	Effects *effectsView  // nil: there is nothing to compare, or of all sweeps
	Curves  *curvesView   // nil: there is nothing to draw, or of all sweeps
	Compare *compareLinks // nil: of all sweeps
	Form    filterForm
	States  []stateLink
	Wrong   string // what else is wrong with the question than the filter
	Notes   []string
	Views   []viewLink // how the tasks can be shown; none: one by one
	Caption string
	Range   string // which of them these are; "": not known
	Table   listing
	First   string // URLs; "": there is none
	Prev    string
	Next    string
	Page    int
}

// filterForm is the filter as it was written, and where it is wrong.
type filterForm struct {
	Where, Sort, State string
	Group              string // by what tasks are grouped
	Size               string // "": as usual
	Clear              string // URL without the filter
	Wrong              *wrongFilter
}

// wrongFilter points at a place: Before and After are what stands around it.
type wrongFilter struct {
	Before, At, After, Text string
	From, To                int // of the place in what was typed, as JavaScript counts
}

// stateLink shows only tasks in a state, or all.
type stateLink struct {
	Label, State, URL string
	Count             int64
	Counted           bool // Count is known
	Current           bool
}

// taskPage is a page of tasks as the master answered it.
type taskPage struct {
	rows  []table.Row
	next  string
	notes []string
	wrong *api.Error // a question that it refused
}

func (m *Monitor) loadSweep(r *request) (*content, error) {
	id, version := r.PathValue("sweep"), r.version
	s, err := m.askSweep(r.Context(), id, version)
	if err != nil {
		return nil, err
	}
	q := readQuery(r.Request)
	var first *table.Row
	if o := s.value.Record.Objective; !o.IsZero() {
		q.bestBy = "metrics." + o.Metric
		if o.Maximize {
			q.bestBy = "-" + q.bestBy
		}
		b, err := m.askBest(r.Context(), s.value, version)
		if err != nil {
			return nil, err
		}
		first = b.value
	}
	p, err := m.list(r.Context(), s.value, q, first, version)
	if err != nil {
		return nil, err
	}
	line, v := m.line(s.value.Summary, s.asOf), p.value
	v.Sweep, v.Best = &line, m.best(s.value, first)
	v.Compare = m.compareLinks(s.value, first)
	v.Actions = m.sweepButtons(r, s.value.Summary)
	counts, err := m.askCounts(r.Context(), s.value, q.where, version)
	if err != nil {
		return nil, err
	}
	v.Chosen = m.selectionButtons(r, line.ID, q, counts.value)
	c := m.warned(r, &content{title: line.ID, asOf: p.asOf})
	if failedTasks(s.value.Summary) > 0 {
		f, err := m.askFailures(r.Context(), s.value, version)
		if err != nil {
			return nil, err
		}
		v.Failed = m.failures(r, s.value, f.value)
	}
	if v.Effects, err = m.askEffects(r.Context(), s.value, q.where, version); err != nil {
		return nil, err
	}
	if v.Curves, err = m.askCurves(r.Context(), s.value, q.where, version); err != nil {
		return nil, err
	}
	if v.Effects != nil {
		c.refresh = v.Effects.due
	}
	if v.Curves != nil {
		c.refresh = max(c.refresh, v.Curves.due)
	}
	c.view = v
	return c, nil
}

func (m *Monitor) askTasks(ctx context.Context, id string, q query) (p taskPage, err error) {
	page, err := m.o.Master.Tasks(ctx, id, q.apiQuery())
	if p.wrong = refusal(err); p.wrong != nil {
		return p, nil
	}
	p.rows, p.next = page.Tasks, page.Next
	return p, err
}

// refusal returns what is wrong with a question; nil when nothing is, or the fault is another.
func refusal(err error) *api.Error {
	if e, ok := errors.AsType[*api.Error](err); ok && e.Parameter != "" {
		return e
	}
	return nil
}

func (m *Monitor) loadTasks(r *request) (*content, error) {
	q, version := readQuery(r.Request), r.version
	all, err := m.hub.askSweeps(r.Context(), version)
	if err != nil {
		return nil, err
	}
	p, err := ask(r.Context(), m.answers, "all tasks "+q.text(), version,
		func(ctx context.Context) (taskPage, error) {
			return m.askAllTasks(ctx, len(all.value), q)
		})
	if err != nil {
		return nil, err
	}
	v := m.tasksView(q, m.o.Prefix+"/tasks", p.value, m.allSweepsColumns(p.value.rows))
	v.Caption = "Tasks"
	counts := sum(all.value)
	if q.where != "" {
		counts = nil // how many of all sweeps a filter finds is not asked
	}
	v.States = stateLinks(v.Path, q, counts)
	return &content{title: "Tasks", view: v, asOf: p.asOf}, nil
}

// sum counts the tasks of all sweeps.
func sum(all []core.Summary) map[string]int64 {
	counts := map[string]int64{}
	for _, s := range all {
		for state, n := range s.Counts {
			counts[state] += n
		}
	}
	return counts
}

func (m *Monitor) tasksView(q query, path string, p taskPage, columns []column) tasksView {
	v := tasksView{Path: path, Notes: p.notes, Table: q.table(path, columns, p.rows),
		Page: len(q.back) + 1}
	plain := q.first()
	plain.where = ""
	v.Form = filterForm{Where: q.where, Sort: q.sort, Group: q.group,
		State: strings.Join(q.states, ","), Clear: path + plain.text()}
	if q.size != defaultTasksOnPage {
		v.Form.Size = strconv.Itoa(q.size)
	}
	if q.after != "" {
		v.Page++
		v.First = path + q.first().text()
	}
	if before, ok := q.previous(); ok {
		v.Prev = path + before.text()
	}
	if p.next != "" {
		v.Next = path + q.next(p.next).text()
	}
	switch e := p.wrong; {
	case e == nil:
	case e.Parameter == "where":
		v.Form.Wrong = pointAt(q.where, e)
	default:
		v.Wrong = human.Visible(e.Parameter + ": " + e.Error())
	}
	return v
}

// pointAt takes a filter apart at the place that is wrong, which may be its end.
func pointAt(where string, e *api.Error) *wrongFilter {
	w := &wrongFilter{Text: human.Visible(e.Text), Before: human.Visible(where)}
	if e.Column < 1 {
		return w
	}
	at := 0
	for n := 1; n < e.Column && at < len(where); n++ {
		_, size := utf8.DecodeRuneInString(where[at:])
		at += size
	}
	word := where[at:]
	if end := strings.IndexAny(word, " ()=<>~!"); end > 0 {
		word = word[:end]
	} else if end == 0 {
		word = word[:1]
	}
	w.From = len(utf16.Encode([]rune(where[:at])))
	w.To = w.From + len(utf16.Encode([]rune(word)))
	w.Before, w.At, w.After = human.Visible(where[:at]), human.Visible(word),
		human.Visible(where[at+len(word):])
	return w
}

// stateLinks lead to the tasks in one state or in all, with their counts under the filter where
// these are known.
func stateLinks(path string, q query, counts map[string]int64) (links []stateLink) {
	links = append(links, stateLink{Label: "all", URL: path + q.withStates().text(),
		Count: total(counts, nil), Counted: counts != nil, Current: len(q.states) == 0})
	names, states := shownStates()
	for _, name := range names {
		l := stateLink{Label: name, State: name, URL: path + q.withStates(states[name]...).text(),
			Counted: counts != nil, Current: slices.Equal(q.states, states[name])}
		if counts != nil {
			l.Count = total(counts, states[name])
		}
		if l.Count > 0 || l.Current || counts == nil {
			links = append(links, l)
		}
	}
	return links
}
