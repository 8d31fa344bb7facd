package monitor

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// mostRepeats is of how many tasks at most, of a sweep that repeats its combinations, a mean curve is
// drawn: a filter picks the repeats of one.
const mostRepeats = 20

// otherCurves is how many metrics are looked at for curves if the objective has none.
const otherCurves = 4

// curvesView is how a sweep came to its best value, and how its tasks came to theirs.
type curvesView struct {
	Progress, Curves     *plot
	ProgressOf, CurvesOf string // of which tasks

	due time.Duration // as in askRarely
}

// askCurves asks for the progress and the curves of a sweep; nil: there is nothing to draw.
func (m *Monitor) askCurves(ctx context.Context, s api.Sweep, where string, version int64) (
	*curvesView, error) {
	if s.Record.Objective.IsZero() ||
		ended(s.Summary)+s.Counts[task.Running.String()] == 0 {
		return nil, nil
	}
	type answer struct {
		progress api.Progress
		curves   api.Curves
		wrong    bool
	}
	a, due, err := askRarely(ctx, m.answers, rareKey("curves", s, where), version,
		func(ctx context.Context) (a answer, err error) {
			q := api.PlotQuery{Where: where}
			if a.progress, err = m.o.Master.Progress(ctx, s.ID, q); err == nil {
				a.curves, err = m.curves(ctx, s, q)
			}
			if refusal(err) != nil { // the filter's fault is told with the table
				return answer{wrong: true}, nil
			}
			return a, err
		})
	if err != nil || a.value.wrong {
		return nil, err
	}
	repeats := len(s.Record.Repeats()) > 0 && a.value.curves.Tasks <= mostRepeats
	v := curvesView{due: due, Progress: m.progress(s.ID, a.value.progress),
		Curves: m.learningCurves(s.ID, a.value.curves, repeats)}
	if v.Progress == nil && v.Curves == nil {
		return nil, nil
	}
	n := a.value.progress.Tasks
	v.ProgressOf = count(n) + human.Pick(int(n), " task", " tasks") + " as they ended"
	v.CurvesOf = "all tasks, the middle half of them, the best"
	if repeats {
		v.CurvesOf = "all tasks, the middle half of them, their mean"
	}
	if c := a.value.curves; c.Sampled < c.Tasks {
		v.CurvesOf = fmt.Sprintf("%s of %s tasks, the middle half of them, the best",
			count(c.Sampled), count(c.Tasks))
	}
	return &v, nil
}

// curves asks for the curves of the objective, or, where it has none, of the first of the other
// metrics that has some.
func (m *Monitor) curves(ctx context.Context, s api.Sweep, q api.PlotQuery) (api.Curves, error) {
	c, err := m.o.Master.Curves(ctx, s.ID, q)
	for i, rule := range s.Record.Recipe.Metrics {
		if err != nil || i == otherCurves || m.learningCurves(s.ID, c, false) != nil {
			break
		}
		if q.Metric = rule.Name; rule.Name != s.Record.Objective.Metric {
			c, err = m.o.Master.Curves(ctx, s.ID, q)
		}
	}
	return c, err
}

// progress draws the best value so far as a line of steps.
func (m *Monitor) progress(sweep string, a api.Progress) *plot {
	if len(a.Best) == 0 || len(a.Some) == 0 {
		return nil
	}
	var steps, some []point
	for i, r := range a.Best {
		if i > 0 {
			steps = append(steps, point{r.Seconds, a.Best[i-1].Value})
		}
		steps = append(steps, point{r.Seconds, r.Value})
	}
	best := a.Best[len(a.Best)-1]
	last := a.Some[len(a.Some)-1].Seconds
	steps = append(steps, point{last, best.Value})
	for _, r := range a.Some {
		some = append(some, point{r.Seconds, r.Value})
	}
	label := strconv.FormatInt(best.Index, 10)
	return newPlot(drawing{caption: human.Truncate(human.Visible(a.Metric)) + " over time", by: byTime, some: some, xText: human.Duration,
		lines: []drawnLine{{label: label, title: "best: task " + label, class: "own best-line",
			url: m.taskURL(sweep, best.Index), points: steps}}})
}

// learningCurves draws the curves of the best tasks and of those that run over the bands of all, and
// with mean that of all.
func (m *Monitor) learningCurves(sweep string, a api.Curves, mean bool) *plot {
	all := band{class: "all", title: "all tasks"}
	half := band{class: "half", title: "the middle half of the tasks"}
	for _, b := range a.Bands {
		all.x, all.low, all.high = append(all.x, b.X), append(all.low, b.Low),
			append(all.high, b.High)
		half.x, half.low, half.high = append(half.x, b.X), append(half.low, b.P25),
			append(half.high, b.P75)
	}
	d := drawing{by: byNumber, bands: []band{all, half}}
	if a.ByStep {
		d.by = byStep
	}
	d.caption = captionOf(a.Metric, d.by)
	if mean {
		l := drawnLine{label: "mean", title: "mean of " + count(a.Tasks) + " tasks",
			class: "own mean-line"}
		for _, b := range a.Bands {
			l.points = append(l.points, point{b.X, b.Mean})
		}
		d.lines = append(d.lines, l)
	}
	for _, c := range a.Curves[:min(len(a.Curves), maxPlotLines)] {
		label := strconv.FormatInt(c.Index, 10)
		l := drawnLine{label: label, title: "task " + label, url: m.taskURL(sweep, c.Index),
			class: "own best-line"}
		if c.State == task.Running.String() {
			l.class, l.goesOn = "own running-line", true
		}
		for i, x := range c.X {
			y := math.NaN()
			if c.Y[i] != nil {
				y = *c.Y[i]
			}
			l.points = append(l.points, point{x, y})
		}
		d.lines = append(d.lines, l)
	}
	return newPlot(d)
}
