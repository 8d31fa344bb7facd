package server_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Output that cannot be had because its worker is away is no fault of whoever is asked.
func TestOutputOfAWorkerThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 1, well)
	id := s.submit(1)
	s.becomes(id, map[string]int64{"succeeded": 1})
	beat := task.Heartbeat{Version: task.Version, Worker: "w1", Host: "gpu1", Incarnation: "1"}
	left := h.event(task.LeftEvent, given{})
	left.Heartbeat = &beat
	h.emit(left)
	s.until("it is away", func() bool {
		all, err := s.client.Workers(t.Context())
		s.must(err)
		return len(all) == 1 && all[0].State == core.WorkerAway
	})
	status, text, _ := s.raw("GET", "/v1/sweeps/"+id+"/tasks/0/output", "")
	if status != http.StatusServiceUnavailable ||
		!strings.Contains(text, "the output is on worker w1, which is away") {
		t.Errorf("%d %s", status, text)
	}
}

// Output that is followed goes on where it was when its worker is back, as behind a restart of the
// master. Where nothing was read yet it is an error, as it is where nothing is followed.
func TestFollowedOutputWaitsForItsWorker(t *testing.T) {
	t.Parallel()
	answers := []func(http.ResponseWriter){
		func(w http.ResponseWriter) {
			_, _ = io.WriteString(w, "first\n")
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		},
		func(w http.ResponseWriter) {
			w.WriteHeader(http.StatusServiceUnavailable)
			_, _ = io.WriteString(w, `{"error": "the output is on worker w1, which is away"}`)
		},
		func(w http.ResponseWriter) { _, _ = io.WriteString(w, "last\n") },
	}
	follow := func(answers []func(http.ResponseWriter)) (text string, asked []string, err error) {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.URL.Query().Get("offset"))
			w.Header().Set("Output-File", "w1:1")
			next := answers[0]
			answers = answers[1:]
			next(w)
		}))
		defer server.Close()
		client := dialTo(server)
		defer client.Close()
		client.OnDisconnect = func(error) (end bool) { return false }
		var to strings.Builder
		err = client.Output(t.Context(), task.ID{Sweep: "train-1"},
			api.OutputOptions{Attempt: 1, Follow: true}, &to)
		return to.String(), asked, err
	}
	text, asked, err := follow(answers)
	if err != nil || text != "first\nlast\n" || !slices.Equal(asked, []string{"0", "6", "6"}) {
		t.Errorf("%q, asked from %q: %v", text, asked, err)
	}
	if text, _, err = follow(answers[1:]); err == nil || text != "" {
		t.Errorf("nothing was read yet: %q, %v", text, err)
	}
}

// A task that only one worker can run says for whom it waits, wherever it is shown.
func TestATaskThatWaitsForItsWorkerSaysSo(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	ctx, c := t.Context(), s.client
	s.hire("w1", 1, well)
	s.hire("w2", 1, well)
	s.until("both are ready", func() bool {
		all, err := c.Workers(ctx)
		s.must(err)
		return len(all) == 2 && all[0].State == core.WorkerReady && all[1].State == core.WorkerReady
	})
	_, err := c.Drain(ctx, "w2", false)
	s.must(err)
	sub := submission(t, 1)
	sub.Record.EachWorker = true
	made, err := c.Submit(ctx, sub, "", "")
	s.must(err)
	s.becomes(made.ID, map[string]int64{"succeeded": 1, "pending": 1})
	want := "waits for worker w2, which takes nothing new; `run-tasks workers resume w2` lets it"
	one, err := c.Task(ctx, made.ID, 1)
	s.must(err)
	got := map[string]string{"task": one.Row.Reason}
	page, err := c.Tasks(ctx, made.ID, api.Query{After: "1", Limit: 1})
	s.must(err)
	got["page"] = page.Tasks[0].Reason
	s.must(c.Rows(ctx, made.ID, api.Query{},
		func(r *table.Row) error { got["rows"] = r.Reason; return nil }))
	enough := errors.New("enough")
	err = server.ReadEvents(ctx, s.socket(), made.ID, "", func(_, data string) error {
		var u api.Update
		s.must(json.Unmarshal([]byte(data), &u))
		if len(u.Rows) > 0 {
			got["events"] = u.Rows[0].Reason
		}
		return enough
	})
	if !errors.Is(err, enough) {
		t.Fatal(err)
	}
	for _, where := range []string{"task", "page", "rows", "events"} {
		if got[where] != want {
			t.Errorf("%s: %q; want %q", where, got[where], want)
		}
	}
	_, err = c.Drain(ctx, "w2", true)
	s.must(err)
	s.becomes(made.ID, map[string]int64{"succeeded": 2})
}
