// Package httpserver has what the servers of sweep share: limits of connections, an orderly end,
// and panics of handlers as answers. What is answered is theirs.
package httpserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of connections. Streams of answers have none: net/http lifts the limit of reading once a
// request was read.
const (
	headerTimeout  = 10 * time.Second
	idleTimeout    = 2 * time.Minute // between two requests
	maxHeaderBytes = 64 << 10
)

// shutdownTimeout is how long readers have to read the rest of an answer when a server ends.
const shutdownTimeout = 2 * time.Second

// Server is what Run serves.
type Server struct {
	Handler     http.Handler
	ReadTimeout time.Duration // for a request with its body
	Log         *slog.Logger
	// Closing is called when the end begins, before readers are waited for: streams end with it.
	// nil: nothing is.
	Closing func()
	// ListenerContext adds to the context of the requests of a listener; nil: nothing.
	ListenerContext func(context.Context, net.Listener) context.Context
	// ConnContext adds to the context of the requests of a connection; nil: nothing.
	ConnContext func(context.Context, net.Conn) context.Context
}

// Run serves on listeners until ctx ends or one of them fails; after ctx ended readers have two
// seconds to read the rest. It closes the listeners, and when it returns no request is being
// answered any more. It is nil after ctx ended, unless closing failed.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var h handlers
	server := &http.Server{
		Handler:           h.count(s.Handler),
		ReadHeaderTimeout: headerTimeout,
		ReadTimeout:       s.ReadTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(s.Log.Handler(), slog.LevelWarn),
		BaseContext: func(l net.Listener) context.Context {
			if s.ListenerContext == nil {
				return requests
			}
			return s.ListenerContext(requests, l)
		},
		ConnContext: s.ConnContext,
	}
	served := make(chan error, len(listeners))
	for _, l := range listeners {
		go func() { served <- server.Serve(l) }()
	}
	running := len(listeners)
	var err error
	select {
	case err = <-served:
		running--
	case <-ctx.Done():
		if s.Closing != nil {
			s.Closing()
		}
		patience, stop := context.WithTimeout(requests, shutdownTimeout)
		defer stop()
		_ = server.Shutdown(patience) // slower readers are cut off
	}
	cancel()
	err = errors.Join(err, server.Close())
	for range running {
		<-served // that the server was closed
	}
	h.wait()
	return err
}

// handlers counts requests that are being answered, which outlive their server when it is closed.
// The zero value is ready.
type handlers struct {
	mu     sync.Mutex
	closed bool
	active sync.WaitGroup
}

func (h *handlers) count(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		if h.closed {
			h.mu.Unlock()
			return
		}
		h.active.Add(1)
		h.mu.Unlock()
		defer h.active.Done()
		next.ServeHTTP(w, r)
	})
}

// wait lets no request begin any more, and returns when the last is over.
func (h *handlers) wait() {
	h.mu.Lock()
	h.closed = true
	h.mu.Unlock()
	h.active.Wait()
}
