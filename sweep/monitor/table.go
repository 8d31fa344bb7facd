package monitor

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// listing is tasks in rows and columns.
type listing struct {
	Columns []heading
	Rows    []line
	Header  int     // which of the cells names its row
	Same    []value // what is the same in every row, instead of a column
}

// Ticks reports whether rows can be ticked to be compared.
func (t listing) Ticks() bool { return len(t.Rows) > 1 && t.Rows[0].Tick != "" }

// heading is the top of a column.
type heading struct {
	Label   string
	URL     string // sorts by the column; "": it cannot
	Order   string // "ascending" or "descending", when the table is sorted by it
	Numeric bool
	Group   string // "parameter", "metric", or "" for what every task has

	folds folding
}

// line is one task.
type line struct {
	Key   string
	State string
	Tick  string // the task, where it can be ticked
	Cells []cell
}

// cell is one value.
type cell struct {
	Text, Title, URL string
	State            bool // Text is a state
	Numeric          bool
	Strong           bool
}

// column is a heading with the way to its cells.
type column struct {
	label, sort string // sort "": cannot be sorted by
	numeric     bool
	group       string
	cell        func(*table.Row) cell
	folds       folding
}

// rankLabel heads the column of places in the order of the objective.
const rankLabel = "#"

// folding says when a column with one value stands above the table instead.
type folding int

const (
	never   folding = iota
	ifEmpty         // if no row has a value
	same            // if every row has the value
	ifKnown         // if every row that has one has it: tasks that have not begun lack it
)

// A column of text is about so many characters wide, and a title holds at most so many bytes.
const (
	maxCellWidth  = 40
	maxTitleBytes = 4000
)

// textCell makes cells of text; what is long is cut, and has a title.
func textCell(get func(*table.Row) string) func(*table.Row) cell {
	return func(r *table.Row) cell {
		text := human.Visible(get(r))
		c := cell{Text: human.Truncate(text)}
		if len(text) > maxCellWidth {
			c.Title = text[:min(len(text), maxTitleBytes)]
		}
		return c
	}
}

func numberCell(get func(*table.Row) string) func(*table.Row) cell {
	return func(r *table.Row) cell { return cell{Text: get(r), Numeric: true} }
}

func intText(n *int) string {
	if n == nil {
		return ""
	}
	return strconv.Itoa(*n)
}

// resultColumns returns the columns after parameters and metrics. GPUs have one where any of the
// rows has some.
func (m *Monitor) resultColumns(rows []table.Row) []column {
	all := []column{
		{label: "Host", sort: "host", folds: ifKnown,
			cell: textCell(func(r *table.Row) string { return r.Host })},
		{label: "Slot", sort: "slot", numeric: true, folds: ifKnown,
			cell: numberCell(func(r *table.Row) string { return intText(r.Slot) })},
		{label: "Attempts", sort: "attempts", numeric: true, folds: ifKnown,
			cell: numberCell(attemptsText)},
		{label: "Started (UTC)", sort: "started", folds: ifEmpty, cell: textCell(startedText)},
		{label: "Duration", sort: "duration", numeric: true, folds: ifEmpty,
			cell: numberCell(durationText)},
		{label: "Exit code", sort: "exit_code", numeric: true, folds: same,
			cell: numberCell(func(r *table.Row) string { return intText(r.ExitCode) })},
		{label: "Reason", sort: "reason", folds: same,
			cell: textCell(func(r *table.Row) string { return r.Reason })},
	}
	if slices.ContainsFunc(rows, func(r table.Row) bool { return len(r.GPUs) > 0 }) {
		all = slices.Insert(all, 2, column{label: "GPUs", cell: gpusCell})
	}
	return all
}

// gpusCell shows the GPUs of a task; the title has their whole UUIDs.
func gpusCell(r *table.Row) cell {
	short := make([]string, len(r.GPUs))
	for i, g := range r.GPUs {
		short[i] = human.GPU(g.UUID)
	}
	whole := human.Visible(strings.Join(r.UUIDs(), ", "))
	return cell{Text: human.Truncate(strings.Join(short, ", ")), Title: whole[:min(len(whole),
		maxTitleBytes)]}
}

