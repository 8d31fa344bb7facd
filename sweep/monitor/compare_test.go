package monitor_test

import (
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

// indexes writes the numbers of n tasks.
func indexes(n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = fmt.Sprint(i)
	}
	return strings.Join(all, ",")
}

func TestComparedTasks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := trained(s)
	s.prints(id, 1, "stdout", "seed 1\nepoch 1\r\x1b[31mepoch 9\nepoch 2 loss=<b>\nend\n")
	s.prints(id, 3, "stdout", "seed 1\nepoch 9\nepoch 2 loss=1.1\nend\n")
	s.prints(id, 4, "stdout", "seed 1\nepoch 9\nepoch 2 loss=1.1\nend\n")
	v := s.enter(monitor.Viewer)
	at := "/sweeps/" + id + "/compare"
	p := v.get(at + "?tasks=1,3,4&tasks=3")
	has(t, p, "<title>train-1/1, 3 and 4 · monitor</title>",
		`<a href="/sweeps/train-1">train-1</a> / compare`,
		`<th scope="row" class="of-parameter">lr</th><td title="0.3">0.3</td><td title="0.1">0.1</td>`,
		`<th scope="row" class="of-metric">loss</th><td title="0.26"><b>0.26</b></td>`,
		"The same in all:", `state <b title="succeeded">succeeded</b>`,
		`host <b title="gpu1">gpu1</b>`, "loss by step, 3 curves",
		"Outputs differ from line 3", "seed 1\nepoch 9\n</pre>",
		"<mark>epoch 2 loss=&lt;b&gt;</mark>\nend\n</pre>", "<h3>3, 4</h3>",
		`href="/sweeps/train-1/compare?stream=stderr&amp;tasks=1%2C3%2C4&amp;tasks=3"`)
	lacks(t, p, "<h3>4</h3>", `class="of-metric">state`, "\x1b")
	has(t, v.get(at+"?tasks=3,4"), "They do not differ.")
	has(t, v.get(at+"?tasks=3,4&stream=stderr"), "Tasks 3 and 4: Nothing was printed to stderr.")
	has(t, v.get(at+"?tasks=0,5"), "exit code 1: FloatingPointError", `state-failed">failed`,
		`state-running">running`, "2 curves", `<circle`)
	has(t, v.get(at+"?best=3"), "train-1/1, 2 and 3")
	has(t, v.get("/sweeps/newest/compare?best=2"), "train-1/1 and 2")
	page := v.get("/sweeps/" + id)
	has(t, page, `<form id="compare" class="ticked" method="get" action="/sweeps/train-1/compare">`,
		`<input type="checkbox" form="compare" name="tasks" value="5" aria-label="Compare task 5">`,
		`<a href="/sweeps/train-1/compare?best=3" data-key="compare best">Compare the best 3</a>`)
	lacks(t, v.get("/tasks"), `form="compare"`)
	for query, want := range map[string]string{
		"":                       "A comparison needs two tasks or more.",
		"?tasks=3":               "A comparison needs two tasks or more.",
		"?tasks=3&tasks=3":       "A comparison needs two tasks or more.",
		"?tasks=3,x":             "&#34;x&#34; is not the number of a task.",
		"?tasks=3,-1":            "is not the number of a task.",
		"?tasks=<script>":        "&#34;&lt;script&gt;&#34; is not",
		"?tasks=" + indexes(500): "These are 500 tasks, and 100 can be compared.",
		"?best=1":                "best is a whole number from 2 to 100.",
		"?best=x":                "best is a whole number from 2 to 100.",
	} {
		p := v.get(at + strings.NewReplacer("<", "%3C", ">", "%3E").Replace(query))
		if has(t, p, want); p.status != http.StatusBadRequest {
			t.Errorf("%s: %d", query, p.status)
		}
	}
	for _, path := range []string{at + "?tasks=3,6", "/sweeps/none-1/compare?tasks=1,2"} {
		if p := v.get(path); p.status != http.StatusNotFound {
			t.Errorf("%s: %d", path, p.status)
		}
	}
}

// Tasks that have not begun, and a sweep without an objective, can be compared; neither has a best.
func TestComparedWithoutResults(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	v := s.enter(monitor.Viewer)
	id := s.submit("i: [1, 2]\n")
	at := "/sweeps/" + id + "/compare"
	has(t, v.get(at+"?tasks=0,1"), `class="of-parameter">i</th>`, "Tasks 0 and 1: not started.")
	has(t, v.get(at+"?best=2"), "Fewer than two tasks have a result of accuracy so far.")
	lacks(t, v.get("/sweeps/"+id), "Compare the best")
	plain := s.submit("i: [1, 1]\n", func(r *core.Record) { r.Objective = metric.Objective{} })
	has(t, v.get("/sweeps/"+plain+"/compare?best=2"), "The sweep has no objective")
}

