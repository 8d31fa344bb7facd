package main_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
)

// front listens at front.sock for a master, and passes everything on. Before a request to a path
// that ends so it does something to the master, once. A connection to the master that breaks breaks
// the client's, too.
func (f folder) front(path string, do func()) {
	f.t.Helper()
	l, err := net.Listen("unix", f.path("front.sock"))
	if err != nil {
		f.t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "master"})
	proxy.Transport = &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", f.path("m.sock"))
		}}
	proxy.ErrorHandler = func(http.ResponseWriter, *http.Request, error) {
		panic(http.ErrAbortHandler)
	}
	var done atomic.Bool // a command may ask two things side by side
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, path) && done.CompareAndSwap(false, true) {
			do()
		}
		proxy.ServeHTTP(w, r)
	})}
	go func() { _ = server.Serve(l) }() // it ends with the listener
	f.t.Cleanup(func() { _ = server.Close() })
}

// frozenOn has a master freeze when it is asked for a path through front.sock. The returned
// function lets it go on.
func (f folder) frozenOn(m *served, path string) (thaw func()) {
	f.t.Helper()
	thaw = func() {}
	f.front(path, func() { thaw = m.freeze(f.t) })
	return func() { thaw() }
}

// A master that is killed while it has a write: the command asks the next one, and where there is
// none says what is not known.
func TestTheMasterDiesWithAWrite(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		path  string
		args  string
		again bool // it is started again
		code  int
		says  string // on either stream
	}{
		"pause": {"/pause", "pause work-1", false, 4, "the request may or may " +
			"not have taken effect\n  check before you retry: run-tasks --master front.sock show " +
			"work-1\n"},
		"extend": {"/extend", "extend -q work-1", false, 4, "show work-1\n"},
		"submit": {"/sweeps", "-d p -q work", false, 4,
			"check before you retry: run-tasks --master front.sock ls\n"},
		"drain": {"/drain", "workers drain w1", false, 4,
			"run-tasks --master front.sock workers\n"},
		"pause, and it comes back": {"/pause", "pause work-1", true, 0, "work-1 is paused"},
		"cancel, likewise":         {"/cancel", "cancel work-1", true, 0, "work-1 is cancelled"},
		"submit, likewise":         {"/sweeps", "-d p -q work", true, 0, "work-2\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, "grace: 30s", waiting)
			m := f.master()
			first := f.start(nil, "--master", "m.sock", "-d", "p", "--no-output", "work")
			f.running(3)
			f.write("p/parameters.yml", "x: [1, 2, 3, 4, 5]\n")
			f.front(c.path, func() {
				m.kill()
				if c.again {
					f.master()
				}
				if strings.HasPrefix(c.args, "-d") {
					f.write("go", "")
				}
			})
			stdout, stderr, code := f.run(append([]string{"--master", "front.sock"},
				strings.Fields(c.args)...)...)
			if code != c.code || !strings.Contains(stdout+stderr, c.says) {
				t.Errorf("exit code %d: %s%s", code, stdout, stderr)
			}
			for _, inner := range []string{"unix @", "read unix", "EOF"} {
				if strings.Contains(stderr, inner) {
					t.Errorf("it speaks of %s: %s", inner, stderr)
				}
			}
			_ = first
		})
	}
}