func attemptsText(r *table.Row) string {
	if r.Attempts == 0 {
		return ""
	}
	return strconv.Itoa(r.Attempts)
}

func startedText(r *table.Row) string {
	if r.Started == nil {
		return ""
	}
	return moment(*r.Started)
}

func durationText(r *table.Row) string {
	if r.Duration == nil {
		return ""
	}
	return human.Duration(*r.Duration)
}

var stateColumn = column{label: "State", folds: same,
	cell: func(r *table.Row) cell { return cell{Text: human.Visible(r.State), State: true} }}

// sweepColumns returns the columns of the tasks of one sweep: its objective before the parameters,
// other metrics after them. Ranked is a page that begins after so many tasks in the order of the
// objective; best is the first of all, from which values that differ are strong.
func (m *Monitor) sweepColumns(s api.Sweep, schema table.Schema, rows []table.Row, best *table.Row,
	ranked bool, from int64) (all []column) {
	objective := s.Record.Objective
	metricColumn := func(name string) column {
		return column{human.Visible(name), "metrics." + name, true, "metric",
			metricCell(name, slices.Contains(schema.Steps, name), name == objective.Metric), never}
	}
	if ranked {
		places := map[int64]int64{}
		for i := range rows {
			if table.IsRanked(objective, &rows[i]) {
				places[rows[i].Index] = from + int64(i) + 1
			}
		}
		place := func(r *table.Row) cell {
			if n := places[r.Index]; n > 0 {
				return cell{Text: count(n), Numeric: true}
			}
			return cell{Numeric: true}
		}
		all = append(all, column{label: rankLabel, numeric: true, folds: ifEmpty, cell: place})
	}
	all = append(all, column{label: "Task", sort: "index", numeric: true,
		cell: func(r *table.Row) cell {
			return cell{Text: strconv.FormatInt(r.Index, 10), Numeric: true,
				URL: m.taskURL(r.Sweep, r.Index)}
		}}, stateColumn)
	if slices.Contains(schema.Metrics, objective.Metric) {
		all = append(all, metricColumn(objective.Metric))
	}
	for _, name := range schema.Parameters {
		folds := same
		if s.Record.Varies(name) {
			folds = never
		}
		all = append(all, column{human.Visible(name), "parameters." + name, false, "parameter",
			parameterCell(name, best), folds})
	}
	for _, name := range schema.Metrics {
		if name != objective.Metric {
			all = append(all, metricColumn(name))
		}
	}
	return append(all, m.resultColumns(rows)...)
}

// parameterCell shows a parameter, strong where it is not what the best task has.
func parameterCell(name string, best *table.Row) func(*table.Row) cell {
	text := textCell(func(r *table.Row) string { value, _ := r.Parameters.Get(name); return value })
	return func(r *table.Row) cell {
		c := text(r)
		c.Numeric = isNumber(c.Text)
		if best != nil && r.Index != best.Index {
			own, _ := r.Parameters.Get(name)
			its, _ := best.Parameters.Get(name)
			c.Strong = own != its
		}
		return c
	}
}

// fold takes out the columns that have one value, and those that have none. One row keeps all.
func (t *listing) fold() {
	if len(t.Rows) < 2 {
		return
	}
	for i := len(t.Columns) - 1; i >= 0; i-- {
		h := t.Columns[i]
		one, ok := t.one(i)
		if !ok || h.folds == never || h.Order != "" || h.folds == ifEmpty && one.Text != "" {
			continue
		}
		if i < t.Header {
			t.Header--
		}
		if one.Text != "" {
			name := h.Label
			if h.Group != "parameter" {
				name = strings.ToLower(name)
			}
			t.Same = append(t.Same, value{name, one.Text, one.Title})
		}
		t.Columns = slices.Delete(t.Columns, i, i+1)
		for n := range t.Rows {
			t.Rows[n].Cells = slices.Delete(t.Rows[n].Cells, i, i+1)
		}
	}
	slices.Reverse(t.Same)
}

