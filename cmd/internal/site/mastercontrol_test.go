package site_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"mlframework/cmd/internal/site"
)

// drainMaster answers as a master with the worker gpu2.
type drainMaster struct {
	mu      sync.Mutex
	drained bool
	reason  string
}

func (m *drainMaster) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	m.mu.Lock()
	defer m.mu.Unlock()
	reason := r.URL.Query().Get("for")
	switch person := m.drained && m.reason == ""; {
	case r.Method == http.MethodGet:
	case reason != "" && person:
	case strings.HasSuffix(r.URL.Path, "/workers/gpu2/drain"):
		m.drained, m.reason = true, reason
	case strings.HasSuffix(r.URL.Path, "/workers/gpu2/resume"):
		m.drained, m.reason = false, ""
	}
	state := map[bool]string{true: "draining", false: "ready"}[m.drained]
	worker := fmt.Sprintf(`{"name":"gpu2","state":%q,"seen":"2026-01-02T03:04:05Z"`, state)
	if m.reason != "" {
		worker += fmt.Sprintf(`,"drained_for":%q`, m.reason)
	}
	if worker += "}"; r.Method == http.MethodGet {
		worker = `{"workers":[` + worker + "]}"
	}
	fmt.Fprint(w, worker)
}

// A resume after a replacement does not lift a person's drain.
func TestControlDrains(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		person bool
		want   string
	}{
		"drained by infrainit": {false, "ready"},
		"drained by a person":  {true, "draining"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := &drainMaster{drained: c.person}
			server := httptest.NewServer(m)
			t.Cleanup(server.Close)
			dial := func(ctx context.Context) (net.Conn, error) {
				return new(net.Dialer).DialContext(ctx, "tcp", server.Listener.Addr().String())
			}
			control := site.NewControl()
			if err := control.Drain(t.Context(), dial, "gpu2"); err != nil || !m.drained {
				t.Fatalf("drained: %v, %v", m.drained, err)
			}
			all, err := control.Workers(t.Context(), dial)
			if err != nil || len(all) != 1 || !all[0].Drained ||
				all[0].Replaced != (c.want == "ready") {
				t.Errorf("%+v, %v", all, err)
			}
			for range 2 {
				if err := control.Undrain(t.Context(), dial, "gpu2"); err != nil {
					t.Error(err)
				}
			}
			if m.drained != (c.want == "draining") {
				t.Errorf("drained: %v", m.drained)
			}
		})
	}
}
