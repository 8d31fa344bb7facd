package api

import (
	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

var (
	filtering = []string{"where", "sort", "best", "top", "state", "begun"}
	paging    = []string{"limit", "after"}
	following = []string{"follow"}
)

// routes is everything that the API does.
var routes = []route{
	{method: "GET", path: "/health", answer: Health{}, do: (*Server).health},
	{method: "GET", path: "/ready", answer: Readiness{}, do: (*Server).ready},
	{method: "GET", path: metricsPath, do: (*Server).metrics},
	{method: "GET", path: "/broker", query: []string{"queues"}, answer: Broker{}, do: (*Server).broker},
	{method: "GET", path: "/broker/dead", query: paging[:1:1], answer: DeadLetters{}, do: (*Server).listDead},
	{method: "POST", path: "/broker/dead/requeue", action: "requeue", answer: Buried{}, do: (*Server).requeue},
	{method: "DELETE", path: "/broker/dead", action: "drop", answer: Buried{}, do: (*Server).drop},
	{method: "POST", path: "/broker/dead/{letter}/requeue", action: "requeue", answer: Buried{}, do: (*Server).requeue},
	{method: "DELETE", path: "/broker/dead/{letter}", action: "drop", answer: Buried{}, do: (*Server).drop},

	{method: "GET", path: "/audit", query: append(paging[:2:2], "object"), answer: Actions{}, do: (*Server).audit},

	{method: "GET", path: "/sweeps", query: paging, answer: sweepList{}, do: (*Server).listSweeps},
	{method: "POST", path: "/sweeps", action: "submit", query: following, body: Submission{}, answer: core.Summary{}, do: (*Server).submit},
	{method: "POST", path: "/missing", asks: true, body: Submission{}, answer: Missing{}, do: (*Server).missing},
	{method: "GET", path: "/sweeps/{sweep}", query: []string{"checks"}, answer: Sweep{}, do: (*Server).showSweep},
	{method: "POST", path: "/sweeps/{sweep}/cancel", action: "cancel", answer: core.Summary{}, do: (*Server).cancel},
	{method: "POST", path: "/sweeps/{sweep}/pause", action: "pause", query: []string{"stop"}, answer: core.Summary{}, do: (*Server).pause},
	{method: "POST", path: "/sweeps/{sweep}/resume", action: "resume", query: following, body: Going{}, answer: core.Summary{}, do: (*Server).resume},
	{method: "POST", path: "/sweeps/{sweep}/retry", action: "retry", query: following, body: Going{}, answer: core.Summary{}, do: (*Server).retry},
	{method: "POST", path: "/sweeps/{sweep}/extend", action: "extend", query: following, body: Extension{}, answer: core.Summary{}, do: (*Server).extend},
	{method: "POST", path: "/sweeps/{sweep}/priority", action: "priority", query: []string{"n"}, answer: core.Summary{}, do: (*Server).prioritize},
	{method: "POST", path: "/sweeps/{sweep}/reread", action: "reread", body: Reread{}, answer: core.Summary{}, do: (*Server).reread},
	{method: "POST", path: "/sweeps/{sweep}/measure", asks: true, body: Measure{},
		answer: Measures{}, do: (*Server).measure},
	{method: "GET", path: "/sweeps/{sweep}/results", query: append([]string{"format"},
		filtering...), answer: table.Row{}, do: (*Server).results},
	{method: "GET", path: "/sweeps/{sweep}/groups",
		query:  append(paging[:2:2], "by", "of", "where", "sort", "top", "state", "begun"),
		answer: GroupPage{}, do: (*Server).groups},
	{method: "GET", path: "/sweeps/{sweep}/failures", answer: Failures{}, do: (*Server).failures},
	{method: "GET", path: "/sweeps/{sweep}/events", query: following, answer: event{}, do: (*Server).events},

	{method: "GET", path: "/sweeps/{sweep}/tasks", query: append(paging[:2:2], filtering...), answer: Page{}, do: (*Server).listTasks},
	{method: "GET", path: "/sweeps/{sweep}/tasks/{index}", answer: Task{}, do: (*Server).showTask},
	{method: "POST", path: "/sweeps/{sweep}/tasks/{index}/cancel", action: "cancel", answer: core.Summary{}, do: (*Server).cancelTask},
	{method: "GET", path: "/sweeps/{sweep}/tasks/{index}/output", query: []string{"attempt", "stream", "offset", "file", "follow"}, do: (*Server).output},

	{method: "GET", path: "/workers", answer: workerList{}, do: (*Server).listWorkers},
	{method: "POST", path: "/workers/{worker}/drain", action: "drain", answer: core.Worker{}, do: (*Server).drain},
	{method: "POST", path: "/workers/{worker}/resume", action: "resume", answer: core.Worker{}, do: (*Server).undrain},
	{method: "POST", path: "/workers/{worker}/slots", action: "slots", query: []string{"n"}, answer: core.Worker{}, do: (*Server).resize},
	{method: "POST", path: "/workers/{worker}/restart", action: "restart", query: []string{"now"}, answer: core.Worker{}, do: (*Server).restart},
	{method: "DELETE", path: "/workers/{worker}", action: "forget", do: (*Server).forget},
}

type sweepList struct {
	Sweeps []core.Summary `json:"sweeps"` // the oldest first
}

type workerList struct {
	Workers []core.Worker `json:"workers"` // by name
}