// one returns the only value of a column; false: it has several.
func (t *listing) one(column int) (only cell, ok bool) {
	only = t.Rows[0].Cells[column]
	for _, l := range t.Rows[1:] {
		c := l.Cells[column]
		if only.Text == "" && t.Columns[column].folds == ifKnown {
			only = c
		} else if c.Text != only.Text && (c.Text != "" || t.Columns[column].folds != ifKnown) {
			return cell{}, false
		}
	}
	return only, true
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// metricCell shows a metric: its value, and the step where the definition chose which value is
// taken.
func metricCell(name string, step, strong bool) func(*table.Row) cell {
	return func(r *table.Row) cell {
		for _, m := range r.Metrics {
			if m.Name != name {
				continue
			}
			c := cell{Text: fourDigits(m.Value), Title: strconv.FormatFloat(m.Value, 'g', -1, 64),
				Numeric: true, Strong: strong}
			if m.Span != nil {
				at := " (" + m.Span.String() + ")"
				c.Title += at
				if step {
					c.Text += at
				} else if m.Span.Attempt != 0 {
					c.Text += " (" + m.Span.AttemptText() + ")"
				}
			}
			return c
		}
		return cell{Numeric: true}
	}
}

// allSweepsColumns returns the columns of tasks of any sweep: each has other parameters and
// metrics, which share a column.
func (m *Monitor) allSweepsColumns(rows []table.Row) []column {
	all := []column{
		{label: "Task", cell: func(r *table.Row) cell {
			return cell{Text: human.Visible(r.ID), URL: m.taskURL(r.Sweep, r.Index)}
		}},
		stateColumn,
		{label: "Parameters", cell: textCell(func(r *table.Row) string {
			var all []string
			for _, p := range r.Parameters {
				all = append(all, p.Name+"="+p.Value)
			}
			return strings.Join(all, "  ")
		})},
		{label: "Metrics", cell: textCell(func(r *table.Row) string {
			var all []string
			for _, v := range r.Metrics {
				all = append(all, v.Name+"="+fourDigits(v.Value))
			}
			return strings.Join(all, "  ")
		})},
	}
	return append(all, m.resultColumns(rows)...)
}

// table puts rows into columns; at is the path of the page.
func (q query) table(at string, columns []column, rows []table.Row) (t listing) {
	for _, c := range columns {
		h := q.heading(at, c)
		if c.label == rankLabel {
			t.Header = 1 // the task, which follows
		}
		// the numbers of a parameter stand below its name
		if len(rows) > 0 && c.cell(&rows[0]).Numeric {
			h.Numeric = true
		}
		t.Columns = append(t.Columns, h)
	}
	for i := range rows {
		l := line{Key: rows[i].ID, State: rows[i].State}
		for _, c := range columns {
			l.Cells = append(l.Cells, c.cell(&rows[i]))
		}
		t.Rows = append(t.Rows, l)
	}
	return t
}

// sortedColumn returns an order with its column named as the headings of a sweep's page name it: a
// URL may leave out that it is a metric or a parameter.
func sortedColumn(s table.Schema, sort string) string {
	name, descending := strings.CutPrefix(sort, "-")
	c, err := s.Column(name)
	switch {
	case err != nil:
		return sort
	case c.Metric() != "":
		name = "metrics." + c.Metric()
	case c.Parameter() != "":
		name = "parameters." + c.Parameter()
	}
	if descending {
		return "-" + name
	}
	return name
}

// heading leads to the other order, or to this column's.
func (q query) heading(at string, c column) heading {
	h := heading{Label: c.label, Numeric: c.numeric, Group: c.group, folds: c.folds}
	if c.sort == "" {
		return h
	}
	by := c.sort
	if strings.TrimPrefix(q.bestBy, "-") == c.sort {
		by = q.bestBy // begins at its good end
	}
	switch cmp.Or(q.sort, q.bestBy) {
	case c.sort:
		h.Order, by = "ascending", "-"+c.sort
	case "-" + c.sort:
		h.Order, by = "descending", c.sort
	}
	if by == q.bestBy {
		by = ""
	}
	h.URL = at + q.sortedBy(by).text()
	return h
}
