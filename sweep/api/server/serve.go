package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"
)

// partingTime is how long those who follow have to read the last that happened.
const partingTime = 2 * time.Second

// Bounds of requests and connections. Streams of answers are not bounded: net/http lifts the bound
// of reading once a request was read.
const (
	headerTime  = 10 * time.Second
	requestTime = 2 * time.Minute // to send a request with its body
	idleTime    = 2 * time.Minute // between two requests
	headerBytes = 64 << 10
)

// Run serves on listeners until ctx ends or one of them fails, and then until those who follow have
// read the last, two seconds at most. It closes the listeners and the server, and when it returns
// no request is being answered any more.
func (s *Server) Run(ctx context.Context, listeners ...net.Listener) error {
	defer s.Close()
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var h handlers
	server := &http.Server{
		Handler:           h.count(s),
		ReadHeaderTimeout: headerTime,
		ReadTimeout:       requestTime,
		IdleTimeout:       idleTime,
		MaxHeaderBytes:    headerBytes,
		ErrorLog:          slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn),
		BaseContext:       func(l net.Listener) context.Context { return withAccess(requests, l) },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, peerOf(c))
		},
	}
	watching, watched := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer watched()
	served := make(chan error, len(listeners))
	for _, l := range listeners {
		if l, ok := l.(*listener); ok {
			watch.Go(func() { l.watch(watching, s.o.Log) })
		}
		go func() { served <- server.Serve(l) }()
	}
	select {
	case err := <-served:
		err = errors.Join(err, server.Close())
		cancel()
		for range listeners[1:] {
			<-served // that the server was closed
		}
		h.wait()
		return err
	case <-ctx.Done():
	}
	parting, stop := context.WithTimeout(requests, partingTime)
	defer stop()
	_ = server.Shutdown(parting) // who has not read it by then is cut off
	cancel()
	err := server.Close()
	for range listeners {
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
