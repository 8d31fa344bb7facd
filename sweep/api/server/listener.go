package server

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"sync"
	"time"
)

// listener is a Unix socket at a path. One that is removed is made again; connections that there are stay. Closing it
// removes the socket.
type listener struct {
	path, group string
	readOnly    bool // only questions are answered here

	mu     sync.Mutex
	now    *net.UnixListener
	file   fs.FileInfo // of its socket
	closed bool
}

// current is what listens now; false: nothing does any more.
func (l *listener) current() (*net.UnixListener, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.now, !l.closed
}

func (l *listener) Accept() (net.Conn, error) {
	for {
		now, _ := l.current()
		conn, err := now.Accept()
		if err == nil {
			return conn, nil
		}
		if next, open := l.current(); !open || next == now {
			return nil, err
		}
	}
}

func (l *listener) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.closed = true
	err := l.now.Close()
	if err == nil && l.stands() {
		err = os.Remove(l.path)
	}
	if errors.Is(err, fs.ErrNotExist) { // its folder was removed
		err = nil
	}
	return err
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: l.path, Net: "unix"} }

// stands reports whether the path still leads to this socket; that it cannot be looked at says nothing.
func (l *listener) stands() bool {
	file, err := os.Lstat(l.path)
	return err == nil && os.SameFile(l.file, file) || err != nil && !errors.Is(err, fs.ErrNotExist)
}

// watchEvery is how often the socket is looked for.
const watchEvery = 2 * time.Second

// watch makes the socket again when it was removed, until ctx ends, and logs that.
func (l *listener) watch(ctx context.Context, log *slog.Logger) {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	said := ""
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return
		}
		switch made, err := l.renew(); {
		case err != nil && err.Error() != said:
			said = err.Error()
			log.Warn("the socket was removed, and cannot be made again; nobody can ask here", "path", l.path, "error", err)
		case made:
			said = ""
			log.Warn("the socket was removed; it was made again", "path", l.path)
		}
	}
}

// renew listens at the path again when nothing is there any more. It takes no other's place.
func (l *listener) renew() (made bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed || l.stands() {
		return false, nil
	}
	fresh, err := Listen(l.path, l.group)
	if err != nil {
		return false, err
	}
	old, next := l.now, fresh.(*listener)
	l.now, l.file = next.now, next.file
	return true, old.Close()
}
