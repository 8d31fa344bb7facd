package server_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

func TestRefusals(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 1, well)
	id := s.submit(2)
	s.becomes(id, map[string]int64{"succeeded": 2})
	sweeps := "/v1/sweeps/"
	for name, c := range map[string]struct {
		method, path, body string
		status             int
		text               string
	}{
		"no such path": {"GET", "/v1/banana", "", 404,
			`{"error":"there is no /v1/banana","remedy":"docs/api.yaml lists what there is"}`},
		"no such method": {"DELETE", "/v1/sweeps", "", 405,
			`{"error":"/v1/sweeps does not support DELETE"}`},
		"an unknown sweep": {"POST", sweeps + "evaluate/cancel", "", 404,
			`{"error":"there is no sweep evaluate","remedy":"run-tasks ls lists them"}`},
		"nearly a sweep": {"GET", sweeps + "trian-1", "", 404,
			`{"error":"there is no sweep trian-1; did you mean train-1?","remedy":"run-tasks ls lists them"}`},
		"events of no sweep": {"GET", sweeps + "evaluate/events", "", 404,
			`{"error":"there is no sweep evaluate","remedy":"run-tasks ls lists them"}`},
		"an unknown task": {"POST", sweeps + "train-1/tasks/9/cancel", "", 404,
			`{"error":"train-1 has no task 9: it has 2"}`},
		"no task at all": {"GET", sweeps + "train-1/tasks/one", "", 404,
			`{"error":"train-1 has no task one"}`},
		"a task beyond all": {"GET", sweeps + "train-1/tasks/99999999999999999999", "", 404,
			`{"error":"train-1 has no task 99999999999999999999"}`},
		"a task that ended": {"POST", sweeps + "train-1/tasks/1/cancel", "", 409,
			`{"error":"train-1/1 has succeeded already"}`},
		"a sweep that ended": {"POST", sweeps + "train-1/cancel", "", 409,
			`{"error":"train-1 is finished already"}`},
		"an unknown worker": {"POST", "/v1/workers/none/drain", "", 404,
			`{"error":"there is no worker none","remedy":"run-tasks workers lists them"}`},
		"drained for another reason": {"POST", "/v1/workers/w1/drain?for=lunch", "", 400,
			`{"error":"a worker is drained for replacement, or by a person, without this ` +
				`parameter","parameter":"for"}`},
		"an unknown parameter": {"GET", sweeps + "train-1?stop=true", "", 400,
			`{"error":"there is no parameter stop","parameter":"stop"}`},
		"a parameter twice": {"GET", sweeps + "train-1/tasks?limit=1&limit=2", "", 400,
			`{"error":"limit is given more than once","parameter":"limit"}`},
		"neither true nor false": {"POST", sweeps + "train-1/pause?stop=yes", "", 400,
			`{"error":"yes is neither true nor false","parameter":"stop"}`},
		"no number": {"GET", sweeps + "train-1/results?top=-1", "", 400,
			`{"error":"-1 is not a non-negative integer","parameter":"top"}`},
		"no column": {"GET", sweeps + "train-1/results?sort=banana", "", 400, ``},
		"no filter": {"GET", sweeps + "train-1/tasks?where=i%3C", "", 400, ``},
		"no format": {"GET", sweeps + "train-1/results?format=xml", "", 400,
			`{"error":"xml is not a format: write json or csv","parameter":"format"}`},
		"no state": {"GET", sweeps + "train-1/tasks?state=tired", "", 400,
			`{"error":"\"tired\" is not a state","parameter":"state"}`},
		"no page": {"GET", sweeps + "train-1/tasks?after=x", "", 400,
			`{"error":"x is not the next of a page","parameter":"after"}`},
		"best and sort": {"GET", sweeps + "train-1/tasks?best=true&sort=i", "", 400,
			`{"error":"mutually exclusive with sort","parameter":"best"}`},
		"no stream": {"GET", sweeps + "train-1/tasks/0/output?stream=both", "", 400,
			`{"error":"must be stdout or stderr","parameter":"stream"}`},
		"tail and offset": {"GET", sweeps + "train-1/tasks/0/output?tail=1&offset=2", "", 400,
			`{"error":"tail excludes offset and file","parameter":"tail"}`},
		"no slots": {"POST", "/v1/workers/w1/slots", "", 400,
			`{"error":"missing: send a number of slots; 0 is what the worker was started with","parameter":"n"}`},
		"too many slots": {"POST", "/v1/workers/w1/slots?n=5000", "", 400,
			`{"error":"a worker has at most 4096 slots","parameter":"n"}`},
		"an unknown field": {"POST", sweeps + "train-1/retry", `{"index":[1]}`, 400,
			`{"error":"cannot parse the body: json: unknown field \"index\""}`},
		"more than JSON": {"POST", sweeps + "train-1/retry", `{} {}`, 400,
			`{"error":"unexpected data after the JSON of the body"}`},
		"indexes of a resume": {"POST", sweeps + "train-1/resume", `{"indexes":[1]}`, 400,
			`{"error":"a sweep is resumed as a whole","parameter":"indexes"}`},
		"a path as a revision": {"POST", sweeps + "train-1/resume", `{"revision":"../x"}`, 400,
			`{"error":"\"../x\" is not a revision","parameter":"revision"}`},
	} {
		t.Run(name, func(t *testing.T) {
			status, text, h := s.raw(c.method, c.path, c.body)
			if status != c.status || c.text != "" && text != c.text ||
				!strings.HasPrefix(text, `{"error":"`) ||
				h.Get("Content-Type") != "application/json" {
				t.Errorf("%d %s; want %d %s", status, text, c.status, c.text)
			}
		})
	}
	s.end()
	if _, err := s.client.Cancel(t.Context(), "x"); err == nil {
		t.Error("nobody is there, and no error")
	}
}

