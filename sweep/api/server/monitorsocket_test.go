package server_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
)

// The monitor's socket serves routes that read or steer. Every other one is refused there before
// anything is done or recorded, and a sweep cannot go on with other code.
func TestMonitorSocket(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	reading := http.Client{Transport: &http.Transport{DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "unix", s.readSocket())
		}}}
	before, err := s.client.Audit(t.Context(), api.AuditQuery{})
	s.must(err)
	names := strings.NewReplacer("{sweep}", id, "{index}", "0", "{worker}", "w1")
	for _, r := range server.Routes() {
		if r.Steers {
			continue
		}
		request, err := http.NewRequestWithContext(t.Context(), r.Method,
			"http://master/v1"+names.Replace(r.Path), http.NoBody)
		s.must(err)
		answer, err := reading.Do(request)
		s.must(err)
		_ = answer.Body.Close() // of a stream, too
		if refused := answer.StatusCode == http.StatusForbidden; refused == r.Asks {
			t.Errorf("%s %s: %d", r.Method, r.Path, answer.StatusCode)
		}
	}
	after, err := s.client.Audit(t.Context(), api.AuditQuery{})
	s.must(err)
	if len(after.Actions) != len(before.Actions) {
		t.Errorf("the record got %v", done(after.Actions))
	}
	client := api.Dial(s.readSocket())
	defer client.Close()
	client.User = "anna"
	refused := func(what string, err error) {
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusForbidden {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err = client.Resume(t.Context(), id,
		api.ResumeRequest{Continuation: api.Continuation{Revision: "other"}}, "")
	refused("another revision", err)
	client.Environ = api.Environ{"LD_PRELOAD=evil.so"}
	_, err = client.Retry(t.Context(), id, api.ResumeRequest{}, "")
	refused("another environment", err)
	client.Environ = nil
	_, err = client.Cancel(t.Context(), id)
	s.must(err)
	after, err = s.client.Audit(t.Context(), api.AuditQuery{})
	s.must(err)
	if text := strings.Join(done(after.Actions), "\n"); !strings.Contains(text,
		"anna cancel sweep "+id+" done") {
		t.Errorf("the record has %s", text)
	}
}

// A socket for the monitor that was removed is made again as one.
func TestMonitorSocketThatWasRemoved(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	s.must(os.Remove(s.readSocket()))
	client := api.Dial(s.readSocket())
	defer client.Close()
	s.until("it listens again", func() bool {
		_, err := client.Health(t.Context())
		return err == nil
	})
	err := client.Remove(t.Context(), id)
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusForbidden {
		t.Errorf("rm: %v", err)
	}
}
