package api

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"strconv"
	"sync"
	"time"
)

// Listen opens a Unix socket for a server, mode 0600; with a group, by name or number, 0660 and the group's. It takes the
// place of a socket that nobody listens on any more, and of nothing else. Closing the listener removes the socket.
func Listen(path, group string) (net.Listener, error) {
	if err := vacate(path); err != nil {
		return nil, err
	}
	// It is made beside its place, so that at no moment there is one in it that others may open.
	made := path + "~"
	if err := os.Remove(made); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	err = errors.Join(admit(made, group), os.Rename(made, path))
	var file fs.FileInfo
	if err == nil {
		file, err = os.Lstat(path)
	}
	if err != nil {
		return nil, errors.Join(err, l.Close(), os.Remove(made))
	}
	return &listener{path: path, group: group, now: l, file: file}, nil
}

// vacate removes what an earlier server left.
func vacate(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("listen on %s: it is there and no socket; move it away", path)
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = conn.Close()
		return fmt.Errorf("listen on %s: another process listens there", path)
	}
	return os.Remove(path)
}

// admit sets who may open a socket.
func admit(path, group string) error {
	if group == "" {
		return os.Chmod(path, 0o600)
	}
	id, err := strconv.Atoi(group)
	if err != nil {
		g, err := user.LookupGroup(group)
		if err != nil {
			return fmt.Errorf("listen on %s: %w", path, err)
		}
		if id, err = strconv.Atoi(g.Gid); err != nil {
			return err
		}
	}
	return errors.Join(os.Chown(path, -1, id), os.Chmod(path, 0o660))
}

// partingTime is how long those who follow have to read the last that happened.
const partingTime = 2 * time.Second

// Bounds of a request's beginning.
const (
	headerTime  = 10 * time.Second
	headerBytes = 64 << 10
)

// Run serves on a listener until ctx ends, and then until those who follow have read the last, two seconds at most. It
// closes the listener and the server, and when it returns no request is being answered any more.
func (s *Server) Run(ctx context.Context, l net.Listener) error {
	defer s.Close()
	requests, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	var h handlers
	server := &http.Server{Handler: h.count(s), ReadHeaderTimeout: headerTime, MaxHeaderBytes: headerBytes,
		ErrorLog:    slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn),
		BaseContext: func(net.Listener) context.Context { return requests },
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			return context.WithValue(ctx, peerKey{}, peerOf(c))
		},
	}
	watching, watched := context.WithCancel(ctx)
	var watch sync.WaitGroup
	defer watch.Wait()
	defer watched()
	if l, ok := l.(*listener); ok {
		watch.Go(func() { l.watch(watching, s.o.Log) })
	}
	served := make(chan error, 1)
	go func() { served <- server.Serve(l) }()
	select {
	case err := <-served:
		err = errors.Join(err, server.Close())
		cancel()
		h.wait()
		return err
	case <-ctx.Done():
	}
	parting, stop := context.WithTimeout(requests, partingTime)
	defer stop()
	_ = server.Shutdown(parting) // who has not read it by then is cut off
	cancel()
	err := server.Close()
	<-served // it always says that the server was closed
	h.wait()
	return err
}

// handlers counts requests that are being answered, which outlive their server when it is closed. The zero value is ready.
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

// peerKey is where a connection's peer stands in the context of its requests.
type peerKey struct{}

// peer is who is at the other end of a connection.
type peer struct {
	uid   int
	known bool
}
