package result

import "slices"

const (
	gap      = 2 // columns between two columns
	leastCut = 6 // a column is not cut below this
)

// worth of columns: those of the least worth are left out first. Those of worth essential never are.
type worth int

const (
	worthRevision worth = iota
	worthReason
	worthStarted
	worthAttempts
	worthGPUs
	worthExitCode
	worthHost
	worthDuration
	worthMetric
	worthParameter
	essential
)

type textColumn struct {
	name    string
	cells   []string
	width   int
	numeric bool
	worth   worth
	keep    bool // not to be folded: the id, and what is ranked by
	folded  bool
	hidden  bool
}

type layout struct {
	rows    []Row
	columns []*textColumn // the first is the id, or the index
	folded  []string      // "name=value" of what is the same in all rows
}

func newLayout(rows []Row, o TableOptions) *layout {
	s := o.Schema.With(rows)
	if i := slices.Index(s.Metrics, o.Objective.Metric); i > 0 {
		s.Metrics = slices.Insert(slices.Delete(slices.Clone(s.Metrics), i, i+1), 0, o.Objective.Metric)
	}
	l := &layout{rows: rows}
	for i, c := range s.columns() {
		middle := i - 5 // fixed columns stand around parameters and metrics
		switch {
		case middle >= 0 && middle < len(s.Parameters):
			l.add(c, worthParameter, o)
		case middle >= len(s.Parameters) && middle < len(s.Parameters)+len(s.Metrics):
			l.addMetric(c, s.Metrics[middle-len(s.Parameters)], o)
		default:
			l.addFixed(c, o)
		}
	}
	return l
}

func (l *layout) addMetric(c column, metric string, o TableOptions) {
	if metric != o.Objective.Metric {
		l.add(c, worthMetric, o)
		return
	}
	t := l.add(c, essential, o)
	t.keep = true
	for i := range l.rows {
		if place, _ := o.Objective.place(&l.rows[i]); place == withoutMetric {
			t.set(i, "no metrics")
		}
	}
}

// addFixed adds a column if people look for it: gpus and reason only where there are some, the revision where it differs.
func (l *layout) addFixed(c column, o TableOptions) {
	show := map[string]worth{
		"id": essential, "state": essential, "host": worthHost, "gpus": worthGPUs, "attempts": worthAttempts,
		"started": worthStarted, "duration": worthDuration, "exit_code": worthExitCode, "reason": worthReason,
		"revision": worthRevision,
	}
	worth, ok := show[c.name]
	if !ok {
		return
	}
	t := l.add(c, worth, o)
	t.keep = c.name == "id"
	different := t.different()
	needless := (c.name == "gpus" || c.name == "reason") && different == 0 || c.name == "revision" && different < 2
	if needless {
		l.columns = l.columns[:len(l.columns)-1]
	}
}

func (l *layout) add(c column, w worth, o TableOptions) *textColumn {
	t := &textColumn{name: Visible(c.name), cells: make([]string, len(l.rows)), worth: w}
	t.width = displayWidth(t.name)
	words, numbers := 0, 0
	for i := range l.rows {
		value := c.get(&l.rows[i])
		switch value.kind {
		case word:
			words++
		case number, noNumber:
			numbers++
		}
		t.set(i, o.textOf(c.name, &l.rows[i], value))
	}
	t.numeric = words == 0 && numbers > 0
	l.columns = append(l.columns, t)
	return t
}

func (t *textColumn) set(i int, s string) {
	t.cells[i] = s
	t.width = max(t.width, displayWidth(s))
}

func (t *textColumn) constant() bool {
	return !slices.ContainsFunc(t.cells, func(s string) bool { return s != t.cells[0] })
}

// different returns how many different values there are, at most 2, not counting what is absent.
func (t *textColumn) different() int {
	first := ""
	for _, s := range t.cells {
		switch {
		case s == "-" || s == first:
		case first == "":
			first = s
		default:
			return 2
		}
	}
	if first == "" {
		return 0
	}
	return 1
}

func (l *layout) shown() []*textColumn {
	return slices.DeleteFunc(slices.Clone(l.columns), func(t *textColumn) bool { return t.folded || t.hidden })
}

// hidden returns the names of what is left out, with the commas between them.
func (l *layout) hidden() []string {
	var names []string
	for _, t := range l.columns {
		if !t.hidden {
			continue
		}
		if last := len(names) - 1; last >= 0 {
			names[last] += ","
		}
		names = append(names, t.name)
	}
	return names
}
