package server_test

import (
	"context"
	"io/fs"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"mlframework/sweep/api/server"
)

// At no moment there is a socket that others may open, nor a folder that they may enter, with the
// widest umask. The test is not parallel: the umask is the process's.
func TestASocketIsNeverWide(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0))
	dir := t.TempDir()
	path := filepath.Join(dir, "api.sock")
	ctx, stop := context.WithCancel(t.Context())
	var looking sync.WaitGroup
	looking.Go(func() {
		for ctx.Err() == nil {
			entries, _ := os.ReadDir(dir)
			for _, e := range entries {
				if info, err := os.Lstat(filepath.Join(dir, e.Name())); err == nil &&
					info.Mode().Perm()&0o077 != 0 {
					t.Errorf("%s: %v", e.Name(), info.Mode())
					return
				}
			}
		}
	})
	for range 200 {
		l, err := server.Listen(path)
		if err != nil {
			t.Fatal(err)
		}
		if info, err := os.Lstat(path); err != nil || info.Mode() != fs.ModeSocket|0o600 {
			t.Fatalf("%v, %v", info, err)
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	looking.Wait()
}

// A user who gets through to a socket that is not his, whatever its mode, is refused.
func TestStrangersAreRefused(t *testing.T) {
	t.Parallel()
	for own, trusted := range map[[2]int]bool{{1000, 1000}: true, {0, 1000}: true,
		{1001, 1000}: false, {1000, 0}: false} {
		if server.Trusted(own[0], own[1]) != trusted {
			t.Errorf("uid %d at a socket of uid %d: want %v", own[0], own[1], trusted)
		}
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can be a stranger to itself: the rule was tested, the socket was not")
	}
	s := newSite(t)
	for dir := s.folder; dir != "/"; dir = filepath.Dir(dir) {
		s.must(os.Chmod(dir, 0o755|fileMode(dir)))
	}
	s.must(os.Chmod(s.socket(), 0o666))
	client := http.Client{Timeout: 10 * time.Second,
		Transport: &http.Transport{DisableKeepAlives: true,
			DialContext: func(context.Context, string, string) (net.Conn, error) {
				return dialAs(s.socket(), 65534)
			}}}
	r, err := http.NewRequestWithContext(
		t.Context(),
		http.MethodGet,
		"http://master/v1/health",
		http.NoBody,
	)
	s.must(err)
	answer, err := client.Do(r)
	s.must(err)
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusForbidden ||
		!strings.Contains(s.log.String(), "this socket is for uid 0 alone, and you are uid 65534") {
		t.Errorf("%d, and the log says %s", answer.StatusCode, s.log)
	}
}

// fileMode is the mode of a folder, with the bits that make /tmp what it is.
func fileMode(path string) fs.FileMode {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Mode()
}

// dialAs opens a connection as another user. The thread that does it ends with its goroutine.
func dialAs(socket string, uid int) (c net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		if _, _, e := syscall.RawSyscall(syscall.SYS_SETRESUID, ^uintptr(0), uintptr(uid),
			^uintptr(0)); e != 0 {
			err = e
			return
		}
		c, err = net.Dial("unix", socket)
	}()
	<-done
	return c, err
}