// Whatever parameters and metrics are named, and whatever they are, is text.
func TestHostileComparison(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	long := strings.Repeat("long", 200)
	s.samples = func(a task.Attempt) []metric.Sample {
		all := losses(4)
		for i := range all {
			all[i].Name, all[i].Value = hostile, math.NaN()
		}
		return all
	}
	s.hire("w1", hostile, 2, func(_ string, a task.Attempt) *task.Outcome {
		o := well("", a)
		o.Metrics = metric.Final{{Name: hostile, Value: math.NaN()},
			{Name: "loss", Value: math.Inf(1 - 2*int(a.Index))}}
		return o
	})
	id := s.submit(fmt.Sprintf("\"%s<script>\": [1, 2]\n", long), func(r *core.Record) {
		r.Objective = metric.Objective{Metric: hostile}
	})
	s.becomes(id, "succeeded", 2)
	p := s.enter(monitor.Viewer).get("/sweeps/" + id + "/compare?tasks=0,1")
	has(t, p, "longlong", "inf</td>", "-inf</td>")
	lacks(t, p, "<script>", "<img", "\x1b", "\u202e", "<figure", strings.Repeat("long", 100))
}

// A hundred tasks are compared in a second.
func TestManyComparedTasks(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.samples = func(task.Attempt) []metric.Sample { return losses(50) }
	s.hire("w1", "gpu1", 50, well)
	id := s.submit("i: !interval [0, 100]\n", func(r *core.Record) {
		r.Objective = metric.Objective{Metric: "loss"}
	})
	s.becomes(id, "succeeded", 100)
	v := s.enter(monitor.Viewer)
	begun := time.Now()
	p := v.get("/sweeps/" + id + "/compare?tasks=" + indexes(100))
	t.Logf("in %v, %d bytes", time.Since(begun), len(p.text))
	has(t, p, "The first 12 of 100 tasks with a curve are drawn.", "12 curves",
		"The outputs of the first 6 tasks are compared.")
}

func TestFirstDifference(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		texts [][]string
		want  int
	}{
		{[][]string{{"a"}, {"a"}}, -1},
		{[][]string{{}, {}}, -1},
		{[][]string{{"a", "b"}, {"a", "c"}}, 1},
		{[][]string{{"a"}, {"a", "b"}}, 1},
		{[][]string{{"a", "b"}, {"a"}, {"a", "b"}}, 1},
		{[][]string{{"a", "b"}, {"a", "b"}, {"a", "b", "c"}}, 2},
		{[][]string{{}, {"a"}}, 0},
	} {
		if got := monitor.FirstDifference(c.texts); got != c.want {
			t.Errorf("%q: %d, not %d", c.texts, got, c.want)
		}
	}
}

// Rows that are ticked stay so while the page renews itself, and lead to a comparison.
func TestABrowserComparesTickedTasks(t *testing.T) {
	s := newSite(t)
	id, end := trained(s)
	s.prints(id, 1, "stdout", "seed 1\nloading digits\nepoch 1 loss=1.5\nepoch 2 loss=1.3\n")
	s.prints(id, 5, "stdout", "seed 1\nloading digits\nepoch 1 loss=1.9\nepoch 2 loss=0.9\n")
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id)
	for _, index := range []string{"1", "5", "0"} {
		b.act(`input[value="`+index+`"]`, "click") // the pointer stays away from the table
	}
	end()
	b.sees("5 of 6 done")
	s.until("the table is renewed", func() bool {
		return js[int](b, `document.querySelectorAll("table.tasks .state-running").length`) == 0
	})
	if n := js[int](b, `document.querySelectorAll("input:checked").length`); n != 3 {
		t.Errorf("%d are ticked", n)
	}
	b.keep("sweep-ticked")
	b.run(chromedp.Submit("#compare"), chromedp.WaitVisible("table.differences"))
	b.sees("What differs")
	if q := js[string](b, "decodeURIComponent(location.search)"); strings.Count(q, "tasks=") != 3 {
		t.Errorf("it leads to %s", q)
	}
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		for _, width := range []int64{1440, 390} {
			b.run(chromedp.EmulateViewport(width, 900))
			for query, text := range map[string]string{"tasks=0,1,5": "Outputs differ",
				"tasks=0,1,2,3,4,5": "Curves", "tasks=1": "needs two tasks"} {
				if query == "tasks=1" {
					b.expect("400")
				}
				b.visit("/sweeps/" + id + "/compare?" + query)
				b.sees(text)
				name := fmt.Sprintf("compare-%s-%s-%d", notInNames.ReplaceAllString(query, "-"), theme,
					width)
				b.keep(name)
				b.looks(name)
			}
		}
	}
}
