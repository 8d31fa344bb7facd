package monitor_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// left makes a worker known that has left.
func (s *site) left(name string) {
	s.t.Helper()
	port := s.queue.Worker(name)
	beat := task.Heartbeat{Version: task.Version, Worker: name, Host: name, Incarnation: "1", Slots: 1}
	for _, kind := range []task.EventKind{task.JoinedEvent, task.LeftEvent} {
		s.must(port.Emit(s.t.Context(), task.Event{Version: task.Version, Kind: kind, Worker: name,
			Time: time.Now(), Heartbeat: &beat}))
	}
}

// worker returns a worker as the master has it; its name is "" where there is none.
func (s *site) worker(name string) (w core.Worker) {
	s.t.Helper()
	all, err := s.master.Workers(s.t.Context())
	s.must(err)
	for _, one := range all {
		if one.Name == name {
			w = one
		}
	}
	return w
}

// Operators drain, resume, resize, restart and forget workers, each where it is possible and after a
// page that says what it does.
func TestActingOnAWorker(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 1, hold)
	s.left("w2")
	s.submit("i: [1]\n")
	v := s.enter(monitor.Operator)
	s.until("both are shown, and a task runs", func() bool {
		p := v.get("/workers").text
		return strings.Contains(p, "/workers/w1/drain") && strings.Contains(p, "/workers/w2/forget") &&
			len(s.worker("w1").Running) == 1
	})
	lacks(t, v.get("/workers"), "version <code></code>", "/workers/w1/forget", "/workers/w2/restart", "/workers/w2/slots")
	for _, step := range []struct {
		action, says string
		fields       []string
		done         func(core.Worker) bool
	}{
		{"drain", "It gets no further tasks. 1 running task keeps running.", nil,
			func(w core.Worker) bool { return w.State == core.WorkerDraining }},
		{"resume", "It gets tasks again.", nil,
			func(w core.Worker) bool { return w.State == core.WorkerReady }},
		{"slots", "run-tasks workers slots w1 N", []string{"n", " 3 "},
			func(w core.Worker) bool { return w.Wanted != nil && *w.Wanted == 3 }},
		{"restart", "The worker restarts after its running task finishes.", []string{"now", "1"},
			func(w core.Worker) bool { return w.State == core.WorkerRestarting }},
	} {
		path := "/workers/w1/" + step.action
		has(t, v.get(path), step.says)
		if p := v.agree(path, step.fields...); p.status != http.StatusSeeOther {
			t.Errorf("%s: %d %s", step.action, p.status, p.text)
		}
		s.until("after "+step.action, func() bool { return step.done(s.worker("w1")) })
	}
	if p := v.agree("/workers/w2/forget"); p.status != http.StatusSeeOther || s.worker("w2").Name != "" {
		t.Errorf("forget: %d %s", p.status, p.text)
	}
	all, err := s.master.Audit(t.Context(), api.AuditQuery{Object: "w1"})
	s.must(err)
	if a := all.Actions[0]; a.User != "anna" || a.Action != "restart" || a.Detail != "now=true" {
		t.Errorf("the audit has %+v", a)
	}
}

// What cannot be done with a worker, a number that is none, and who may not act change nothing.
func TestActingOnAWorkerInVain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, nil)
	s.left("w2")
	v, viewer := s.enter(monitor.Operator), s.enter(monitor.Viewer)
	s.until("both are shown", func() bool {
		return s.worker("w1").State == core.WorkerReady && s.worker("w2").State == core.WorkerAway
	})
	form := url.Values{"count": {"0"}, "n": {"3"}}
	for _, action := range []string{"drain", "resume", "slots", "restart", "forget"} {
		for _, worker := range []string{"w1", "w2"} {
			path := "/workers/" + worker + "/" + action
			if p := viewer.post(path, form); p.status != http.StatusForbidden {
				t.Errorf("a viewer: %s: %d", path, p.status)
			}
			if p := v.do(http.MethodPost, path, form.Encode(), func(r *http.Request) {
				r.Header.Set("Origin", "http://evil.example")
			}); p.status != http.StatusForbidden {
				t.Errorf("a page of another site: %s: %d", path, p.status)
			}
		}
		if p := v.post("/workers/w9/"+action, form); p.status != http.StatusNotFound ||
			!strings.Contains(p.text, "There is no worker w9.") {
			t.Errorf("%s of a worker that left: %d %s", action, p.status, p.text)
		}
	}
	lacks(t, viewer.get("/workers"), "/workers/w1/", "/workers/w2/")
	for _, n := range []string{"", "x", "-1", "4097", "1.5"} {
		form := url.Values{"count": {"0"}, "n": {n}}
		if p := v.post("/workers/w1/slots", form); p.status != http.StatusBadRequest ||
			!strings.Contains(p.text, "is not a whole number from 0 to 4096.") {
			t.Errorf("%q slots: %d %s", n, p.status, p.text)
		}
	}
	for path, says := range map[string]string{
		"/workers/w1/forget": "w1 is ready", "/workers/w2/restart": "w2 is away",
	} {
		if p := v.post(path, form); p.status != http.StatusConflict || !strings.Contains(p.text, says) {
			t.Errorf("%s: %d %s", path, p.status, p.text)
		}
	}
	if w := s.worker("w1"); w.State != core.WorkerReady || w.Wanted != nil ||
		s.worker("w2").Name == "" {
		t.Errorf("something was done: %+v", w)
	}
}

// Operators change the priority of a sweep.
func TestPriority(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: [1, 2]\n")
	v := s.enter(monitor.Operator)
	path := "/sweeps/" + id + "/priority"
	has(t, v.get("/sweeps/"+id), `href="`+s.prefix()+path+`"`)
	has(t, v.get(path), `value="0" min="-1000" max="1000"`)
	if p := v.agree(path, "n", "1001"); p.status != http.StatusBadRequest {
		t.Errorf("too high: %d %s", p.status, p.text)
	}
	if p := v.agree(path, "n", "-7"); p.status != http.StatusSeeOther {
		t.Errorf("lower: %d %s", p.status, p.text)
	}
	got, err := s.master.Sweep(t.Context(), id, false)
	s.must(err)
	if got.Priority != -7 {
		t.Errorf("the priority is %d", got.Priority)
	}
}
