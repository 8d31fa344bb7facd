package monitor

import (
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// table is tasks in rows and columns.
type listing struct {
	Columns []heading
	Rows    []line
}

// heading is the top of a column.
type heading struct {
	Label   string
	URL     string // sorts by the column; "": it cannot
	Order   string // "ascending" or "descending", when the table is sorted by it
	Numeric bool
	Group   string // "parameter", "metric", or "" for what every task has
}

// line is one task.
type line struct {
	Key   string
	State string
	Cells []cell
}

// cell is one value.
type cell struct {
	Text, Title, URL string
	State            bool // Text is a state
	Numeric          bool
}

// column is a heading with the way to its cells.
type column struct {
	label, sort string // sort "": cannot be sorted by
	numeric     bool
	group       string
	cell        func(*table.Row) cell
}

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
		{"Host", "host", false, "", textCell(func(r *table.Row) string { return r.Host })},
		{"Slot", "slot", true, "", numberCell(func(r *table.Row) string {
			return intText(r.Slot)
		})},
		{"Attempts", "attempts", true, "",
			numberCell(func(r *table.Row) string { return strconv.Itoa(r.Attempts) })},
		{"Started (UTC)", "started", false, "", textCell(startedText)},
		{"Duration", "duration", true, "", numberCell(durationText)},
		{"Exit code", "exit_code", true, "",
			numberCell(func(r *table.Row) string { return intText(r.ExitCode) })},
		{"Reason", "reason", false, "", textCell(func(r *table.Row) string { return r.Reason })},
	}
	if slices.ContainsFunc(rows, func(r table.Row) bool { return len(r.GPUs) > 0 }) {
		all = slices.Insert(all, 2, column{"GPUs", "", false, "", gpusCell})
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

var stateColumn = column{"State", "state", false, "",
	func(r *table.Row) cell { return cell{Text: human.Visible(r.State), State: true} }}

// sweepColumns returns the columns of the tasks of one sweep.
func (m *Monitor) sweepColumns(s table.Schema, rows []table.Row) []column {
	all := []column{
		{"Task", "index", true, "", func(r *table.Row) cell {
			return cell{Text: strconv.FormatInt(r.Index, 10), Numeric: true,
				URL: m.taskURL(r.Sweep, r.Index)}
		}},
		stateColumn,
	}
	for _, name := range s.Parameters {
		all = append(all, column{human.Visible(name), "parameters." + name, false, "parameter",
			parameterCell(name)})
	}
	for _, name := range s.Metrics {
		all = append(all, column{human.Visible(name), "metrics." + name, true, "metric",
			metricCell(name, slices.Contains(s.Steps, name))})
	}
	return append(all, m.resultColumns(rows)...)
}

func parameterCell(name string) func(*table.Row) cell {
	text := textCell(func(r *table.Row) string { value, _ := r.Parameters.Get(name); return value })
	return func(r *table.Row) cell {
		c := text(r)
		c.Numeric = isNumber(c.Text)
		return c
	}
}

func isNumber(text string) bool {
	_, err := strconv.ParseFloat(text, 64)
	return err == nil
}

// metricCell shows a metric: its value, and the step where the definition chose which value is
// taken.
func metricCell(name string, step bool) func(*table.Row) cell {
	return func(r *table.Row) cell {
		for _, m := range r.Metrics {
			if m.Name != name {
				continue
			}
			c := cell{Text: human.Number(m.Value), Title: strconv.FormatFloat(m.Value, 'g', -1, 64),
				Numeric: true}
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
		{"Task", "", false, "", func(r *table.Row) cell {
			return cell{Text: human.Visible(r.ID), URL: m.taskURL(r.Sweep, r.Index)}
		}},
		stateColumn,
		{"Parameters", "", false, "", textCell(func(r *table.Row) string {
			var all []string
			for _, p := range r.Parameters {
				all = append(all, p.Name+"="+p.Value)
			}
			return strings.Join(all, "  ")
		})},
		{"Metrics", "", false, "", textCell(func(r *table.Row) string {
			var all []string
			for _, v := range r.Metrics {
				all = append(all, v.Name+"="+human.Number(v.Value))
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
	h := heading{Label: c.label, Numeric: c.numeric, Group: c.group}
	if c.sort == "" {
		return h
	}
	by := c.sort
	switch q.sort {
	case c.sort:
		h.Order, by = "ascending", "-"+c.sort
	case "-" + c.sort:
		h.Order = "descending"
	}
	h.URL = at + q.sortedBy(by).text()
	return h
}
