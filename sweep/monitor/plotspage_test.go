package monitor_test

import (
	"fmt"
	"math"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

func TestParallelCoordinates(t *testing.T) {
	t.Parallel()
	least := false
	column := func(name string, values []string, of ...int) api.PointColumn {
		return api.PointColumn{Name: name, Values: values, Of: of}
	}
	var many api.PointColumn
	many.Name = "dropout"
	for i := range 6 {
		many.Values, many.Of = append(many.Values, fmt.Sprint(float64(i)/10)), append(many.Of, i)
	}
	for i := range 20 {
		many.Values = append(many.Values, fmt.Sprint(i+1))
	}
	six := api.Points{Metric: "loss<b>", Maximize: &least, Tasks: 6,
		Indexes: []int64{0, 1, 2, 3, 4, 7}, Values: []float64{.5, .1, 20, .4, .3, .2},
		Parameters: []api.PointColumn{column("same", []string{"x"}, 0, 0, 0, 0, 0, 0),
			column("lr", []string{"0.1", "0.01", "10"}, 0, 1, 2, 0, 1, 2),
			column("opt<i>", []string{"sgd", "", "a name that is too long"}, 0, 1, 2, 0, 1, 2), many}}
	for name, c := range map[string]struct {
		points api.Points
		order  []string
	}{
		"three":    {six, []string{"opt<i>", "lr"}},
		"no-best":  {api.Points{Metric: "loss", Indexes: six.Indexes, Values: six.Values, Parameters: six.Parameters[1:2]}, nil},
		"one-task": {api.Points{Indexes: []int64{1}, Values: []float64{1}}, nil},
		"nothing":  {api.Points{}, nil},
	} {
		golden(t, filepath.Join("parallel", name+".html"), monitor.DrawParallel(c.points, c.order))
	}
}

func TestPlotsOfASweep(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := learned(s)
	v := s.enter(monitor.Viewer)
	at := "/sweeps/" + id + "/plots"
	p := v.get(at)
	has(t, p, "<title>train-1 plots · monitor</title>", "Parallel coordinates", "18 tasks;",
		"Median of loss by batchsize and lr", `<option value="lr" selected>lr</option>`,
		`<a href="/sweeps/train-1?where=lr&#43;%3D&#43;0.1" data-key="tick`,
		`href="/sweeps/train-1?where=lr&#43;%3D&#43;0.1&#43;and&#43;batchsize&#43;%3D&#43;32"`,
		`<title>task 18, `, `class="number heat-4" title="median of 2 tasks; best `)
	has(t, v.get(at+"?x=optimizer&y=lr"), "Median of loss by lr and optimizer")
	has(t, v.get(at+"?x=none&y=lr"), "Median of loss by batchsize and lr")
	has(t, v.get(at+"?where=optimizer%3Dsgd"), "9 tasks;", `value="optimizer=sgd"`,
		`href="/sweeps/train-1?where=%28optimizer%3Dsgd%29&#43;and&#43;lr&#43;%3D&#43;0.1"`)
	has(t, v.get(at+"?where=none%3D1"), "there is no column", "The filter cannot be read.")
	has(t, v.get(at+"?where=index%3D0"), "Only one task has a value of loss.")
	has(t, v.get(at+"?where=lr%3D0.3"), "No task has a value of loss so far.")
	has(t, v.get(at+"?where=lr%3D0.1+and+optimizer%3Dsgd"), "Parallel coordinates")
	has(t, v.get("/sweeps/"+id), `<a href="/sweeps/train-1/plots" data-key="more plots">`)
	plain := s.submit("i: [1, 2]\n", func(r *core.Record) { r.Objective = metric.Objective{} })
	has(t, v.get("/sweeps/"+plain+"/plots"), "The sweep has no objective")
}

// Whatever parameters and values are named is text, and a value that is none is not drawn.
func TestHostilePlots(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", "gpu1", 2, func(_ string, a task.Attempt) *task.Outcome {
		o := well("", a)
		value := float64(a.Index)
		if a.Index == 3 {
			value = math.NaN()
		}
		o.Metrics = metric.Final{{Name: hostile, Value: value}}
		return o
	})
	long := strings.Repeat("long", 100)
	id := s.submit(fmt.Sprintf("\"%s<script>\": [1, 2]\n\"q<img>\": [\"<script>alert(1)</script>\", \"%s\"]\n",
		long, long), func(r *core.Record) { r.Objective = metric.Objective{Metric: hostile} })
	s.becomes(id, "succeeded", 4)
	p := s.enter(monitor.Viewer).get("/sweeps/" + id + "/plots")
	has(t, p, "Parallel coordinates", "3 tasks;", "longlong", "&lt;script&gt;alert(1)")
	lacks(t, p, "<script>alert", "<img", "\x1b", "\u202e", "NaN%")
}

