package monitor

import (
	"context"
	"net/http"
	"regexp"

	"mlframework/sweep/api"
)

// prefixShape is a prefix that needs no escaping anywhere.
var prefixShape = regexp.MustCompile(`^(/[A-Za-z0-9._~-]*[A-Za-z0-9_~-])+$`)

// route is one row of the routing table.
type route struct {
	method, path string
	needs        Role // at least
	do           func(*Monitor, http.ResponseWriter, *request) error
}

// page is something to be read. It is at its path, and the stream of its blocks that changed at
// /live and the path.
type page struct {
	path, name string
	blocks     []string                   // templates, in the order of the page
	topic      func(*http.Request) string // whose changes it shows
	load       func(*Monitor, *request) (*content, error)
}

// fixedTopic returns a topic that does not depend on the request.
func fixedTopic(topic string) func(*http.Request) string {
	return func(*http.Request) string { return topic }
}

// pages are all pages, each with the name of its template.
var pages = []page{
	{"/{$}", "overview", []string{"alarms", "open", "failed", "finished"},
		fixedTopic(overviewTopic), (*Monitor).loadOverview},
	{"/sweeps", "sweeps", []string{"table"}, fixedTopic(sweepsTopic), (*Monitor).loadSweeps},
	{"/sweeps/{sweep}", "sweep", []string{"head", "best", "filter", "matters", "curves", "table"}, sweepTopic,
		(*Monitor).loadSweep},
	{"/sweeps/{sweep}/plots", "plots", []string{"parallel", "heat"}, sweepTopic,
		(*Monitor).loadPlots},
	{"/sweeps/{sweep}/compare", "compare", []string{"head", "curves", "output"}, sweepTopic,
		(*Monitor).loadCompare},
	{"/sweeps/{sweep}/tasks/{index}", "task", []string{"head", "output", "side", "attempts"},
		sweepTopic, (*Monitor).loadTask},
	{"/tasks", "tasks", []string{"states", "table"}, fixedTopic(sweepsTopic), (*Monitor).loadTasks},
	{"/failures", "failures", []string{"times", "kinds"}, fixedTopic(sweepsTopic),
		(*Monitor).loadFailures},
	{"/workers", "workers", []string{"head", "workers"}, fixedTopic(workersTopic),
		(*Monitor).loadWorkers},
	{"/broker", "broker", []string{"head", "queues"}, fixedTopic(overviewTopic),
		(*Monitor).loadBroker},
	{"/audit", "audit", []string{"object", "done"}, fixedTopic(overviewTopic),
		(*Monitor).loadAudit},
}

// routes returns everything that a monitor answers.
func routes() []route {
	all := []route{
		{http.MethodGet, "/healthz", Nobody, (*Monitor).healthz},
		{http.MethodGet, "/readyz", Nobody, (*Monitor).readyz},
		{http.MethodGet, "/assets/{name}", Nobody, (*Monitor).asset},
		{http.MethodGet, "/login", Nobody, (*Monitor).loginPage},
		{http.MethodPost, "/login", Nobody, (*Monitor).login},
		{http.MethodPost, "/logout", Viewer, (*Monitor).logout},
		{http.MethodGet, "/sweeps/{sweep}/tasks/{index}/output", Viewer, (*Monitor).output},
	}
	all = append(all, actionRoutes()...)
	for _, p := range pages {
		all = append(all,
			route{http.MethodGet, p.path, Viewer,
				func(m *Monitor, w http.ResponseWriter, r *request) error {
					return m.show(w, r, p)
				}},
			route{http.MethodGet, "/live" + p.path, Viewer,
				func(m *Monitor, w http.ResponseWriter, r *request) error {
					return m.live(w, r, p)
				}},
		)
	}
	return all
}

// redirect sends a browser to a path below the prefix, with GET.
func (m *Monitor) redirect(w http.ResponseWriter, path string) {
	w.Header().Set("Location", m.o.Prefix+path)
	w.WriteHeader(http.StatusSeeOther)
}

func (m *Monitor) healthz(w http.ResponseWriter, _ *request) error {
	return plain(w, http.StatusOK, "up")
}

// readyz reports whether the master answers, and nothing more: it needs no login.
func (m *Monitor) readyz(w http.ResponseWriter, r *request) error {
	if _, err := m.askHealth(r.Context(), 0); err != nil {
		return plain(w, http.StatusServiceUnavailable, "the master does not answer")
	}
	return plain(w, http.StatusOK, "ready")
}

// askHealth asks how the master is, with an answer as new as a version; 0: it may be a moment old.
func (m *Monitor) askHealth(ctx context.Context, version int64) (reply[api.Health], error) {
	return ask(ctx, m.answers, "health", version, m.o.Master.Health)
}
