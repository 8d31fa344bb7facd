package main_test

import (
	"encoding/json"
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
