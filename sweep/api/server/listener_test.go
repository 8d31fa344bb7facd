package server_test

import (
	"errors"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
)

func TestListen(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "api.sock")
	listen := func() net.Listener {
		t.Helper()
		l, err := server.Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	mode := func() fs.FileMode {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return info.Mode()
	}
	l := listen()
	if mode() != fs.ModeSocket|0o600 {
		t.Errorf("mode %v", mode())
	}
	if _, err := server.Listen(path); err == nil || !strings.Contains(err.Error(),
		"another process listens there") {
		t.Errorf("a second one: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := os.ReadDir(filepath.Dir(path)); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
	abandon(t, path)
	_ = listen().Close()
	if err := os.WriteFile(path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := server.Listen(path); err == nil || !strings.Contains(err.Error(),
		"not a socket") {
		t.Errorf("on a file: %v", err)
	}
	if text, _ := os.ReadFile(path); string(text) != "mine" {
		t.Error("the file is gone")
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	abandon(t, path)
	client := api.Dial(path)
	defer client.Close()
	_, err := client.Health(t.Context())
	if e, ok := errors.AsType[*api.Unreachable](err); !ok || e.Reason != "nothing listens there" ||
		!errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("%v", err)
	}
}

// abandon leaves a socket behind, as a process that was killed does.
func abandon(t *testing.T, path string) {
	t.Helper()
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
}

// A socket that is removed under a server is made again, and that is logged. Another process's
// place is not taken.
func TestASocketThatWasRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	followed := make(chan error, 1)
	first := make(chan struct{}, 1)
	go func() {
		followed <- s.client.Follow(t.Context(), id, api.FollowOptions{}, func(api.Update) error {
			select {
			case first <- struct{}{}:
			default:
			}
			return nil
		})
	}()
	<-first
	s.must(os.Remove(s.socket()))
	other := api.Dial(s.socket())
	defer other.Close()
	s.until("it listens again", func() bool {
		_, err := other.Health(t.Context())
		return err == nil
	})
	s.until("it logs that the socket was made again", func() bool {
		return strings.Contains(s.log.String(), "the socket was removed and is created again")
	})
	if info, err := os.Stat(s.socket()); err != nil || info.Mode() != fs.ModeSocket|0o600 {
		t.Errorf("%v, %v", info, err)
	}
	s.hire("w1", 1, well)
	if err := <-followed; err != nil {
		t.Errorf("who followed meanwhile: %v", err)
	}
	s.must(os.Remove(s.socket()))
	taken, err := net.Listen("unix", s.socket())
	s.must(err)
	defer taken.Close()
	s.until("it says that it cannot", func() bool {
		return strings.Contains(s.log.String(), "another process listens there")
	})
	s.end()
	if _, err := os.Stat(s.socket()); err != nil {
		t.Errorf("the other's socket is gone: %v", err)
	}
}

// What cleans /tmp never finds socket and folder of a server that runs to be old.
func TestASocketStaysFresh(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "api.sock")
	l, err := server.Listen(path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	now := time.Now()
	for age, touched := range map[time.Duration]bool{23 * time.Hour: false, 25 * time.Hour: true} {
		for _, p := range []string{path, dir} {
			if err := os.Chtimes(p, now.Add(-age), now.Add(-age)); err != nil {
				t.Fatal(err)
			}
		}
		if err := server.Renew(l); err != nil {
			t.Fatal(err)
		}
		for _, p := range []string{path, dir} {
			info, err := os.Stat(p)
			if err != nil || (now.Sub(info.ModTime()) < time.Hour) != touched {
				t.Errorf("%v old, %s is of %v: %v", age, p, info.ModTime(), err)
			}
		}
	}
}
