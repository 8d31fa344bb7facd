package api

import (
	"net/url"
	"strconv"
	"strings"

	"mlframework/sweep/task"
)

// values are the parameters that choose and order.
func (q Query) values() url.Values {
	v := url.Values{}
	set(v, "where", q.Where)
	set(v, "sort", q.Sort)
	setFlag(v, "best", q.Best)
	setFlag(v, "begun", q.Issued)
	setNumber(v, "top", q.Top)
	var states []string
	for _, s := range q.States {
		states = append(states, s.String())
	}
	set(v, "state", strings.Join(states, ","))
	return v
}

// Format is how a table of results is written.
type Format string

// The formats of results.
const (
	JSON Format = "json" // one object per line
	CSV  Format = "csv"
)

// Query chooses tasks of one sweep; the zero value is every task, by index.
type Query struct {
	States []task.State // none: all
	Issued bool         // only tasks that were handed out at least once, or ended
	Where  string       // a table.Filter; "": all
	Sort   string       // a column, or -COLUMN; "": by index
	// the best by the sweep's objective first, and what has no rank last; excludes Sort
	Best  bool
	Top   int    // only the first so many; 0: all
	Limit int    // of a page; 0: what mostRows says
	After string // the Next of the page before; "": from the beginning
}

func set(v url.Values, name, text string) {
	if text != "" {
		v.Set(name, text)
	}
}

func setFlag(v url.Values, name string, on bool) {
	if on {
		v.Set(name, "true")
	}
}

// setNumber leaves out 0; what is negative goes as it is, to be refused.
func setNumber(v url.Values, name string, n int) {
	if n != 0 {
		v.Set(name, strconv.Itoa(n))
	}
}
