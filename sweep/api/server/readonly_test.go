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

// Every route that may change something is refused at the read-only socket, before anything is done
// or recorded; every other one is answered there.
func TestReadOnlySocket(t *testing.T) {
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
	_, err = client.Cancel(t.Context(), id)
	if e, ok := errors.AsType[*api.Error](err); !ok ||
		e.Error() != "this socket of the master is read-only; use its other socket" {
		t.Errorf("a cancel: %v", err)
	}
}

// A read-only socket that was removed is made again as one.
func TestReadOnlySocketThatWasRemoved(t *testing.T) {
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
	_, err := client.Cancel(t.Context(), id)
	if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusForbidden {
		t.Errorf("a cancel: %v", err)
	}
}
