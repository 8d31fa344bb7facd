// Package server is the agent: what it does on its host, as handlers of HTTP.
//
// It runs as the user who logged in, and listens on no socket: whoever has its standard input may
// do with it what that user may. Paths below a cluster's folder go through os.Root, so that no link
// there leads out of it, and every body is bounded.
package server

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/engine"
	files "mlframework/infra/filesync/server"
)

// Options of Serve.
type Options struct {
	Home    string // folder for tokens; "" is the user's
	Program string // the file that runs; "": it is not known, and cannot be copied or removed
	Made    int    // of the folders above Program, how many were made for it
	// Idle is how long a client that brings files may be silent; 0 is 2 minutes.
	Idle time.Duration
	// Docker opens a connection to the Docker Engine; nil: to that of this machine.
	Docker func(context.Context) (net.Conn, error)
}

// maxBody bounds the body of a request, in bytes: secrets are the largest.
const maxBody = 8 << 20

// A client that answers no ping is gone: its requests end, and with them its locks.
const (
	pingAfter = 30 * time.Second
	pingTime  = 30 * time.Second
)

// Serve answers the requests that come over conn, until the other side ends it or ctx ends. It
// returns when all requests have ended.
func Serve(ctx context.Context, conn io.ReadWriteCloser, o Options) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	sweep(o.Program)
	if _, err := io.WriteString(conn, agent.Ready); err != nil {
		return err
	}
	if o.Docker == nil {
		o.Docker = new(engine.Dialer).Dial
	}
	s := &server{o: o}
	l := &listener{conn: make(chan net.Conn, 1), ended: make(chan struct{})}
	l.conn <- stdio{conn}
	protocols, http2 := agent.HTTP2()
	http2.SendPingTimeout, http2.PingTimeout = pingAfter, pingTime
	h := &http.Server{
		Handler: s.counted(s.routes()), Protocols: protocols, HTTP2: http2,
		BaseContext: func(net.Listener) context.Context { return ctx },
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateClosed {
				l.close()
			}
		},
	}
	stop := context.AfterFunc(ctx, func() {
		conn.Close()
		l.close()
	})
	defer stop()
	err := h.Serve(l)
	cancel()
	s.running.Wait()
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}

// server has the handlers.
type server struct {
	o       Options
	running sync.WaitGroup // requests
}

func (s *server) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.running.Add(1)
		defer s.running.Done()
		h.ServeHTTP(w, r)
	})
}

func (s *server) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /lock", s.lock)
	mux.HandleFunc("POST /docker", tunnel(s.docker))
	mux.HandleFunc("POST /master", tunnel(master))
	mux.HandleFunc("POST /port", tunnel(port))
	mux.HandleFunc("POST /exec", s.exec)
	mux.HandleFunc("PUT /folders", with(makeFolders))
	mux.HandleFunc("DELETE /folders", with(removeRoot))
	mux.HandleFunc("PUT /private", with(putPrivate))
	mux.HandleFunc("GET /text", s.readText)
	mux.HandleFunc("PUT /text", with(writeText))
	mux.HandleFunc("POST /audit", with(appendAudit))
	mux.HandleFunc("GET /audit", s.audit)
	mux.HandleFunc("PUT /tokens", with(s.leaveToken))
	mux.HandleFunc("DELETE /tokens", with(s.removeToken))
	mux.HandleFunc("GET /tokens", s.tokens)
	mux.HandleFunc("PUT /program", with(s.copyProgram))
	mux.HandleFunc("DELETE /program", s.removeProgram)
	files.Handle(mux, files.Options{Fail: fail, Idle: s.o.Idle})
	return mux
}

// with makes a handler of what takes a body of JSON and answers nothing.
func with[T any](do func(context.Context, T) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var body T
		err := agent.ReadBody(r, maxBody, &body)
		if err == nil {
			err = do(r.Context(), body)
		}
		if err != nil {
			fail(w, err)
			return
		}
		w.WriteHeader(http.StatusNoContent)
	}
}

func answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(value) // whoever asked is gone
}

// fail answers with an error.
func fail(w http.ResponseWriter, err error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(http.StatusUnprocessableEntity)
	_ = json.NewEncoder(w).Encode(agent.AsError(err))
}

// openRoot opens a cluster's folder.
func openRoot(path string) (*os.Root, error) {
	if !filepath.IsAbs(path) {
		return nil, fmt.Errorf("%q is not an absolute path", path)
	}
	return os.OpenRoot(path)
}

// below returns a path relative to the root that it lies in.
func below(root, path string) (string, error) {
	name, err := filepath.Rel(root, path)
	if err != nil || !filepath.IsLocal(name) {
		return "", fmt.Errorf("%q is not in the folder %q", path, root)
	}
	return name, nil
}

// listener has one connection.
type listener struct {
	conn  chan net.Conn
	once  sync.Once
	ended chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conn:
		return c, nil
	case <-l.ended:
		return nil, net.ErrClosed
	}
}

func (l *listener) close()         { l.once.Do(func() { close(l.ended) }) }
func (l *listener) Close() error   { l.close(); return nil }
func (l *listener) Addr() net.Addr { return stdioAddr{} }

// stdio is a connection without deadlines and addresses.
type stdio struct{ io.ReadWriteCloser }

func (stdio) LocalAddr() net.Addr              { return stdioAddr{} }
func (stdio) RemoteAddr() net.Addr             { return stdioAddr{} }
func (stdio) SetDeadline(time.Time) error      { return nil }
func (stdio) SetReadDeadline(time.Time) error  { return nil }
func (stdio) SetWriteDeadline(time.Time) error { return nil }

type stdioAddr struct{}

func (stdioAddr) Network() string { return "stdio" }
func (stdioAddr) String() string  { return "stdio" }
