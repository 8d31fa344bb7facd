package monitor_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/monitor"
	"mlframework/sweep/task"
)

func TestLearningCurves(t *testing.T) {
	t.Parallel()
	number := func(v float64) *float64 { return &v }
	bands := []api.Band{{X: 1, Tasks: 4, Low: 1, P25: 1.5, Median: 2, P75: 3, High: 4},
		{X: 2, Tasks: 3, Low: 0.5, P25: 1, Median: 1.5, P75: 2, High: 3}}
	for name, c := range map[string]api.Curves{
		"best-and-running": {Metric: "<loss>", ByStep: true, Bands: bands, Curves: []api.Curve{
			{Index: 3, State: "succeeded", X: []float64{1, 2}, Y: []*float64{number(1), number(0.5)}},
			{Index: 17, State: "running", X: []float64{1}, Y: []*float64{number(3)}}}},
		"infinite": {Metric: "loss", Bands: bands, Curves: []api.Curve{{Index: 3,
			X: []float64{1, 2}, Y: []*float64{nil, nil}}}},
		"bands-only": {Metric: "loss", ByStep: true, Bands: bands},
		"nothing":    {Metric: "loss"},
	} {
		golden(t, filepath.Join("learning", name+".html"), monitor.DrawLearningCurves(c))
	}
	results := []api.Result{{Index: 0, Seconds: 1, Value: 0.5}, {Index: 3, Seconds: 60, Value: 0.2},
		{Index: 9, Seconds: 3700, Value: 0.4}}
	for name, p := range map[string]api.Progress{
		"steps":   {Metric: "<loss>", Tasks: 3, Best: results[:2], Some: results},
		"one":     {Metric: "loss", Tasks: 1, Best: results[:1], Some: results[:1]},
		"nothing": {Metric: "loss"},
	} {
		golden(t, filepath.Join("progress", name+".html"), monitor.DrawProgress(p))
	}
}

// learned is a sweep of tasks with curves of a loss, of which the last two run.
func learned(s *site) (id string, end func(int64)) {
	s.samples = func(a task.Attempt) (all []metric.Sample) {
		lr, batch := a.Index/3%4, a.Index%3
		for i := range 20 {
			step := int64(i)
			v := .1 + .5*float64((lr+2)%4) + 2/float64(i+1) + .04*float64(batch) +
				.05*math.Sin(float64(i)+float64(a.Index))
			if lr == 3 && i > 12 {
				v = math.Inf(1)
			}
			if a.Index >= 22 && i > 11 {
				break
			}
			all = append(all, metric.Sample{Name: "loss", Value: v, Step: &step, Line: step,
				Stream: "stdout", Time: time.Now()})
		}
		return all
	}
	finish := s.hire("w1", "gpu1", 4, func(_ string, a task.Attempt) *task.Outcome {
		last := s.samples(a)
		value := last[len(last)-1].Value
		code := 1
		switch {
		case a.Index >= 22:
			return nil
		case math.IsInf(value, 0):
			return &task.Outcome{Class: task.Error, ExitCode: &code, Duration: time.Second,
				Reason: "exit code 1: FloatingPointError"}
		}
		return &task.Outcome{Class: task.Success, ExitCode: new(int),
			Duration: time.Duration(a.Index*a.Index+1) * time.Second,
			Metrics:  metric.Final{{Name: "loss", Value: value}}}
	})
	id = s.submit("optimizer: [sgd, adam]\nlr: [0.001, 0.01, 0.1, 0.3]\nbatchsize: [32, 128, 512]\n",
		func(r *core.Record) {
			r.Objective, r.KeepGoing = metric.Objective{Metric: "loss"}, true
		})
	s.becomes(id, "running", 2)
	s.becomes(id, "succeeded", 18)
	return id, func(index int64) {
		finish(id, index, &task.Outcome{Class: task.Success, ExitCode: new(int),
			Duration: time.Minute, Metrics: metric.Final{{Name: "loss", Value: .01}}})
	}
}

