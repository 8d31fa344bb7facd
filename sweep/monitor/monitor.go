// Package monitor is the web pages over a master's API: sweeps, tasks and workers, read in a
// browser.
//
// A [Monitor] is an http.Handler that asks a master through an [api.Client] and nothing else; it
// opens no store and no queue. Pages are rendered here from embedded templates, as named blocks; a
// stream sends browsers the blocks that changed, and a small module of JavaScript puts them in
// place. Without JavaScript pages can be read, and are renewed by reloading. docs/monitor.md
// describes routes, login and limits. Only commands import it.
//
// # Adding a page
//
// A page is one row of pages, a function that loads its view, and a template for each of its
// blocks; the template "above" is what stays while the page is open. Its live stream, its place
// behind the login and its rows in the tests follow from the row. What writes is one row of routes,
// and is behind the same guard.
package monitor

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/internal/httpserver"
)

// Options are what a monitor works with. Master and State are needed.
type Options struct {
	Master *api.Client
	// State is the folder of the monitor's tokens and login links, which New makes (mode 0700). Who
	// may read it may log in.
	State string
	// Prefix is what all paths begin with, for a proxy that passes it on: "/lab/monitor"; "":
	// nothing.
	Prefix string
	// Hosts are the names under which browsers may come, beside 127.0.0.1, localhost and [::1],
	// without ports.
	Hosts []string
	// Cluster is whose pages these are: browsers may come to CLUSTER.localhost, and the cookie has
	// its name; "": there is no such host.
	Cluster string
	// LinkCommand is the command that prints a login link, which the login page names; "": it names
	// none.
	LinkCommand string
	// Secure tells that browsers come with TLS: cookies are then sent with nothing else.
	Secure bool
	Log    *slog.Logger     // logins, and faults of this program; nil: nothing
	Now    func() time.Time // nil: time.Now
}

// Monitor is the pages of one master, an http.Handler. It is safe for concurrent use. Close it when
// nothing is served any more; Run does.
type Monitor struct {
	o         Options
	mux       *http.ServeMux
	hosts     map[string]bool
	origins   http.CrossOriginProtection
	tokens    tokens
	sessions  *sessions
	answers   *answers
	hub       *hub
	templates map[string]pageTemplate // by page

	wrongLogins wrongLogins
	depths      depths
	brokerless  brokerless
}

// New returns a monitor, and at the first start its tokens.
func New(o Options) (*Monitor, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	o.Prefix = strings.TrimRight(o.Prefix, "/")
	if o.Prefix != "" && !prefixShape.MatchString(o.Prefix) {
		return nil, errors.New("invalid prefix " + o.Prefix + ": write it as /lab/monitor")
	}
	if o.Cluster != "" {
		if !clusterShape.MatchString(o.Cluster) {
			return nil, errors.New("invalid cluster name " + o.Cluster + ": write it as in " +
				"cluster.yml")
		}
		o.Hosts = append([]string{o.Cluster + localDomain}, o.Hosts...)
	}
	k, err := openTokens(o.State)
	if err != nil {
		return nil, err
	}
	m := &Monitor{o: o, mux: http.NewServeMux(), tokens: k, hosts: allowed(o.Hosts),
		sessions:  newSessions(o.Now),
		templates: parseTemplates(),
		answers:   newAnswers(o.Now, o.Log)}
	m.hub = newHub(m.answers, o.Master)
	for _, r := range routes() {
		m.mux.Handle(r.method+" "+o.Prefix+r.path, m.guarded(r))
	}
	m.mux.HandleFunc("/", m.notFound)
	return m, nil
}

// Close ends what the monitor asks the master for readers.
func (m *Monitor) Close() {
	m.answers.close()
	m.hub.close()
}

// readTimeout bounds how long a request with its form takes to arrive.
const readTimeout = 20 * time.Second

// Run serves on listeners until ctx ends, and then until readers have read their page, two seconds
// at most. It closes the listeners and the monitor, and when it returns no request is being answered
// any more.
func (m *Monitor) Run(ctx context.Context, listeners ...net.Listener) error {
	defer m.Close()
	server := httpserver.Server{Handler: m, ReadTimeout: readTimeout, Log: m.o.Log,
		Closing: m.Close} // live streams end: browsers try again
	return server.Run(ctx, listeners...)
}
