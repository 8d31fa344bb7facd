package monitor_test

import (
	"fmt"
	"html"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// A sweep's page shows what failed, failures that are alike together.
func TestASweepsFailures(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := 1
	s.hire("w1", "gpu1", 2, func(id string, a task.Attempt) *task.Outcome {
		o := task.Outcome{Class: task.Error, ExitCode: &code, Duration: time.Millisecond}
		switch {
		case a.Index < 3:
			o.Reason = fmt.Sprintf("exit code 1: no <b> in /data/%d", a.Index)
			o.Frame = "nets/<i>.py:9"
		case a.Index == 3:
			o.Reason = "ended by SIGSEGV: \x1b[31mbroken\u202e"
			o.ExitCode = nil
		case a.Index < 17: // more groups than are shown
			o.Reason = "exit code 1: no key " + strings.Repeat("x", int(a.Index))
		default:
			return well(id, a)
		}
		return &o
	})
	id := s.submit("i: !interval [0, 20]\n", func(r *core.Record) { r.KeepGoing = true })
	s.becomes(id, "succeeded", 3)
	s.becomes(id, "failed", 17)
	v := s.enter(monitor.Viewer)
	p := v.get("/sweeps/" + id)
	has(
		t,
		p,
		"17 failed",
		`<b>3×</b> <code>exit code 1: no &lt;b&gt; in …</code> in <code>nets/&lt;i&gt;.py:9</code>`,
		`first: <a href="/sweeps/train-1/tasks/0">train-1/0</a> on gpu1`,
		`<code>ended by SIGSEGV: \x1b[31mbroken\u202e</code>`,
		`5 more failed otherwise: <code>run-tasks results --failures train-1</code>`,
	)
	lacks(t, p, "retry these")
	has(t, s.enter(monitor.Operator).get("/sweeps/"+id).plain(), `<a href="`+where("/sweeps/"+id,
		"retry", "state = failed and reason ~ '^exit code 1: no <b> in .*$'")+`">retry these</a>`)
	for _, link := range regexp.MustCompile(`<a href="([^"]*)">show</a>`).FindAllStringSubmatch(
		p.text, -1) {
		shown := v.get(html.UnescapeString(link[1]))
		if n := len(rows(shown)); n != 1 && n != 3 {
			t.Errorf("%s shows %d tasks", link[1], n)
		}
	}
	if got := rows(v.get("/sweeps/" + id + "?" +
		url.Values{"where": {`state = failed and reason ~ '^exit code 1: no <b> in .*$'`}}.Encode())); fmt.Sprint(
		got) != "[0 1 2]" {
		t.Errorf("behind a link: %q", got)
	}
	like := regexp.MustCompile(`<a href="([^"]*)">3 tasks failed like this</a>`).FindStringSubmatch(
		v.get("/sweeps/" + id + "/tasks/1").text)
	if like == nil {
		t.Error("the page of a task leads to none that failed like it")
	} else if got := rows(v.get(html.UnescapeString(like[1]))); fmt.Sprint(got) != "[0 1 2]" {
		t.Errorf("tasks that failed alike: %q", got)
	}
	lacks(t, v.get("/sweeps/"+id+"/tasks/3"), "failed like this", "UTC UTC")
	has(t, v.get("/sweeps/"+id+"/tasks/1"),
		"exit code 1: no &lt;b&gt; in /data/1 (nets/&lt;i&gt;.py:9)")
	if p := v.get("/tasks"); strings.Contains(p.text, "failed otherwise") {
		t.Error("the page of all tasks has them, too")
	}
}

// Beside failures stands what they have in common, as a link that filters by it.
func TestWhereTasksFail(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	code := 1
	s.hire("w1", "gpu1", 2, func(id string, a task.Attempt) *task.Outcome {
		if a.Index%4 == 1 || a.Index%4 == 3 { // host is no
			return &task.Outcome{Class: task.Error, ExitCode: &code, Duration: time.Millisecond,
				Reason: fmt.Sprintf("exit code 1: <no> room for %d", a.Index)}
		}
		return well(id, a)
	})
	id := s.submit("seed: [1, 2, 3]\nlr: [0.1, nan]\nhost: ['it''s', \"no\"]\n",
		func(r *core.Record) { r.KeepGoing = true })
	s.becomes(id, "succeeded", 6)
	s.becomes(id, "failed", 6)
	v := s.enter(monitor.Viewer)
	p := v.get("/sweeps/" + id)
	link := regexp.MustCompile(`where <a href="([^"]*)"[^>]*>([^<]*)</a>`).FindStringSubmatch(p.text)
	if link == nil || html.UnescapeString(link[2]) != `parameters.host = 'no'` {
		t.Fatalf("%q in %s", link, p.text)
	}
	if got := rows(v.get(strings.TrimPrefix(html.UnescapeString(link[1]), s.prefix()))); len(got) != 6 {
		t.Errorf("it shows %q", got)
	}
	lacks(t, v.get("/sweeps/"+id+"?where=lr+%3D+'nan'"), "cannot be read")
}
