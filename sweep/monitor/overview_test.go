package monitor_test

import (
	"bytes"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// failing returns tasks that fail for reasons that differ in a path, and end well from an index on.
func failing(from int64) func(string, task.Attempt) *task.Outcome {
	return func(id string, a task.Attempt) *task.Outcome {
		if a.Index >= from {
			return well(id, a)
		}
		o := badly(id, a)
		o.Reason = fmt.Sprintf("exit code 3: no file /data/<b>%d", a.Index)
		return o
	}
}

func keepGoing(r *core.Record) { r.KeepGoing = true }

// The start page says how to submit the first sweep, and then how everything stands.
func TestOverview(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	empty := v.get("/")
	has(t, empty, `aria-current="page">Overview`, "There is no sweep yet", "run-tasks init",
		"run-tasks NAME", "No worker has reported yet")
	lacks(t, empty, "Failures of the last hour", "Needs attention")
	s.hire("w1", "gpu1", 2, failing(2))
	id := s.submit("i: !interval [0, 4]\n", keepGoing)
	s.becomes(id, "succeeded", 2)
	s.becomes(id, "failed", 2)
	_, err := s.master.Drain(t.Context(), "w1", false)
	s.must(err)
	open := s.submit("i: [1, 2, 3]\n")
	_, err = s.master.Pause(t.Context(), open, false)
	s.must(err)
	var p page
	s.until("the page has all", func() bool {
		p = v.get("/")
		return strings.Contains(p.text, "Sweeps that ended last") &&
			strings.Contains(p.text, "1 of 1 workers up")
	})
	has(t, p, ">1 of 1 workers up</a>, <span>0 of 2 slots busy</span>",
		"Failures of the last hour: 2", "<b>2×</b> <code>exit code 3: no file /data/&lt;b&gt;…</code>",
		`>`+id+`</a> (2) on gpu1 · last <time`, `">show all</a>`, `href="/failures"`,
		"finished, 2 failed", `accuracy <b class="good" title="maximize accuracy: 0.3">0.3</b>`,
		"Needs attention", `<a href="/sweeps/`+open+`">`+open+
			`</a> <span class="state state-paused">paused</span>`,
		"<code>run-tasks resume "+open+"</code>", "0 of 3")
	lacks(t, p, "There is no sweep yet", "/retry", "/resume")
	has(t, s.enter(monitor.Operator).get("/"), `href="/sweeps/`+open+`/resume"`)
	links := regexp.MustCompile(`<a href="(/[^"]*)">` + id + `</a> \(2\)`).FindStringSubmatch(p.text)
	if links == nil {
		t.Fatal("no way to the failed tasks")
	}
	if got := rows(v.get(html.UnescapeString(links[1]))); fmt.Sprint(got) != "[0 1]" {
		t.Errorf("the link shows %q", got)
	}
}

// A sweep that cannot be read hides no other.
func TestTheOverviewWithADamagedSweep(t *testing.T) {
	t.Parallel()
	for what, damage := range map[string][2]string{
		"its record": {`"objective":{"max`, `"objective"!{"max`},
		"its counts": {`[0,0,0,0,1,1`, `[0,0,0,0,1!1`},
		"a task":     {`{"accuracy":0.1}`, `{"accuracy"!0.1}`},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			s.hire("w1", "gpu1", 2, failing(1))
			s.becomes(s.submit("i: [0, 1]\n", keepGoing), "succeeded", 1)
			s.end()
			path := filepath.Join(s.folder, store.File)
			text, err := os.ReadFile(path)
			s.must(err)
			damaged := bytes.ReplaceAll(text, []byte(damage[0]), []byte(damage[1]))
			if bytes.Equal(damaged, text) {
				t.Fatal("nothing is damaged")
			}
			s.must(os.WriteFile(path, damaged, 0o600))
			s.start()
			other := s.submit("i: [0, 1]\n", keepGoing)
			s.becomes(other, "succeeded", 1)
			v := s.enter(monitor.Viewer)
			p := v.get("/")
			has(t, p, other, "Sweeps that ended last", "Failures of the last hour")
			if p.status != 200 {
				t.Errorf("the overview answers %d", p.status)
			}
			if what == "its record" {
				has(t, v.get("/failures"), "Not all failures are here: 1 sweep with failures was left out",
					"<b>1×</b>")
			}
		})
	}
}

// A tab with the overview is told of sweeps, of workers and of the master.
func TestTheOverviewIsLive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/")
	s.wait(events, "a beginning", shows("There is no sweep yet"))
	end := s.hire("w1", "gpu1", 2, hold)
	s.wait(events, "its worker", shows("1 of 1 workers up", "0 of 2 slots busy"))
	id := s.submit("i: [1, 2]\n")
	s.wait(events, "both run", shows("2 of 2 slots busy", "2 running", id))
	end(id, 0, badly("", task.Attempt{}))
	s.wait(events, "the failure", shows("1 failed", "Failures of the last hour: 1",
		"1 of 2 slots busy"))
	s.queue.Outage(true)
	s.wait(events, "the broker's outage", shows("not ready", "an outage was switched on"))
	s.queue.Outage(false)
	s.wait(events, "its end", func(e changeEvent) bool {
		return !strings.Contains(e.text, "an outage was switched on")
	})
}

