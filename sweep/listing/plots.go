package listing

import (
	"context"
	"math"
	"slices"
	"time"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

const (
	// sampledCurves is of how many tasks at most the bands of curves are, and sampledBytes how much
	// is read for them, but for the last some.
	sampledCurves, sampledBytes = 500, 6 << 20
	// curvesAtOnce is of how many tasks curves are read in one question to the store.
	curvesAtOnce = 25
)

// Progress tells the best value of a metric of a sweep over time. It costs a look at all tasks.
func (a *Archive) Progress(ctx context.Context, id string, q api.PlotQuery) (api.Progress, error) {
	p, err := a.plotted(ctx, id, q)
	if err != nil {
		return api.Progress{}, err
	}
	var all []analysis.Result
	began := time.Time{}
	err = a.eachValue(ctx, p, table.FieldStarted|table.FieldDuration,
		func(r *table.Row, _ task.State, value float64) {
			if !metric.IsFinite(value) || r.Started == nil || r.Duration == nil {
				return
			}
			if began.IsZero() || r.Started.Before(began) {
				began = *r.Started
			}
			ended := float64(r.Started.UnixMicro())/1e6 + *r.Duration
			all = append(all, analysis.Result{Index: r.Index, At: ended, Value: value})
		})
	if err != nil {
		return api.Progress{}, err
	}
	maximize := p.maximize != nil && *p.maximize
	answer := api.Progress{Metric: p.metric, Maximize: maximize, Tasks: int64(len(all))}
	if len(all) > 0 {
		answer.Began = &began
	}
	best, some := analysis.Progress(all, maximize, api.MaxProgress)
	results := func(all []analysis.Result) []api.Result {
		shown := make([]api.Result, len(all))
		for i, r := range all {
			shown[i] = api.Result{Index: r.Index, Value: r.Value,
				Seconds: math.Round(1e3*(r.At-float64(began.UnixMicro())/1e6)) / 1e3}
		}
		return shown
	}
	answer.Best, answer.Some = results(best), results(some)
	return answer, nil
}

// Curves tells the values of a metric by steps: of the best tasks, of some that run, and bands of a
// sample of all. It costs a look at all tasks.
func (a *Archive) Curves(ctx context.Context, id string, q api.PlotQuery) (api.Curves, error) {
	p, err := a.plotted(ctx, id, q)
	if err != nil {
		return api.Curves{}, err
	}
	c, err := a.curvedTasks(ctx, p)
	if err != nil {
		return api.Curves{}, err
	}
	answer := api.Curves{Metric: p.metric, Maximize: p.maximize, Tasks: int64(len(c.all)),
		Bands: []api.Band{}, Curves: []api.Curve{}, ByStep: true}
	known, read := map[int64][]metric.StepValue{}, 0
	fetch := func(indexes []int64) error {
		return a.Store.Points(ctx, p.s, indexes, p.metric,
			func(index int64, points []metric.StepValue, bytes int) bool {
				read += bytes
				known[index] = slices.Clone(points)
				return true
			})
	}
	var drawn []int64
	for _, l := range c.drawn {
		drawn = append(drawn, l.Index)
	}
	if err := fetch(drawn); err != nil {
		return answer, err
	}
	read = 0
	var sample []int64
	for _, at := range analysis.Spread(len(c.all))[:min(len(c.all), sampledCurves)] {
		sample = append(sample, c.all[at])
	}
	for part := range slices.Chunk(sample, curvesAtOnce) {
		if read >= sampledBytes {
			break
		}
		if err := fetch(part); err != nil {
			return answer, err
		}
		answer.Sampled += int64(len(part))
	}
	for _, points := range known {
		if slices.ContainsFunc(points, func(p metric.StepValue) bool { return !p.HasStep }) {
			answer.ByStep = false
		}
	}
	var sampled [][]analysis.Point
	for _, index := range sample[:answer.Sampled] {
		sampled = append(sampled, pointsOf(known[index], answer.ByStep))
	}
	for _, b := range analysis.Bands(sampled, api.MaxBands) {
		answer.Bands = append(answer.Bands, api.Band{X: b.X, Tasks: b.Curves, Low: b.Low, P25: b.P25,
			Median: b.Median, P75: b.P75, High: b.High, Mean: b.Mean})
	}
	for _, l := range c.drawn {
		one := api.Curve{Index: l.Index, State: l.state.String(), X: []float64{}, Y: []*float64{}}
		for _, p := range analysis.Thin(pointsOf(known[l.Index], answer.ByStep), api.MaxCurvePoint) {
			one.X = append(one.X, p.X)
			if !metric.IsFinite(p.Y) {
				one.Y = append(one.Y, nil)
				continue
			}
			one.Y = append(one.Y, new(p.Y))
		}
		if len(one.X) > 0 {
			answer.Curves = append(answer.Curves, one)
		}
	}
	return answer, nil
}

// curvedTasks are the tasks that began.
type curvedTasks struct {
	all   []int64
	drawn []drawnTask // the best, the first of them first, and then some that run
}

type drawnTask struct {
	analysis.Result
	state task.State
}

// curvedTasks finds the tasks of curves.
func (a *Archive) curvedTasks(ctx context.Context, p plotted) (c curvedTasks, err error) {
	var best, running []drawnTask
	err = a.eachValue(ctx, p, 0, func(r *table.Row, state task.State, value float64) {
		if state != task.Running && !state.Terminal() {
			return
		}
		c.all = append(c.all, r.Index)
		one := drawnTask{analysis.Result{Index: r.Index, Value: value}, state}
		if state == task.Running && len(running) < api.MaxCurves-api.BestCurves {
			running = append(running, one)
		}
		if p.maximize == nil || !metric.IsFinite(value) {
			return
		}
		at, _ := slices.BinarySearchFunc(best, value, func(b drawnTask, value float64) int {
			if b.Value == value || (b.Value > value) == *p.maximize {
				return -1
			}
			return 1
		})
		if at < api.BestCurves {
			best = slices.Insert(best, at, one)
			best = best[:min(len(best), api.BestCurves)]
		}
	})
	c.drawn = append(best, running...)
	return c, err
}

// pointsOf returns the points of a curve, by their steps or by their numbers.
func pointsOf(all []metric.StepValue, byStep bool) []analysis.Point {
	points := make([]analysis.Point, len(all))
	for i, p := range all {
		points[i] = analysis.Point{X: float64(i + 1), Y: p.Value}
		if byStep {
			points[i].X = float64(p.Step)
		}
	}
	if byStep {
		slices.SortStableFunc(points, func(a, b analysis.Point) int {
			switch {
			case a.X < b.X:
				return -1
			case a.X > b.X:
				return 1
			}
			return 0
		})
	}
	return points
}
