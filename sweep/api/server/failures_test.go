package server_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

// Failures that are alike are one group, also where a master of before that question is asked.
func TestFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := 1
	s.hire("w1", 2, func(g given) *task.Outcome {
		switch {
		case g.Index == 0:
			return well(g)
		case g.Index == 5:
			return &task.Outcome{Class: task.TimedOut, Reason: "ran longer than 5m0s",
				Duration: time.Second}
		}
		return &task.Outcome{
			Class:    task.Error,
			ExitCode: &code,
			Reason:   fmt.Sprintf("exit code 1: no file /data/%d", g.Index),
			Duration: time.Second,
		}
	})
	id := s.submit(6)
	s.becomes(id, map[string]int64{"succeeded": 1, "failed": 4, "timeout": 1})
	host := "gpu1"
	want := api.Failures{Groups: []api.FailureGroup{
		{Count: 4, Class: task.Error, Reason: "exit code 1: no file …", Task: id + "/1",
			Host: &host},
		{Count: 1, Class: task.TimedOut, Reason: "ran longer than 5m0s", Task: id + "/5",
			Host: &host},
	}}
	for _, c := range []*api.Client{s.client, old(t, s.socket())} {
		got, err := c.Failures(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Error(diff)
		}
		if _, err := c.Failures(t.Context(), "none-1"); err == nil ||
			!strings.Contains(err.Error(), "none-1") {
			t.Errorf("of a sweep that is not there: %v", err)
		}
	}
}

// old is a client of a master that does not know the questions for groups of tasks, and whose rows
// have no class.
func old(t *testing.T, socket string) *api.Client {
	t.Helper()
	at := filepath.Join(t.TempDir(), "old.sock")
	l, err := net.Listen("unix", at)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: "master"})
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", socket)
		},
	}
	proxy.Transport = transport
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/failures") || strings.HasSuffix(r.URL.Path, "/groups") {
			r.URL.Path = "/no/such/path"
		}
		proxy.ServeHTTP(w, r)
	})}
	done := make(chan struct{})
	go func() { defer close(done); _ = server.Serve(l) }()
	c := api.Dial(at)
	t.Cleanup(func() { c.Close(); _ = server.Close(); transport.CloseIdleConnections(); <-done })
	return c
}