func TestCurvesOfASweepsPage(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id, _ := learned(s)
	v := s.enter(monitor.Viewer)
	p := v.get("/sweeps/" + id)
	has(t, p, "Best so far", "18 tasks as they ended", "Learning curves",
		"all tasks, the middle half of them, the best", `class="own running-line"`,
		"loss by step, 7 curves", `<a href="/sweeps/train-1/tasks/22" data-key="curve`)
	has(t, v.get("/sweeps/"+id+"?where=batchsize%3D32"), "6 tasks as they ended")
	lacks(t, v.get("/sweeps/"+id+"?where=none%3D1"), "Learning curves", "Best so far")
	lacks(t, v.get("/sweeps/"+id+"?where=lr%3D0.3"), "Best so far") // all failed
	plain := s.submit("i: [1, 2]\n", func(r *core.Record) { r.Objective = metric.Objective{} })
	lacks(t, v.get("/sweeps/"+plain), "Learning curves", "Best so far")
	one := s.submit("i: 1\n", func(r *core.Record) { r.Objective.Metric = hostile })
	s.becomes(one, "succeeded", 1)
	lacks(t, v.get("/sweeps/"+one), "Learning curves", "Best so far")
}

// Nothing of a sweep whose values are none is drawn.
func TestCurvesWithoutNumbers(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.samples = func(task.Attempt) []metric.Sample {
		all := losses(3)
		for i := range all {
			all[i].Value = math.NaN()
		}
		return all
	}
	s.hire("w1", "gpu1", 2, func(_ string, a task.Attempt) *task.Outcome {
		o := well("", a)
		o.Metrics = metric.Final{{Name: "loss", Value: math.NaN()}}
		return o
	})
	id := s.submit("i: [1, 2, 3]\n", func(r *core.Record) {
		r.Objective = metric.Objective{Metric: "loss"}
	})
	s.becomes(id, "succeeded", 3)
	p := s.enter(monitor.Viewer).get("/sweeps/" + id)
	has(t, p, "3 of 3 done")
	lacks(t, p, "Learning curves", "Best so far", "NaN%", "Infinity")
}

func TestABrowserDrawsCurves(t *testing.T) {
	s := newSite(t)
	id, end := learned(s)
	b := s.open()
	b.enter()
	b.visit("/sweeps/" + id)
	b.sees("Learning curves")
	loaded := js[float64](b, "window.loaded = Math.random()")
	end(22)
	b.sees("19 tasks as they ended")
	if js[float64](b, "window.loaded") != loaded {
		t.Error("the page was loaded again")
	}
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetEmulatedMedia().WithFeatures(
			[]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: theme}}))
		for _, width := range []int64{1440, 390} {
			b.run(chromedp.EmulateViewport(width, 900))
			b.visit("/sweeps/" + id)
			b.sees("Learning curves")
			name := fmt.Sprintf("curves-%s-%d", theme, width)
			b.keep(name)
			b.looks(name)
		}
	}
	if text := js[string](b, `document.querySelector(".plots").innerHTML`); strings.Contains(text,
		"NaN") {
		t.Error(text)
	}
}

// The repeats of a combination have a mean curve: here of the loss, as the objective has no curve.
func TestMeanCurveOfRepeats(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.samples = func(task.Attempt) []metric.Sample { return losses(3) }
	s.hire("w1", "gpu1", 3, well)
	id := s.submit("lr: [0.1, 0.2]\nseed: [1, 2, 3]\n---\nrepeat: seed\n", func(r *core.Record) {
		ranked(r)
		r.Recipe.Metrics = append(r.Recipe.Metrics, metric.Rule{Name: "loss", Pattern: "(l)"})
	})
	s.becomes(id, "succeeded", 6)
	has(t, s.enter(monitor.Viewer).get("/sweeps/"+id+"?where=lr%3D0.1"), "Learning curves",
		"the middle half of them, their mean", `class="own mean-line"`, "mean of 3 tasks",
		"loss by step")
}
