package main_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/notify"
)

// A web hook is told by a master. Nothing that is shown has more of its URL than scheme and host.
func TestNotifyURL(t *testing.T) {
	t.Parallel()
	got := make(chan notify.Message, 10)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m notify.Message
		if err := json.NewDecoder(r.Body).Decode(&m); err != nil || r.URL.Path != "/T0/secret" {
			t.Errorf("%s: %v", r.URL, err)
		}
		got <- m
		w.WriteHeader(http.StatusTeapot)
	}))
	t.Cleanup(s.Close)
	f := newFolder(t, "grace: 30s", "exit 3\n")
	tasks, err := os.ReadFile(f.path("p/tasks.yml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("p/tasks.yml", "notify: {url: "+s.URL+"/T0/secret}\n"+string(tasks))
	f.master()
	f.start(nil, "--master", "m.sock", "-d", "p", "work").ends(1)
	said := ""
	eventually(t, deadline, "it is noted that the hook failed", func() bool {
		said, _, _ = f.run("--master", "m.sock", "show")
		return strings.Contains(said, "ended: "+s.URL+" was not told: "+s.URL+
			" answered 418 I'm a teapot")
	})
	for _, args := range [][]string{{"show", "--json"}, {"ls", "--json"}, {"results", "--json"},
		{"show", "work-1/0", "--json"}} {
		stdout, stderr, _ := f.run(append([]string{"--master", "m.sock"}, args...)...)
		said += stdout + stderr
	}
	if strings.Contains(said, "secret") {
		t.Errorf("the URL is told:\n%s", said)
	}
	client := api.Dial(f.path("m.sock"))
	defer client.Close()
	if w, err := client.Sweep(t.Context(), "work-1", true); err != nil ||
		w.Record.Notify.URL != s.URL {
		t.Errorf("the API tells %+v: %v", w.Record.Notify, err)
	}
	if m := <-got; m.Sweep != "work-1" || m.Failures[0].Reason != "exit code 3" {
		t.Errorf("told %+v", m)
	}
}

// A master that is killed while it sends a message sends it when it is back.
func TestNotifyAfterAKill(t *testing.T) {
	t.Parallel()
	came, answer := make(chan struct{}, 10), make(chan struct{})
	s := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // only then it is seen that the client is gone
		came <- struct{}{}
		select {
		case <-answer:
		case <-r.Context().Done():
		}
	}))
	t.Cleanup(s.Close)
	f := newFolder(t, "grace: 30s", "exit 0\n")
	tasks, err := os.ReadFile(f.path("p/tasks.yml"))
	if err != nil {
		t.Fatal(err)
	}
	f.write("p/tasks.yml", "notify: {url: "+s.URL+"}\n"+string(tasks))
	m := f.master()
	f.start(nil, "--master", "m.sock", "-d", "p", "work").ends(0)
	eventually(t, deadline, "a message came", func() bool { return len(came) == 1 })
	m.kill()
	f.master()
	eventually(t, deadline, "it came again", func() bool { return len(came) == 2 })
	close(answer)
	eventually(t, deadline, "it is kept that it was sent", func() bool {
		said, _, _ := f.run("--master", "m.sock", "show")
		return strings.Contains(said, "ended: "+s.URL+" was told at 20")
	})
	if n := len(came); n != 2 {
		t.Errorf("%d messages came", n)
	}
}

// What runs at the end of a sweep is submitted once, and runs again after a kill, with the same
// ON_END_ID.
func TestOnEndAfterAKill(t *testing.T) {
	t.Parallel()
	f := newFolder(t, "grace: 30s", "exit 0\n")
	f.write("p/tasks.yml", "tasks:\n  work:\n    command: [\"true\"]\n"+
		"    on-end: {run: [sh, -c, 'echo $ON_END_ID >> "+f.path("ends")+"; until test -e "+
		f.path("go")+"; do sleep 0.1; done']}\n")
	m := f.master()
	f.start(nil, "--master", "m.sock", "-d", "p", "work").ends(0)
	eventually(t, deadline, "it runs", func() bool { return len(f.lines("ends")) == 1 })
	m.kill()
	f.master()
	eventually(t, deadline, "it runs again", func() bool { return len(f.lines("ends")) == 2 })
	f.write("go", "")
	f.start(nil, "--master", "m.sock", "wait", "on-end-1").ends(0)
	ends := f.lines("ends")
	if ends[0] != ends[1] || !strings.HasPrefix(ends[0], "work-1@") {
		t.Errorf("the ends are %q", ends)
	}
	if list, _, _ := f.run("--master", "m.sock", "ls"); strings.Count(list, "on-end-") != 1 {
		t.Errorf("the end was submitted more than once:\n%s", list)
	}
}