func TestSubmissionsAreChecked(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	for parameter, change := range map[string]func(*api.Submission){
		"record.version": func(s *api.Submission) { s.Record.Version = 0 },
		"record.recipe.definition": func(s *api.Submission) {
			s.Record.Recipe.Definition =
				"../train"
		},
		"record.recipe.revision": func(s *api.Submission) { s.Record.Recipe.Revision = ".." },
		"record.recipe.command":  func(s *api.Submission) { s.Record.Recipe.Command = nil },
		"record.recipe.env": func(s *api.Submission) {
			s.Record.Recipe.Env = map[string]string{
				"A=B": ""}
		},
		"record.recipe.secrets": func(s *api.Submission) {
			s.Record.Recipe.Secrets = []string{
				"a b"}
		},
		"record.recipe.gpus": func(s *api.Submission) { s.Record.Recipe.GPUs.Count = 0.4 },
		"record.recipe.outputs": func(s *api.Submission) {
			s.Record.Recipe.Outputs = []string{
				"../x"}
		},
		"record.ranges": func(s *api.Submission) {
			s.Record.Ranges = core.Ranges{
				{From: 2, To: 9}}
		},
		"record.workers": func(s *api.Submission) { s.Record.Workers = []string{"w1"} },
		"record.space":   func(s *api.Submission) { s.Record.Space = nil },
		"record":         func(s *api.Submission) { s.MinNumber = -1 },
	} {
		sub := submission(t, 3)
		change(&sub)
		_, err := s.client.Submit(t.Context(), sub, "", "")
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusBadRequest ||
			e.Parameter != parameter {
			t.Errorf("%s: %+v", parameter, err)
		}
	}
	text, err := json.Marshal(submission(t, 3))
	s.must(err)
	for _, version := range []int{task.Version - 1, task.Version + 1} {
		other := strings.Replace(string(text), fmt.Sprintf(`"version":%d,`, task.Version),
			fmt.Sprintf(`"version":%d,"unheard_of":true,`, version), 1)
		if status, answer, _ := s.raw("POST", "/v1/sweeps", other); status != 400 || answer !=
			fmt.Sprintf(`{"error":"the record has version %d, and this master understands %d"`,
				version, task.Version)+`,"remedy":"update the older of the two: run-tasks or `+
				`the master","parameter":"record.version"}` {
			t.Errorf("a record of version %d: %d %s", version, status, answer)
		}
	}
	long := `{"code":"` + strings.Repeat("x", 16<<20) + `"}`
	if status, answer, _ := s.raw("POST", "/v1/sweeps",
		long); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long body: %d %s", status, answer)
	}
	if all, err := s.client.Sweeps(t.Context(), "", 0); err != nil || len(all) != 0 {
		t.Errorf("there are sweeps: %v, %v", all, err)
	}
}

func TestAPanicEndsOneRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.server.Panic("/panic")
	for range 2 {
		if status, text, _ := s.raw("POST", "/v1/panic", "", "Idempotency-Key",
			"k"); status != 500 ||
			!strings.Contains(text, "on purpose") {
			t.Errorf("%d %s", status, text)
		}
	}
	if !strings.Contains(s.log.String(), "fault in the API") ||
		!strings.Contains(s.log.String(), "goroutine") {
		t.Errorf("nothing is in the log: %s", s.log)
	}
	page, err := s.client.Audit(t.Context(), api.AuditQuery{})
	s.must(err)
	if len(page.Actions) != 2 || page.Actions[0].Outcome != core.AuditFailed {
		t.Errorf("the audit has %+v", page.Actions)
	}
	s.submit(1)
}

func TestNobodyIsThere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	if err := os.WriteFile(path("file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ socket, why string }{
		"no file":    {path("none"), "there is no such file"},
		"no socket":  {path("file"), "it is not a socket"},
		"a long one": {path(strings.Repeat("x", 120)), "the path is too long for a socket"},
	} {
		client := api.Dial(c.socket)
		_, err := client.Health(t.Context())
		client.Close()
		if e, ok := errors.AsType[*api.Unreachable](err); !ok || e.Reason != c.why ||
			e.Remedy == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestTopNeedsAnOrder: pages by index do not know how many tasks were on those before.
func TestTopNeedsAnOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(2)
	for name, c := range map[string]struct {
		q       api.Query
		refused bool
	}{
		"by index": {api.Query{Top: 1, Limit: 1}, true},
		"filtered": {api.Query{Top: 1, Where: "i<1"}, true},
		"sorted":   {api.Query{Top: 1, Sort: "-i"}, false},
		"ranked":   {api.Query{Top: 1, Best: true}, false},
	} {
		_, err := s.client.Tasks(t.Context(), id, c.q)
		if e, _ := errors.AsType[*api.Error](err); (err != nil) != c.refused ||
			c.refused && e.Parameter != "top" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAWrongFilterHasAPlace(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(2)
	for where, column := range map[string]int{"i<1 and acuracy>3": 9, "i<": 3, "(i<1": 1} {
		_, err := s.client.Tasks(t.Context(), id, api.Query{Where: where})
		e, ok := errors.AsType[*api.Error](err)
		if !ok || e.Parameter != "where" || e.Column != column {
			t.Errorf("%s: %#v", where, err)
		}
	}
}