// Alarms are what needs a person, with what repairs it.
func TestAlarms(t *testing.T) {
	t.Parallel()
	text := func(s string) *string { return &s }
	now := time.Now()
	workers := []core.Worker{
		{Name: "gpu1", State: core.WorkerAway, Reason: text("silent for 2m0s")},
		{Name: "gpu2", State: core.WorkerQuarantined, Reason: text("3 attempts in a row")},
		{Name: "gpu3", State: core.WorkerRefused, Reason: text(task.NoSpaceReason + ": 1 MB")},
		{Name: "gpu4", State: core.WorkerRefused, Reason: text("version 7")},
		{Name: "gpu5", State: core.WorkerDraining},
		{Name: "gpu6", State: core.WorkerReady, GPUs: someGPUs(),
			GPUFault: text("no driver\x1b[31m")},
	}
	sweeps := []core.Summary{
		{ID: "train-1", State: core.Paused, Ended: &now},
		{ID: "train-2", State: core.Paused, Reason: text(core.FailedAlike + " 5 tasks")},
		{ID: "train-3", State: core.Open, Waits: text("waits for 1 GPU")},
		{ID: "train-4", State: core.Open, Silent: text("no heartbeat from gpu1")},
	}
	want := []string{
		"gpu1 away: silent for 2m0s | The log says more: check-status --logs gpu1",
		"gpu2 quarantined: 3 attempts in a row | The log says more: check-status --logs gpu2",
		"gpu3 refused: " + task.NoSpaceReason + ": 1 MB | Free some space on its disk; it then " +
			"continues by itself. ",
		"gpu4 refused: version 7 | To bring all workers one program: infrainit -f",
		`gpu6 GPU fault: no driver\x1b[31m | If nvidia-smi works on the host, this starts the ` +
			"worker anew, with its GPUs: run-tasks workers restart gpu6",
		"gpu6 GPU fault: GPU-00112233: it does not answer any more | If nvidia-smi works on the " +
			"host, this starts the worker anew, with its GPUs: run-tasks workers restart gpu6",
		"train-4 running: no heartbeat from gpu1 |  ",
		"train-2 paused: " + core.FailedAlike + " 5 tasks | To continue it: run-tasks resume " +
			"train-2 --keep-going",
	}
	if diff := cmp.Diff(want, monitor.Alarms(sweeps, workers)); diff != "" {
		t.Error(diff)
	}
	got := monitor.Alarms(sweeps[2:3], workers[:5])
	if last := got[len(got)-1]; last != "train-3 waiting: waits for 1 GPU |  " {
		t.Errorf("without a worker that takes tasks: %q", last)
	}
}

// The page of failures has those of all sweeps, those that are alike together, the newest first.
func TestFailuresPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	has(t, v.get("/failures"), `aria-current="page">Failures`, "No task failed.")
	has(t, v.get("/failures?within=day"), "No task failed in the last day.")
	s.hire("w1", "gpu1", 2, failing(2))
	for range 7 {
		id := s.submit("i: !interval [0, 3]\n", keepGoing)
		s.becomes(id, "failed", 2)
	}
	p := v.get("/failures?within=hour")
	has(t, p, "14 failed tasks in the last hour, grouped by cause, newest first.", "<b>14×</b> <code>exit code 3: no file /data/&lt;b&gt;…</code>",
		"error on gpu1 · last <time", " · first <time", `">train-7</a>: 2, first `+
			`<a href="/sweeps/train-7/tasks/0">train-7/0</a>`, "and in 2 older sweeps",
		`<a href="/failures?within=hour" data-key="time last hour" aria-current="true">`)
	lacks(t, p, "/retry", "<b>0", "Not all failures are here")
	show := regexp.MustCompile(`<a href="([^"]*)">show all</a>`).FindStringSubmatch(p.text)
	if show == nil || len(rows(v.get(html.UnescapeString(show[1])))) != 14 {
		t.Errorf("not all tasks behind %q", show)
	}
	o := s.enter(monitor.Operator)
	s.until("an operator has a button", func() bool { // an answer is kept for a second
		p = o.get("/failures")
		return strings.Contains(p.text, ">Retry these in train-7</a>")
	})
	retry := regexp.MustCompile(`<a class="button" href="([^"]*)">Retry these in train-7</a>`).
		FindStringSubmatch(p.text)
	if retry == nil || !strings.Contains(retry[1], "/retry?where=") {
		t.Fatalf("the button of a group: %q", retry)
	}
	has(t, o.get(html.UnescapeString(retry[1])), "Run 2 tasks of train-7 again?")
}

// A heartbeat that says nothing new for the overview does not renew it.
func TestTheOverviewAndHeartbeats(t *testing.T) {
	t.Parallel()
	text, now := "draining", time.Now()
	worker := func(change func(*core.Worker)) []core.Worker {
		w := core.Worker{Name: "w1", State: core.WorkerReady, Slots: 2, GPUs: someGPUs()}
		change(&w)
		return []core.Worker{w}
	}
	before := worker(func(*core.Worker) {})
	for what, c := range map[string]struct {
		change func(*core.Worker)
		same   bool
	}{
		"its time":    {func(w *core.Worker) { w.Seen = &now }, true},
		"its load":    {func(w *core.Worker) { w.Load = &task.Load{CPU: .5} }, true},
		"GPU's use":   {func(w *core.Worker) { w.GPUs[0].Utilization = 3 }, true},
		"a task":      {func(w *core.Worker) { w.Running = make([]task.Busy, 1) }, false},
		"its state":   {func(w *core.Worker) { w.State = core.WorkerAway }, false},
		"why":         {func(w *core.Worker) { w.Reason = &text }, false},
		"its slots":   {func(w *core.Worker) { w.Slots = 3 }, false},
		"given GPUs":  {func(w *core.Worker) { w.GPUs[0].Given = 1 }, false},
		"a GPU fault": {func(w *core.Worker) { w.GPUs[0].Broken = true }, false},
	} {
		if got := monitor.SameOnOverview(before, worker(c.change)); got != c.same {
			t.Errorf("%s: the same is %v", what, got)
		}
	}
	if monitor.SameOnOverview(nil, before) {
		t.Error("a worker that came changes nothing")
	}
}
