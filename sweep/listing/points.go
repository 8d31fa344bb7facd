package listing

import (
	"cmp"
	"context"
	"slices"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Points tells values of a metric of a sweep with the parameters of their tasks. It costs a look at
// all tasks.
func (a *Archive) Points(ctx context.Context, id string, q api.PlotQuery) (api.Points, error) {
	p, err := a.plotted(ctx, id, q)
	if err != nil {
		return api.Points{}, err
	}
	var all []analysis.Result
	err = a.eachValue(ctx, p, 0, func(r *table.Row, _ task.State, value float64) {
		if metric.IsFinite(value) {
			all = append(all, analysis.Result{Index: r.Index, Value: value})
		}
	})
	if err != nil {
		return api.Points{}, err
	}
	answer := api.Points{Metric: p.metric, Maximize: p.maximize, Tasks: int64(len(all)),
		Indexes: []int64{}, Values: []float64{}, Parameters: []api.PointColumn{}}
	names := p.s.Record.Schema().Parameters
	known := make([]map[string]int, len(names))
	for i, name := range names {
		known[i] = map[string]int{}
		answer.Parameters = append(answer.Parameters,
			api.PointColumn{Name: name, Values: []string{}, Of: []int{}})
	}
	fill := p.fill(table.FieldParameters)
	var r table.Row
	for _, one := range sampled(all, p.maximize) {
		answer.Indexes = append(answer.Indexes, one.Index)
		answer.Values = append(answer.Values, one.Value)
		fill(&r, &core.Task{Index: one.Index, State: task.Succeeded})
		for i := range answer.Parameters {
			c := &answer.Parameters[i]
			text, _ := r.Parameters.Get(c.Name)
			at, ok := known[i][text]
			if !ok {
				at = len(c.Values)
				known[i][text] = at
				c.Values = append(c.Values, text)
			}
			c.Of = append(c.Of, at)
		}
	}
	return answer, nil
}

// sampled returns at most MaxPoints of results, with the best of them, by index.
func sampled(all []analysis.Result, maximize *bool) []analysis.Result {
	if len(all) <= api.MaxPoints {
		return all
	}
	var some []analysis.Result
	chosen := map[int64]bool{}
	add := func(r analysis.Result) {
		if !chosen[r.Index] && len(some) < api.MaxPoints {
			chosen[r.Index] = true
			some = append(some, r)
		}
	}
	if maximize != nil {
		best := slices.SortedStableFunc(slices.Values(all), func(a, b analysis.Result) int {
			if *maximize {
				a, b = b, a
			}
			return cmp.Compare(a.Value, b.Value)
		})
		for _, r := range best[:api.BestPoints] {
			add(r)
		}
	}
	for _, at := range analysis.Spread(len(all)) {
		if len(some) == api.MaxPoints {
			break
		}
		add(all[at])
	}
	slices.SortFunc(some, func(a, b analysis.Result) int { return cmp.Compare(a.Index, b.Index) })
	return some
}
