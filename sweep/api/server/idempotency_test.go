package server_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// A write that comes again under its key, by a client that did not hear the answer, is not done
// again: whatever others did in between stays, also behind a restart of the master, and the answer
// is how things stand.
func TestAWriteIsDoneOnceUnderItsKey(t *testing.T) {
	t.Parallel()
	space := `{"space":{"version":1,"parameters":[{"name":"i","values":["7","8"]}]}}`
	for name, c := range map[string]struct {
		before    []string // writes that lead to where the write can be done
		write     string
		body      string
		between   []string // what others do before it comes again
		want      string   // of the answer to the second
		unchanged string   // of the answer to the second: what it would be if it were done again
	}{
		"cancel": {nil, "/sweeps/train-1/cancel", "",
			[]string{"/sweeps/train-1/retry"}, `"state":"running"`, `"state":"cancelled"`},
		"a task's cancel": {nil, "/sweeps/train-1/tasks/4/cancel", "",
			nil, `"cancelled":1`, `already`},
		"pause": {nil, "/sweeps/train-1/pause", "",
			[]string{"/sweeps/train-1/resume"}, `"state":"running"`, `"state":"paused"`},
		"resume": {[]string{"/sweeps/train-1/pause"}, "/sweeps/train-1/resume", "",
			[]string{"/sweeps/train-1/pause"}, `"state":"paused"`, `"state":"running"`},
		"retry": {[]string{"/sweeps/train-1/cancel"}, "/sweeps/train-1/retry", "",
			[]string{"/sweeps/train-1/cancel"}, `"state":"cancelled"`, `"state":"running"`},
		"a task's retry": {[]string{"/sweeps/train-1/tasks/4/cancel"}, "/sweeps/train-1/retry",
			`{"indexes":[4]}`, nil, `"cancelled":0`, "is pending"},
		"extend": {nil, "/sweeps/train-1/extend", space,
			[]string{"/sweeps/train-1/cancel"}, `"total":7`, `is cancelled`},
		"priority": {nil, "/sweeps/train-1/priority?n=4", "",
			[]string{"/sweeps/train-1/priority?n=1"}, `"priority":1`, `"priority":4`},
		"reread": {[]string{"/sweeps/train-1/cancel"}, "/sweeps/train-1/reread",
			`{"metrics":[],"objective":{"metric":"","maximize":false},"tasks":[]}`,
			nil, `"state":"cancelled"`, "already"},
		"drain": {nil, "/workers/w1/drain", "",
			[]string{"/workers/w1/resume"}, `"state":"ready"`, `"state":"draining"`},
		"drain for a replacement": {nil, "/workers/w1/drain?for=replacement", "",
			[]string{"/workers/w1/resume"}, `"drained_for":null`, `"drained_for":"replacement"`},
		"a worker's resume": {[]string{"/workers/w1/drain"}, "/workers/w1/resume", "",
			[]string{"/workers/w1/drain"}, `"state":"draining"`, `"state":"ready"`},
		"slots": {nil, "/workers/w1/slots?n=3", "",
			[]string{"/workers/w1/slots?n=2"}, `"wanted_slots":2`, `"wanted_slots":3`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.hire("w1", 1, hold)
			heard := func() bool {
				all, err := s.client.Workers(t.Context())
				return err == nil && len(all) == 1 && all[0].State != core.WorkerAway
			}
			s.until("w1 is heard", heard)
			_, _, _ = s.raw("POST", "/v1/workers/w1/slots?n=1", "")
			s.submit(5)
			write := func(path, body, key string) string {
				t.Helper()
				status, text, _ := s.raw("POST", "/v1"+path, body, "Idempotency-Key", key)
				if status != http.StatusOK {
					t.Errorf("%s under %s: %d %s", path, key, status, text)
				}
				return text
			}
			for _, path := range c.before {
				write(path, "", "before"+path)
			}
			write(c.write, c.body, "key")
			for _, path := range c.between {
				write(path, "", "between"+path)
			}
			s.again()
			s.until("w1 is heard again", heard)
			text := write(c.write, c.body, "key")
			if !strings.Contains(text, c.want) || strings.Contains(text, c.unchanged) {
				t.Errorf("the second answer is %s; want %s", text, c.want)
			}
			action := c.write[strings.LastIndexByte(c.write, '/')+1:]
			action, _, _ = strings.Cut(action, "?")
			page, err := s.client.Audit(t.Context(), api.AuditQuery{})
			s.must(err)
			of := 0
			for _, e := range page.Actions {
				if e.Action == action {
					of++
				}
			}
			for _, path := range append(c.before, c.between...) {
				if strings.HasSuffix(path, "/"+action) || strings.Contains(path, "/"+action+"?") {
					of--
				}
			}
			if name == "slots" {
				of-- // the first of all
			}
			if of != 1 {
				t.Errorf("the audit has the write %d times: %q", of, done(page.Actions))
			}
			other := "/v1/sweeps/train-1/priority?n=9"
			if status, text, _ := s.raw("POST", other, "", "Idempotency-Key", "key"); status !=
				http.StatusConflict || !strings.Contains(text, "used for another request") {
				t.Errorf("another request under the key: %d %s", status, text)
			}
		})
	}
}

// A restart that comes again under its key does not restart the process that came meanwhile.
func TestARestartIsOfOneProcess(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	restarts := make(chan string, 100)
	s.controls = func(name string, c task.Control) {
		if c.Kind == task.RestartControl {
			restarts <- c.Incarnation
		}
	}
	h := s.hire("w1", 1, hold)
	s.until("w1 is known", func() bool {
		all, err := s.client.Workers(t.Context())
		return err == nil && len(all) == 1
	})
	restart := func() {
		t.Helper()
		status, text, _ := s.raw("POST", "/v1/workers/w1/restart", "", "Idempotency-Key", "key")
		if status != http.StatusOK {
			t.Fatalf("%d %s", status, text)
		}
	}
	restart()
	if got := <-restarts; got != "1" {
		t.Errorf("process %q is to restart", got)
	}
	h.fire()
	s.hireThat(task.Heartbeat{Worker: "w1", Slots: 1, Incarnation: "2"}, hold)
	restart()
	id := s.submit(1)
	s.becomes(id, map[string]int64{"running": 1}) // nothing else is told to the process before
	for len(restarts) > 0 {
		if got := <-restarts; got == "2" {
			t.Error("the process that came is to restart, too")
		}
	}
}

// A submission that comes again makes one sweep, and is one entry of the audit.
func TestASubmissionIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for range 2 {
		for range 2 {
			made, err := s.client.Submit(t.Context(), submission(t, 3), "key", "")
			if s.must(err); made.ID != "train-1" {
				t.Errorf("made %s", made.ID)
			}
		}
		s.again()
	}
	page, err := s.client.Audit(t.Context(), api.AuditQuery{})
	s.must(err)
	if diff := cmp.Diff([]string{"ann submit sweep train-1 done"}, done(page.Actions)); diff != "" {
		t.Error(diff)
	}
}
