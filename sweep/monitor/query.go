package monitor

import (
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

// How many tasks a page has, unless its URL says otherwise, and how many at most.
const (
	defaultTasksOnPage = 100
	maxTasksOnPage     = 500
)

// maxBackPages is how many pages back a page leads; beyond that there is the first.
const maxBackPages = 200

// query is what a page of tasks shows, as its URL says it.
type query struct {
	where, sort string
	states      []string
	// columns with commas between them, or noGroups; "": as is usual for the sweep
	group string
	size  int
	after string   // where the page begins; "": at the beginning
	back  []string // where the pages between the first and this one begin

	// of a sweep with an objective: the order in which the best are first, which holds where no other
	// is asked for
	bestBy string
}

// ranked reports whether the best are first.
func (q query) ranked() bool { return q.bestBy != "" && q.sort == "" }

// readQuery reads a URL. What it does not understand is as if it were not there; where and sort are
// the master's to judge.
func readQuery(r *http.Request) query {
	v := r.URL.Query()
	q := query{where: strings.TrimSpace(v.Get("where")), sort: v.Get("sort"),
		group: v.Get("group_by"), after: v.Get("after"), size: defaultTasksOnPage}
	for name := range strings.SplitSeq(v.Get("state"), ",") {
		if _, err := task.ParseState(name); err == nil && !slices.Contains(q.states, name) {
			q.states = append(q.states, name)
		}
	}
	if n, err := strconv.Atoi(v.Get("size")); err == nil && n > 0 {
		q.size = min(n, maxTasksOnPage)
	}
	if back := v.Get("back"); back != "" && q.after != "" {
		q.back = strings.Split(back, ",")
		q.back = q.back[max(0, len(q.back)-maxBackPages):]
	}
	return q
}

// text returns a query in a URL; the zero value of everything is left out.
func (q query) text() string {
	v := url.Values{}
	for name, value := range map[string]string{"where": q.where, "sort": q.sort,
		"group_by": q.group, "state": strings.Join(q.states, ","), "after": q.after,
		"back": strings.Join(q.back, ",")} {
		if value != "" {
			v.Set(name, value)
		}
	}
	if q.size != defaultTasksOnPage {
		v.Set("size", strconv.Itoa(q.size))
	}
	if len(v) == 0 {
		return ""
	}
	return "?" + v.Encode()
}

// first returns the query's first page.
func (q query) first() query {
	q.after, q.back = "", nil
	return q
}

func (q query) sortedBy(column string) query {
	q = q.first()
	q.sort = column
	return q
}

// withStates shows single tasks, where there are states; all of them as they are shown now.
func (q query) withStates(states ...string) query {
	q = q.first()
	if len(states) > 0 && q.group != "" && q.group != noGroups {
		q.group, q.sort = noGroups, ""
	}
	q.states = states
	return q
}

// next returns the page that begins at a place.
func (q query) next(at string) query {
	if q.after != "" {
		q.back = append(slices.Clone(q.back), q.after)
	}
	q.after = at
	return q
}

// previous returns the page before; the first has none.
func (q query) previous() (query, bool) {
	if q.after == "" {
		return q, false
	}
	if n := len(q.back); n > 0 {
		q.after, q.back = q.back[n-1], q.back[:n-1]
		return q, true
	}
	return q.first(), true
}

// apiQuery returns the query as the API takes it.
func (q query) apiQuery() api.Query {
	a := api.Query{Where: q.where, Sort: q.sort, Limit: q.size, After: q.after,
		Best: q.ranked()}
	for _, name := range q.states {
		if s, err := task.ParseState(name); err == nil {
			a.States = append(a.States, s)
		}
	}
	return a
}
