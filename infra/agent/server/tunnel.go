package server

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"

	"mlframework/infra/agent"
)

// opener opens the connection that a request is about.
type opener func(ctx context.Context, r *http.Request) (net.Conn, error)

// tunnel joins the bodies of a request and of its answer to a connection, for as long as the
// request lasts. The end of one body ends one direction.
func tunnel(open opener) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, err := open(r.Context(), r)
		if err != nil {
			fail(w, err)
			return
		}
		defer conn.Close()
		defer context.AfterFunc(r.Context(), func() { conn.Close() })()
		out := flushed{w, http.NewResponseController(w)}
		w.WriteHeader(http.StatusOK)
		if out.to.Flush() != nil {
			return // the client is gone
		}
		sent := make(chan struct{})
		go func() {
			defer close(sent)
			// A failure to write leaves what comes back to be read.
			if _, err := io.Copy(conn, r.Body); err == nil {
				closeWrite(conn)
			}
		}()
		_, err = io.Copy(out, conn)
		conn.Close()
		r.Body.Close()
		<-sent
		if err != nil {
			panic(http.ErrAbortHandler) // so that the end is not taken for a good one
		}
	}
}

// flushed sends what is written at once: who writes has a buffer.
type flushed struct {
	http.ResponseWriter
	to *http.ResponseController
}

func (f flushed) Write(p []byte) (int, error) {
	n, err := f.ResponseWriter.Write(p)
	if err == nil {
		err = f.to.Flush()
	}
	return n, err
}

func closeWrite(conn net.Conn) {
	if half, ok := conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // who is gone does not hear it
	}
}

// docker opens a connection to the Docker Engine.
func (s *server) docker(ctx context.Context, _ *http.Request) (net.Conn, error) {
	return s.o.Docker(ctx)
}

// master opens a connection to a master.
func master(ctx context.Context, r *http.Request) (net.Conn, error) {
	q := r.URL.Query()
	owner, err := strconv.Atoi(q.Get("owner"))
	if err != nil {
		return nil, err
	}
	return dialMaster(ctx, agent.Socket{Path: q.Get("socket"), Owner: owner})
}

// port opens a connection to a port of the loopback.
func port(ctx context.Context, r *http.Request) (net.Conn, error) {
	number, err := strconv.ParseUint(r.URL.Query().Get("number"), 10, 16)
	if err != nil {
		return nil, errors.Unwrap(err)
	}
	at := net.JoinHostPort("127.0.0.1", strconv.FormatUint(number, 10))
	return new(net.Dialer).DialContext(ctx, "tcp", at)
}