func TestABrowserDrawsPlots(t *testing.T) {
	s := newSite(t)
	id, end := learned(s)
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id + "/plots")
	b.sees("18 tasks;")
	loaded := js[float64](b, "window.loaded = Math.random()")
	end(22)
	b.sees("19 tasks;")
	if js[float64](b, "window.loaded") != loaded {
		t.Error("the page was loaded again")
	}
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		for _, width := range []int64{1440, 390} {
			b.run(chromedp.EmulateViewport(width, 900))
			b.visit("/sweeps/" + id + "/plots")
			b.sees("Parallel coordinates")
			name := fmt.Sprintf("plots-%s-%d", theme, width)
			b.keep(name)
			b.looks(name)
		}
	}
	b.run(chromedp.Evaluate(`document.querySelector("select[name=x]").value = "optimizer"`, nil),
		chromedp.Submit(".heat-form"), chromedp.WaitVisible("table.heat"))
	b.sees("by batchsize and optimizer")
	href := js[string](b, `document.querySelector("table.heat td a").href`)
	if u, err := url.Parse(href); err != nil || !strings.Contains(u.Query().Get("where"), "optimizer") {
		t.Errorf("a cell leads to %s", href)
	}
}

// A drag along an axis filters by what is in its range.
func TestABrowserFiltersByADrag(t *testing.T) {
	s := newSite(t)
	id, _ := learned(s)
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id + "/plots")
	b.sees("drag along an axis to filter")
	drag := func(axis string, from, to float64) {
		t.Helper()
		box := js[[]float64](b, `(() => { const r = document.querySelector('.grip[data-axis="`+axis+
			`"]').getBoundingClientRect(); return [r.left + r.width / 4, r.top, r.height]; })()`)
		at := func(part float64) (x, y float64) { return box[0], box[1] + part*box[2] }
		x, y := at(from)
		b.run(chromedp.MouseEvent(input.MousePressed, x, y, chromedp.Button("left")))
		x, y = at(to)
		b.run(chromedp.MouseEvent(input.MouseMoved, x, y, chromedp.Button("left")))
		b.keep("plots-drag")
		b.run(chromedp.MouseEvent(input.MouseReleased, x, y, chromedp.Button("left")))
	}
	where := func(ok func(string) bool) {
		t.Helper()
		s.until("the filter is in the URL", func() bool {
			q, err := url.ParseQuery(strings.TrimPrefix(js[string](b, "location.search"), "?"))
			return err == nil && ok(q.Get("where"))
		})
	}
	drag("0", 0.02, 0.05) // nothing is there
	drag("0", 0.3, 0.98)
	where(func(q string) bool { return q == "(lr = 0.001 or lr = 0.01)" })
	b.run(chromedp.WaitVisible(".grip"))
	b.sees("12 tasks;")
	drag("3", 0.5, 1)
	where(func(q string) bool {
		return strings.HasPrefix(q, "((lr = 0.001 or lr = 0.01)) and metrics.loss >= 1.1") &&
			strings.Contains(q, " and metrics.loss <= 1.")
	})
	b.sees("6 tasks;")
}
