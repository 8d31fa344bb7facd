package monitor

import (
	"context"
	"net/url"
	"slices"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/group"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// noGroups is what a URL says for single tasks where groups are the default.
const noGroups = "none"

// groupPage is a page of groups as the master answered it.
type groupPage struct {
	api.GroupPage
	wrong *api.Error // a question that it refused
}

// groupedBy returns the columns by which a page of a sweep groups its tasks. Ok is false when it
// shows them one by one. Without a word about it in the URL those of a sweep that repeats its
// points are grouped, unless some are looked for by filter or state.
func groupedBy(q query, s api.Sweep) (by []string, ok bool) {
	switch {
	case q.group == noGroups:
		return nil, false
	case q.group != "":
		if by, err := group.Names(q.group); err == nil {
			return by, true
		}
		return []string{q.group}, true // there is no such column, which the page says
	case len(s.Record.Repeats()) == 0 || q.where != "" || len(q.states) > 0:
		return nil, false
	default:
		return s.Record.Repeated(), true
	}
}

// list asks for what the table of a sweep's page shows. It is single tasks where the default would
// make too many groups, or summarize too many metrics.
func (m *Monitor) list(ctx context.Context, s api.Sweep, q query, best *table.Row, version int64) (
	reply[tasksView], error) {
	by, ok := groupedBy(q, s)
	if !ok {
		return m.listTasks(ctx, s, q, best, version)
	}
	p, err := ask(ctx, m.answers, "groups "+url.PathEscape(s.ID)+q.text(), version,
		func(ctx context.Context) (groupPage, error) {
			asked := q.apiQuery()
			asked.Best = false // groups are ranked anyway
			page, err := m.o.Master.Groups(ctx, s.ID, api.GroupQuery{Query: asked, By: by})
			if wrong := refusal(err); wrong != nil {
				return groupPage{wrong: wrong}, nil
			}
			return groupPage{GroupPage: page}, err
		})
	if err != nil {
		return reply[tasksView]{}, err
	}
	if wrong := p.value.wrong; wrong != nil &&
		(wrong.Parameter == "by" || wrong.Parameter == "of") && q.group == "" {
		q.group = noGroups
		r, err := m.listTasks(ctx, s, q, best, version)
		r.value.Notes = append(slices.Clone(r.value.Notes),
			"Tasks are not grouped: "+human.Visible(p.value.wrong.Text)+".")
		return r, err
	}
	q.group = group.JoinNames(by)
	v := m.tasksView(q, m.sweepURL(s.ID), taskPage{next: p.value.Next, wrong: p.value.wrong}, nil)
	v.Caption = caption(by)
	v.Table = m.groupTable(q, v.Path, s.ID, p.value.Table)
	counts, err := m.askCounts(ctx, s, q.where, version)
	v.Views, v.States = views(q, v.Path, s), stateLinks(v.Path, q, counts.value)
	return reply[tasksView]{v, p.asOf}, err
}

// listTasks asks for single tasks; best is the one that ranks first, nil where none does.
func (m *Monitor) listTasks(ctx context.Context, s api.Sweep, q query, best *table.Row,
	version int64) (reply[tasksView], error) {
	p, err := ask(ctx, m.answers, "tasks "+url.PathEscape(s.ID)+q.text(), version,
		func(ctx context.Context) (taskPage, error) { return m.askTasks(ctx, s.ID, q) })
	if err != nil {
		return reply[tasksView]{}, err
	}
	schema := s.Record.Schema().With(p.value.rows)
	q.sort = sortedColumn(schema, q.sort)
	if len(s.Record.Repeats()) > 0 { // what its links lead to is not grouped either
		q.group = noGroups
	}
	from := int64(len(q.back)) * int64(q.size)
	if q.after != "" {
		from += int64(q.size)
	}
	v := m.tasksView(q, m.sweepURL(s.ID), p.value,
		m.sweepColumns(s, schema, p.value.rows, best, q.ranked(), from))
	v.Table.fold()
	for i, row := range p.value.rows {
		v.Table.Rows[i].Tick = strconv.FormatInt(row.Index, 10)
	}
	v.Caption = "Tasks of " + human.Visible(s.ID)
	counts, err := m.askCounts(ctx, s, q.where, version)
	v.Views, v.States = views(q, v.Path, s), stateLinks(v.Path, q, counts.value)
	if p.value.wrong == nil && counts.value != nil {
		order := ""
		if rows := p.value.rows; q.ranked() && len(rows) > 0 &&
			table.IsRanked(s.Record.Objective, &rows[0]) {
			order = "best first"
		}
		v.Range = rangeText(from+1, int64(len(p.value.rows)), total(counts.value, q.states),
			s.Total, order)
	}
	return reply[tasksView]{v, p.asOf}, err
}

func caption(by []string) string {
	if len(by) == 0 {
		return "Means over all tasks"
	}
	return "Means by " + human.Visible(human.List(by))
}

// viewLink leads to another way to show a sweep's tasks.
type viewLink struct {
	Label, URL string
	Current    bool
}

// views returns the ways to show a sweep's tasks, where there are two.
func views(q query, path string, s api.Sweep) []viewLink {
	by, grouped := groupedBy(q, s)
	if by == nil {
		by = s.Record.Repeated()
	}
	if !grouped && len(s.Record.Repeats()) == 0 {
		return nil
	}
	means, single := q.sortedBy(""), q.sortedBy("")
	means.group, single.group = group.JoinNames(by), noGroups
	return []viewLink{{"means", path + means.text(), grouped},
		{"single tasks", path + single.text(), !grouped}}
}

// groupTable puts groups into columns, which can all be sorted by but the last.
func (m *Monitor) groupTable(q query, path, sweep string, g group.Table) (t listing) {
	head := func(label, sort, kind string, numeric bool) {
		t.Columns = append(t.Columns, q.heading(path,
			column{label: label, sort: sort, numeric: numeric, group: kind}))
	}
	for _, name := range g.By {
		head(human.Visible(name), name, "parameter", allNumbers(g.Groups, name))
	}
	for _, metric := range g.Metrics {
		short := ""
		if len(g.Metrics) > 1 {
			short = human.Visible(metric) + "."
		}
		head(short+"n", metric+".n", "", true)
		head(human.Visible(metric), metric+".mean", "metric", true)
		head(short+"sd", metric+".sd", "metric", true)
		head(short+"95%", "", "metric", true)
	}
	head("Missing", "", "", false)
	for _, one := range g.Groups {
		t.Rows = append(t.Rows, m.groupLine(path, sweep, g, one))
	}
	return t
}

// groupLine returns a group, whose first cell leads to its tasks.
func (m *Monitor) groupLine(path, sweep string, t group.Table, g group.Group) (l line) {
	tasks := path + query{where: g.Where(t.By), group: noGroups, size: defaultTasksOnPage}.text()
	l.Key = sweep + " " + g.Where(t.By)
	for _, name := range t.By {
		text := table.AbsentText
		if v := g.By[name]; v != nil {
			text = human.Visible(*v)
		}
		c := cell{Text: human.Truncate(text), Numeric: isNumber(text)}
		if len(l.Cells) == 0 {
			c.URL = tasks
		}
		l.Cells = append(l.Cells, c)
	}
	for _, metric := range t.Metrics {
		s := g.Metrics[metric]
		n := cell{Text: count(s.N), Numeric: true}
		if s.N < g.Tasks {
			n.Text += " of " + count(g.Tasks)
		}
		if len(l.Cells) == 0 {
			n.URL = tasks
		}
		l.Cells = append(l.Cells, n, precisionCell(group.Number(s.Mean), s.Mean),
			precisionCell(group.DeviationText(s.SD), s.SD),
			cell{Text: group.IntervalText(s), Numeric: true})
	}
	missing := human.Visible(g.Missing(t.Metrics))
	l.Cells = append(l.Cells, cell{Text: human.Truncate(missing),
		Title: missing[:min(len(missing), maxTitleBytes)]})
	return l
}

// precisionCell returns a number, in full in its title.
func precisionCell(text string, v *float64) cell {
	c := cell{Text: text, Numeric: true}
	if v != nil {
		c.Title = strconv.FormatFloat(*v, 'g', -1, 64)
	}
	return c
}

func allNumbers(groups []group.Group, name string) bool {
	return !slices.ContainsFunc(groups, func(g group.Group) bool {
		return g.By[name] != nil && !isNumber(*g.By[name])
	})
}
