// Package server answers the API over a master and its store: routes, streams of events, the audit
// of writes, and metrics for Prometheus. docs/api.yaml describes the routes; a test holds the two
// together.
//
// The package decides nothing: transitions and placement are the core's, and pages are those of
// sweep/listing.
//
// # Writes
//
// Every write may be repeated. What was done under an Idempotency-Key is done once, also when the
// master was started again in between: its audit entry has the key, and the sweep of a submission
// has it. A repetition is answered with how things stand. Without a key: cancel, pause, resume,
// priority, drain, slots and reread ask for a state, and asking twice leads to the same one; a
// retry takes only tasks that have ended badly; a sweep that was extended has what it is extended
// by; a restart is of the process that is there then; a worker that was forgotten does not exist any
// more.
package server

import (
	"context"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"mlframework/sweep/api"
	"mlframework/sweep/listing"
	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/store"
)

// Options are what a server answers from. Master, Store and Broker are needed.
type Options struct {
	Master *master.Master
	Store  *store.Reader
	Broker interface{ Status() queue.Status } // the master's queue
	// Revisions is the folder in which workers find the files of revisions, an absolute path, for
	// clients on the same machine to write to; "": there is none.
	Revisions string
	// MaxBody bounds the body of a request, in bytes; 0: 16 MiB.
	MaxBody int64
	Program string // version of the program, for people
	// Attachments, when set, lets clients attach to it: of a local run.
	Attachments *Attachments
	Log         *slog.Logger // faults of this program; nothing
}

// Server is the API of one master, an http.Handler. It is safe for concurrent use. Close it when
// nothing is served any more; Run does.
type Server struct {
	o       Options
	archive *listing.Archive
	mux     *http.ServeMux
	buffers eventBuffers
	bodies  bodies
	process *prometheus.Registry // of this program as a process
}

// New makes a server.
func New(o Options) *Server {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	s := &Server{o: o, archive: &listing.Archive{Store: o.Store, Waits: o.Master.Blocked,
		Notices: o.Master.Notices}, mux: http.NewServeMux(), bodies: newBodies(o.MaxBody),
		process: processMetrics()}
	s.buffers.master = o.Master
	for _, r := range routes {
		s.mux.Handle(r.method+" "+api.Root+r.path, s.middleware(r))
		if r.path == metricsPath { // where those who collect metrics look first
			s.mux.Handle(r.method+" "+r.path, s.middleware(r))
		}
	}
	s.mux.HandleFunc("/", s.notFound)
	return s
}

// Close ends what the server keeps for followers.
func (s *Server) Close() { s.buffers.close() }

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if err := checkPeer(r.Context()); err != nil {
		s.o.Log.Warn("refused", "error", err)
		writeError(w, err)
		return
	}
	s.mux.ServeHTTP(w, r)
}

// notFound answers requests that no route takes.
func (s *Server) notFound(w http.ResponseWriter, r *http.Request) {
	var allowed []string
	for _, method := range []string{http.MethodDelete, http.MethodGet, http.MethodPost} {
		other := &http.Request{Method: method, URL: r.URL, Host: r.Host}
		if _, pattern := s.mux.Handler(other); pattern != "/" {
			allowed = append(allowed, method)
		}
	}
	if len(allowed) > 0 {
		w.Header().Set("Allow", strings.Join(allowed, ", "))
		writeError(w, &api.Error{Status: http.StatusMethodNotAllowed,
			Text: r.URL.Path + " does not support " + r.Method})
		return
	}
	writeError(w, &api.Error{Status: http.StatusNotFound, Text: "there is no " + r.URL.Path,
		Remedy: "docs/api.yaml lists what there is"})
}

// answerTime bounds what a request asks of the master's loop, which takes up what is asked within
// milliseconds.
const answerTime = 30 * time.Second

// withTimeout returns a context for a request that is answered at once.
func withTimeout(r *http.Request) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(r.Context(), answerTime,
		&api.Error{Status: http.StatusServiceUnavailable,
			Text: "the master does not answer", Remedy: "look at its log"})
}
