package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/user"
	"path/filepath"
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
	// It is made in a private folder, so that at no moment there is one that others may open,
	// whatever the umask is.
	private, err := privateFolder(filepath.Dir(path))
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(private)
	made := filepath.Join(private, "s")
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: made, Net: "unix"})
	if err != nil {
		return nil, err
	}
	l.SetUnlinkOnClose(false)
	file, err := publish(made, path, group)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{path: path, group: group, now: l, file: file}, nil
}

// publish sets who may open a socket, and then moves it to where it is looked for.
func publish(made, path, group string) (fs.FileInfo, error) {
	if err := admit(made, group); err != nil {
		return nil, fmt.Errorf("listen on %s: %w", path, err)
	}
	if err := os.Rename(made, path); err != nil {
		return nil, err
	}
	return os.Lstat(path)
}

// privateFolder makes a folder in another that only its owner may enter. Its name is short, as
// paths of sockets have to be.
func privateFolder(dir string) (path string, err error) {
	for range 10 {
		path = filepath.Join(dir, "~"+rand.Text()[:4])
		if err = os.Mkdir(path, 0o700); !errors.Is(err, fs.ErrExist) {
			break
		}
	}
	return path, err
}

// ListenReadOnly opens a socket as Listen does, through which a server only answers questions:
// routes that read, and those that the table of routes marks as asking. It is for programs that
// show things, such as the monitor.
func ListenReadOnly(path string) (net.Listener, error) {
	l, err := Listen(path, "")
	if err != nil {
		return nil, err
	}
	l.(*listener).readOnly = true
	return l, nil
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
			return err
		}
		if id, err = strconv.Atoi(g.Gid); err != nil {
			return err
		}
	}
	if err := os.Chown(path, -1, id); err != nil {
		return err
	}
	return os.Chmod(path, 0o660)
}

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
	server := &http.Server{Handler: h.count(s), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime,
		IdleTimeout: idleTime, MaxHeaderBytes: headerBytes,
		ErrorLog:    slog.NewLogLogger(s.o.Log.Handler(), slog.LevelWarn),
		BaseContext: func(l net.Listener) context.Context { return withAccess(requests, l) },
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
