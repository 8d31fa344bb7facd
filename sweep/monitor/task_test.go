package monitor_test

import (
	"html"
	"net/http"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// losses are samples of a loss that falls.
func losses(n int) (all []metric.Sample) {
	for i := range n {
		step := int64(i + 1)
		all = append(all, metric.Sample{Name: "loss", Value: 2 / float64(i+1), Step: &step,
			Line: step, Stream: "stdout", Time: time.Now()})
	}
	return all
}

// trained returns a sweep of six tasks, of which 0 failed, 1 to 4 succeeded and 5 runs.
func trained(s *site) (id string, end func()) {
	s.samples = func(a task.Attempt) []metric.Sample {
		if a.Index == 0 {
			return losses(3)
		}
		return losses(8)
	}
	finish := s.hire("w1", "gpu1", 6, func(_ string, a task.Attempt) *task.Outcome {
		code := 1
		switch a.Index {
		case 0:
			return &task.Outcome{Class: task.Error, ExitCode: &code, Duration: 390 * time.Millisecond,
				Reason: "exit code 1: FloatingPointError: loss is inf at epoch 3 <b>",
				Stdout: task.Output{Bytes: 24}, Stderr: task.Output{Bytes: 60}}
		case 5:
			return nil
		}
		return &task.Outcome{Class: task.Success, ExitCode: new(int), Duration: time.Second,
			Metrics: metric.Final{{Name: "loss", Value: 0.25 + float64(a.Index)/100}},
			Stdout:  task.Output{Bytes: 10}}
	})
	id = s.submit("lr: [0.3, 0.1, 0.01]\noptimizer: [sgd, \"<i>adam\"]\n", func(r *core.Record) {
		r.Objective = metric.Objective{Metric: "loss"}
		r.KeepGoing = true
	})
	s.becomes(id, "succeeded", 4)
	s.becomes(id, "running", 1)
	return id, func() { finish(id, 5, well(id, task.Attempt{Index: 5})) }
}

func TestATasksPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := trained(s)
	s.prints(id, 0, "stdout", "epoch 1/10 loss=1.86\n")
	s.prints(id, 0, "stderr", "Traceback (most recent call last):\n<script>x</script>\x1b[31m\n")
	v := s.enter(monitor.Viewer)
	p := v.get("/sweeps/" + id + "/tasks/0")
	has(t, p, `<title>train-1/0 · monitor</title>`, `<a href="/sweeps/train-1">train-1</a> / 0`,
		`state-failed">failed`, "attempt 1", "w1 on gpu1, slot 0", "took 390ms",
		"FloatingPointError: loss is inf at epoch 3 &lt;b&gt;",
		`rel="next">1 →`, `stderr <b>60 B</b></a>`, `aria-current="true">stderr`,
		"Traceback (most recent call last):\n&lt;script&gt;x&lt;/script&gt;\n</pre>",
		`href="/sweeps/train-1/tasks/0/output?stream=stderr" download>download`,
		"loss by step, 0.6667 at 3", `<polyline points="0,0`,
		`<dt>lr</dt><dd title="0.3">0.3</dd>`, `<code id="command">train.py --lr=0.3`,
		"Differs in one parameter", "run-tasks logs train-1/0",
		`lr <b>0.1</b> <span class="quiet">instead of 0.3</span></th><td class="number">`+
			`<a href="/sweeps/train-1/tasks/2">2</a></td><td class="number"><b>0.27</b>`,
		`optimizer <b>&lt;i&gt;adam</b>`)
	lacks(t, p, `rel="prev"`, "<script>x", "\x1b")
	has(t, v.get("/sweeps/"+id+"/tasks/0?stream=stdout"), "epoch 1/10 loss=1.86\n</pre>")
	has(t, v.get("/sweeps/newest/tasks/0?attempt=1"), `tasks/0/output?attempt=1&amp;stream=stderr`)
	has(t, v.get("/sweeps/"+id+"/tasks/1"), "Nothing was printed to stdout.", `state-succeeded`,
		`<dt>loss</dt><dd title="0.26">0.26</dd>`)
	for _, path := range []string{"/tasks/6", "/tasks/x", "/tasks/-1", "/tasks/0x1",
		"/tasks/99999999999999999999", "/tasks/1/output", "/tasks/x/output"} {
		if p := v.get("/sweeps/" + id + path); p.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, p.status)
		}
	}
	for _, path := range []string{"/sweeps/" + id, "/sweeps", "/tasks", "/workers"} {
		for _, link := range strings.Split(v.get(path).text, `href="`)[1:] {
			link, _, _ = strings.Cut(link, `"`)
			if p := v.get(html.UnescapeString(link)); p.status >= 400 {
				t.Errorf("%s leads to %s: %d", path, link, p.status)
			}
		}
	}
}

// The table of attempts keeps apart how an attempt ended and what it found.
func TestAttemptsOfATaskThatRanAgain(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := trained(s)
	_, err := s.master.Retry(t.Context(), id, api.ResumeRequest{Indexes: []int64{0}}, "")
	s.must(err)
	v := s.enter(monitor.Viewer)
	s.until("the second attempt is shown", func() bool {
		return strings.Contains(v.get("/sweeps/"+id+"/tasks/0").text,
			`error</span> <span class="quiet">· found earlier outputs</span>`)
	})
}

