package server

import (
	"net/http"
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

var (
	filtering       = []string{"where", "sort", "best", "top", "state", "begun"}
	paging          = []string{"limit", "after"}
	followParameter = []string{"follow"}
)

// routes is everything that the API does.
var routes = []route{
	{method: "GET", path: "/health", answer: api.Health{}, do: (*Server).health},
	{method: "GET", path: "/ready", answer: api.Readiness{}, do: (*Server).ready},
	{method: "GET", path: metricsPath, do: (*Server).metrics},
	{method: "GET", path: "/broker", query: []string{"queues"}, answer: api.Broker{},
		do: (*Server).broker},

	{method: "GET", path: "/attachment", do: (*Server).attach},

	{method: "GET", path: "/audit", query: append(paging[:2:2], "object"), answer: api.AuditPage{},
		do: (*Server).audit},

	{method: "GET", path: "/sweeps", query: paging, answer: api.SweepList{},
		do: (*Server).listSweeps},
	{method: "POST", path: "/sweeps", action: "submit", query: followParameter,
		body: api.Submission{}, answer: core.Summary{}, status: http.StatusCreated,
		do: (*Server).submit},
	{method: "GET", path: "/tasks", query: append(paging[:2:2], "where", "sort", "state"),
		answer: api.AllTasks{}, do: (*Server).listAllTasks},
	{method: "GET", path: "/failures", query: []string{"within"}, answer: api.AllFailures{},
		do: (*Server).allFailures},
	{method: "POST", path: "/missing", asks: true, body: api.Submission{}, answer: api.Missing{},
		do: (*Server).missing},
	{method: "GET", path: "/sweeps/{sweep}", query: []string{"checks"}, answer: api.Sweep{},
		do: (*Server).showSweep},
	{method: "DELETE", path: "/sweeps/{sweep}", action: "remove",
		status: http.StatusNoContent, do: (*Server).remove},
	{method: "POST", path: "/sweeps/{sweep}/prune", action: "prune", body: api.PrunedTasks{},
		answer: core.Summary{}, do: (*Server).prune},
	{method: "POST", path: "/sweeps/{sweep}/size", asks: true, body: api.PrunedTasks{},
		answer: api.OutputSize{}, do: (*Server).size},
	{method: "GET", path: "/removals", answer: api.RemovalList{}, do: (*Server).listRemovals},
	{method: "POST", path: "/sweeps/{sweep}/cancel", steers: true, action: "cancel",
		body: api.Selection{}, answer: core.Summary{}, do: (*Server).cancel},
	{method: "POST", path: "/sweeps/{sweep}/pause", steers: true, action: "pause", query: []string{"stop"},
		answer: core.Summary{}, do: (*Server).pause},
	{method: "POST", path: "/sweeps/{sweep}/resume", steers: true, action: "resume", query: followParameter,
		body: api.ResumeRequest{}, answer: core.Summary{}, do: (*Server).resume},
	{method: "POST", path: "/sweeps/{sweep}/retry", steers: true, action: "retry", query: followParameter,
		body: api.ResumeRequest{}, answer: core.Summary{}, do: (*Server).retry},
	{method: "POST", path: "/sweeps/{sweep}/extend", action: "extend", query: followParameter,
		body: api.Extension{}, answer: core.Summary{}, do: (*Server).extend},
	{method: "POST", path: "/sweeps/{sweep}/priority", steers: true, action: "priority", query: []string{"n"},
		answer: core.Summary{}, do: (*Server).prioritize},
	{method: "POST", path: "/sweeps/{sweep}/reread", action: "reread", body: api.Reread{},
		answer: core.Summary{}, do: (*Server).reread},
	{method: "POST", path: "/sweeps/{sweep}/measure", asks: true, body: api.Measure{},
		answer: api.Measures{}, do: (*Server).measure},
	{method: "GET", path: "/sweeps/{sweep}/results", query: append([]string{"format"},
		filtering...), answer: table.Row{}, do: (*Server).results},
	{method: "GET", path: "/sweeps/{sweep}/groups",
		query:  append(paging[:2:2], "by", "of", "where", "sort", "top", "state", "begun"),
		answer: api.GroupPage{}, do: (*Server).groups},
	{method: "GET", path: "/sweeps/{sweep}/failures", answer: api.Failures{},
		do: (*Server).failures},
	{method: "GET", path: "/sweeps/{sweep}/effects", query: []string{"metric", "where"},
		answer: api.Effects{}, do: (*Server).effects},
	{method: "GET", path: "/sweeps/{sweep}/progress", query: []string{"metric", "where"},
		answer: api.Progress{}, do: (*Server).progress},
	{method: "GET", path: "/sweeps/{sweep}/curves", query: []string{"metric", "where"},
		answer: api.Curves{}, do: (*Server).curves},
	{method: "GET", path: "/sweeps/{sweep}/points", query: []string{"metric", "where"},
		answer: api.Points{}, do: (*Server).points},
	{method: "GET", path: "/sweeps/{sweep}/events", query: followParameter, answer: api.Event{},
		do: (*Server).events},

	{method: "GET", path: "/sweeps/{sweep}/tasks", query: append(paging[:2:2], filtering...),
		answer: api.Page{}, do: (*Server).listTasks},
	{method: "GET", path: "/sweeps/{sweep}/tasks/{index}", answer: api.Task{},
		do: (*Server).showTask},
	{method: "POST", path: "/sweeps/{sweep}/tasks/{index}/cancel", steers: true, action: "cancel",
		answer: core.Summary{}, do: (*Server).cancelTask},
	{method: "GET", path: "/sweeps/{sweep}/tasks/{index}/output",
		query: []string{"attempt", "stream", "offset", "tail", "file", "follow"},
		do:    (*Server).output},

	{method: "GET", path: "/workers", answer: api.WorkerList{}, do: (*Server).listWorkers},
	{method: "POST", path: "/workers/{worker}/drain", steers: true, action: "drain", query: []string{"for"},
		answer: core.Worker{}, do: (*Server).drain},
	{method: "POST", path: "/workers/{worker}/resume", steers: true, action: "resume", query: []string{"for"},
		answer: core.Worker{}, do: (*Server).undrain},
	{method: "POST", path: "/workers/{worker}/slots", steers: true, action: "slots", query: []string{"n"},
		answer: core.Worker{}, do: (*Server).resize},
	{method: "POST", path: "/workers/{worker}/restart", steers: true, action: "restart",
		query: []string{"now"}, answer: core.Worker{}, do: (*Server).restart},
	{method: "DELETE", path: "/workers/{worker}", steers: true, action: "forget",
		status: http.StatusNoContent, do: (*Server).forget},
}

// route is one row of the table of what the API does. The description and the server are both held
// to it.
type route struct {
	method, path string
	query        []string // parameters that it knows; others are refused
	body         any      // a zero value of the JSON that it takes; nil: none
	// a zero value of the JSON that it gives, of one line or event where there are many; nil: no
	// JSON
	answer any
	asks   bool   // it is a question, whatever its method
	steers bool   // it stops or repeats work, and can run no new code
	action string // of a write: what it is called in the audit
	status int    // of an answer; 0: 200
	// do returns the JSON of an answer; nil: there is none, or do has written it
	do func(*Server, http.ResponseWriter, *http.Request) (any, error)
}

// writes reports whether it may change anything.
func (r route) writes() bool { return r.method != http.MethodGet && !r.asks }

// knows reports whether all parameters of a request are of the route, and each is there once.
func (r route) knows(q map[string][]string) error {
	for name, values := range q {
		switch {
		case !slices.Contains(r.query, name):
			return &api.Error{Status: http.StatusBadRequest, Text: "there is no parameter " + name,
				Parameter: name}
		case values[0] == "":
			return &api.Error{Status: http.StatusBadRequest, Text: name + " has no value",
				Remedy: "leave it out", Parameter: name}
		case len(values) > 1:
			return &api.Error{Status: http.StatusBadRequest,
				Text: name + " is given more than once", Parameter: name}
		}
	}
	return nil
}
