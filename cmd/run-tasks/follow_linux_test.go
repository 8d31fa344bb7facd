package main_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"strings"
	"testing"

	"mlframework/internal/processtest"
)

// between puts a proxy before the runner of a folder. What follows the sweep is not answered:
// instead do is called, which ends the runner, and with it nobody can be reached.
func (f folder) between(do func()) {
	f.t.Helper()
	path, moved := f.path(".mlframework/run.sock"), f.path(".mlframework/moved.sock")
	if err := os.Rename(path, moved); err != nil {
		f.t.Fatal(err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		f.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "runner"})
	proxy.Transport = &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", moved)
		}}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/events") {
			do()
			_ = l.Close()
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(l) }() // it ends with the listener
	f.t.Cleanup(func() { _ = server.Close() })
}

// A runner that is killed before it answers who follows: that says how the sweep stands.
func TestRunnerKilledUnheard(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", stubborn)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.known(2)
	f.between(func() {
		processtest.Kill(t, c.guard())
		<-c.ended
	})
	_, stderr, code := f.run("follow")
	if code != 1 || !strings.Contains(stderr, "work-1 is paused (its run was killed while 2 "+
		"tasks were running); to continue: run-tasks resume work-1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
}

// A runner that ends well before it answers who extended its sweep: that is told how the tasks
// ended, from the store.
func TestRunnerEndedUnheard(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", polite)
	c := f.start(nil, "--local", "-d", "p", "--slots", "2", "work")
	f.running(3)
	f.write("p/parameters.yml", "x: [1, 2, 3, 4, 5]\n")
	f.between(func() {
		f.write("go", "")
		<-c.ended
	})
	stdout, stderr, code := f.run("extend", "work-1")
	if code != 0 || !strings.Contains(stdout, "5 tasks: 5 succeeded") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
	for index, want := range []int{0, 1, 1, 1, 1} { // the first had ended before
		if n := strings.Count(stdout, fmt.Sprintf("work-1/%d succeeded", index)); n != want {
			t.Errorf("the end of task %d was told %d times:\n%s", index, n, stdout)
		}
	}
}
