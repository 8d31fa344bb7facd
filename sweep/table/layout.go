package table

import (
	"slices"

	"mlframework/sweep/expr"
	"mlframework/sweep/human"
)

const (
	gap      = 2 // columns between two columns
	leastCut = 6 // a column is not cut below this
)

// worth of columns: those of the least worth are left out first. Those of worth essential never
// are.
type worth int

const (
	worthRevision worth = iota
	worthStarted
	worthAttempts
	worthGPUs
	worthExitCode
	worthReason
	worthHost
	worthDuration
	worthMetric
	worthState
	worthParameter
	essential
)

// shownFixed are the columns of every row that people look for.
var shownFixed = map[string]worth{
	"id": essential, stateColumn: worthState, "host": worthHost, "gpus": worthGPUs,
	"attempts": worthAttempts,
	"started":  worthStarted, "duration": worthDuration, "exit_code": worthExitCode,
	"reason":   worthReason,
	"revision": worthRevision,
}

// textColumn is what is known of a column once every row has passed.
type textColumn struct {
	name     string
	slot     int // of its cells in what a TextWriter sets aside
	width    int
	worth    worth
	keep     bool // not to be folded: the id, and what is ranked by
	fold     bool // it is folded also in a table of one row
	folded   bool
	hidden   bool
	words    bool // some value is text,
	numbers  bool // and some a number
	first    string
	value    string // the first that is not absent
	constant bool   // every cell is as the first
	several  bool   // two differ among those that are not absent
	begun    bool
}

// add takes the next cell.
func (t *textColumn) add(k expr.Kind, text string) {
	switch k {
	case word:
		t.words = true
	case number, noNumber:
		t.numbers = true
	}
	switch {
	case !t.begun:
		t.begun, t.constant, t.first = true, true, text
		t.width = max(t.width, displayWidth(text))
	case text == t.first:
	default:
		t.constant = false
		t.width = max(t.width, displayWidth(text))
	}
	if text == absentText || text == t.value {
		return
	}
	if t.value == "" {
		t.value = text
	} else {
		t.several = true
	}
}

func (t *textColumn) numeric() bool { return t.numbers && !t.words }

// layout decides which columns are shown, and how wide they are.
type layout struct {
	rows    int64
	sweep   string      // of all rows; "": they are of several
	index   *textColumn // stands in for the id where the table must be narrow
	columns []*textColumn
	folded  []string // "name=value" of what is the same in all rows
}

// show adds a column unless it says nothing: gpus and reason where there are none, the revision
// where it is the same.
func (l *layout) show(t *textColumn, name string, w worth) {
	switch {
	case (name == "gpus" || name == "reason") && t.value == "", name == "revision" && !t.several:
		return
	}
	t.name, t.worth, t.width = human.Visible(name), w,
		max(t.width, displayWidth(human.Visible(name)))
	l.columns = append(l.columns, t)
}

func (l *layout) shown() []*textColumn {
	return slices.DeleteFunc(slices.Clone(l.columns), func(t *textColumn) bool {
		return t.folded || t.hidden
	})
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
