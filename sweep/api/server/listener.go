package server

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// listener is a Unix socket at a path. One that is removed is made again; connections that there
// are stay. Closing it removes the socket.
type listener struct {
	path     string
	steering bool // only questions are answered here, and sweeps and workers steered

	mu     sync.Mutex
	now    *net.UnixListener
	file   fs.FileInfo // of its socket
	closed bool
}

// current returns the listener of now; false once it was closed.
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

// stands reports whether the path still leads to this socket, or cannot be examined.
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
			log.Warn("the socket was removed and cannot be created again; the API is unreachable "+
				"here",
				"path", l.path, "error", err)
		case made:
			said = ""
			log.Warn("the socket was removed and is created again", "path", l.path)
		}
	}
}

// renew listens at the path again when nothing is there any more. It takes no other's place.
func (l *listener) renew() (made bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false, nil
	}
	if l.stands() {
		l.touch(time.Now())
		return false, nil
	}
	fresh, err := Listen(l.path)
	if err != nil {
		return false, err
	}
	old, next := l.now, fresh.(*listener)
	l.now, l.file = next.now, next.file
	return true, old.Close()
}

// touchEvery is how often the socket and its folder are touched: systemd-tmpfiles removes what has
// not changed for 10 days from /tmp, and for 30 days from /var/tmp.
const touchEvery = 24 * time.Hour

// touch gives the socket and its folder a new time when theirs is a day old.
func (l *listener) touch(now time.Time) {
	for _, path := range []string{l.path, filepath.Dir(l.path)} {
		info, err := os.Stat(path)
		if err != nil || now.Sub(info.ModTime()) < touchEvery {
			continue
		}
		_ = os.Chtimes(path, now, now) // they are our own; what removes them is told of by watch
	}
}

// Listen opens a Unix socket for a server, mode 0600. It replaces a socket on which no process
// listens, and no other file. Closing the listener removes the socket.
func Listen(path string) (net.Listener, error) {
	if err := removeStale(path); err != nil {
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
	file, err := publish(made, path)
	if err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return &listener{path: path, now: l, file: file}, nil
}

// publish sets who may open a socket, and then moves it to where it is looked for.
func publish(made, path string) (fs.FileInfo, error) {
	if err := os.Chmod(made, 0o600); err != nil {
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

// ListenForMonitor opens a socket as Listen does, for the monitor: through it a server only serves
// routes that read, and those that the table of routes marks as asking or steering.
func ListenForMonitor(path string) (net.Listener, error) {
	l, err := Listen(path)
	if err != nil {
		return nil, err
	}
	l.(*listener).steering = true
	return l, nil
}

// removeStale removes what an earlier server left.
func removeStale(path string) error {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.Mode().Type() != fs.ModeSocket:
		return fmt.Errorf("listen on %s: the path exists and is not a socket; move it away", path)
	}
	if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
		_ = conn.Close()
		return fmt.Errorf("listen on %s: another process listens there", path)
	}
	return os.Remove(path)
}