// What was printed comes as it was printed, as a file.
func TestAnOutputIsDownloaded(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := trained(s)
	text := strings.Repeat("\x1b[31m0123456789\r\n", 40000)
	s.prints(id, 1, "stdout", text)
	v := s.enter(monitor.Viewer)
	has(t, v.get("/sweeps/"+id+"/tasks/1"), "The last 40 lines.", "whole output, 664 KiB")
	p := v.get("/sweeps/" + id + "/tasks/1/output?stream=stdout")
	if p.text != text || p.header.Get("Content-Type") != "application/octet-stream" ||
		p.header.Get("Content-Disposition") != "attachment; filename=train-1-1.stdout.log" {
		t.Errorf("%d of %d bytes, %v", len(p.text), len(text), p.header)
	}
}

// What a running task prints comes by itself, line by line.
func TestAnOutputIsLive(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, end := trained(s)
	s.prints(id, 5, "stdout", strings.Repeat("a line that stays\n", 30)+"epoch 1\n")
	v := s.enter(monitor.Viewer)
	events, _ := v.follow("/live/sweeps/" + id + "/tasks/5")
	whole := s.wait(events, "its output", shows("epoch 1\n", "live", "running"))
	s.prints(id, 5, "stdout", "epoch 2\n")
	if e := s.wait(events, "a line more", shows("epoch 2\n")); e.bytes > whole.bytes/2 {
		t.Errorf("%d bytes of %d for one line", e.bytes, whole.bytes)
	}
	s.prints(id, 5, "stdout", "last\n")
	end()
	s.wait(events, "its end", shows("last\n</pre>", "state-succeeded"))
}

// A task that does not run says what it waits for.
func TestATaskThatWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit("i: [1, 2]\n")
	v := s.enter(monitor.Viewer)
	says := func(text string) {
		t.Helper()
		s.until("it says "+text, func() bool {
			return strings.Contains(v.get("/sweeps/"+id+"/tasks/1").text, text)
		})
	}
	says("waits for a worker: there are no workers")
	says("It has not started.")
	_, err := s.master.Pause(t.Context(), id, false)
	s.must(err)
	says("train-1 is paused (to continue: run-tasks resume train-1)")
}

// Of what a worker that is away has, the page says so, and shows the rest.
func TestAnOutputThatIsAway(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := trained(s)
	_, err := s.master.Drain(t.Context(), "w1", false)
	s.must(err)
	port := s.queue.Worker("w1")
	s.must(port.Emit(t.Context(), task.Event{Version: task.Version, Kind: task.LeftEvent,
		Worker: "w1", Time: time.Now(), Heartbeat: &task.Heartbeat{Version: task.Version,
			Worker: "w1", Host: "gpu1", Incarnation: "1"}}))
	v := s.enter(monitor.Viewer)
	s.until("the page says so", func() bool {
		p := v.get("/sweeps/" + id + "/tasks/1")
		return strings.Contains(p.text, "the output is on worker w1, which is away") &&
			strings.Contains(p.text, "Differs in one parameter")
	})
}

// Whatever a task is named and prints, and whoever runs it, is text on its page.
func TestHostileTask(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := 1
	s.hire(hostile, hostile, 1, func(string, task.Attempt) *task.Outcome {
		return &task.Outcome{Class: task.Error, ExitCode: &code, Reason: hostile,
			Duration: time.Second, Metrics: metric.Final{{Name: hostile, Value: 1}}}
	})
	id := s.submit(`"p<script>alert(1)</script>\"'": ["<script>alert(1)</script>", 2]`,
		func(r *core.Record) { r.KeepGoing = true })
	s.becomes(id, "failed", 2)
	s.prints(id, 0, "stderr", hostile+"\n")
	p := s.enter(monitor.Viewer).get("/sweeps/" + id + "/tasks/0")
	has(t, p, "&lt;script&gt;alert(1)&lt;/script&gt;", "Differs in one parameter")
	lacks(t, p, "<script>alert", "<img", "\x1b", "\u202e")
}

// A command that is not all that a program gets says so, also that of the best task.
func TestACommandThatIsNotAll(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 1, well)
	id := s.submit("i: [1, 2]\n", func(r *core.Record) {
		r.Recipe.Env = map[string]string{"MODE": "fast"}
	})
	all := s.submit("i: [1, 2]\n")
	s.becomes(id, "succeeded", 2)
	s.becomes(all, "succeeded", 2)
	v := s.enter(monitor.Viewer)
	has(t, v.get("/sweeps/"+id), "gets variables or a file", "run-tasks show train-1/1")
	has(t, v.get("/sweeps/"+id+"/tasks/0"), "gets variables or a file", "run-tasks show train-1/0")
	lacks(t, v.get("/sweeps/"+all), "gets variables")
	lacks(t, v.get("/sweeps/"+all+"/tasks/0"), "gets variables")
}
