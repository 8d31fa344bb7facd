package listing

import (
	"context"
	"math"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Effects tells how a metric of a sweep depends on its parameters. It costs a look at all tasks.
func (a *Archive) Effects(ctx context.Context, id string, q api.EffectsQuery) (api.Effects, error) {
	s, err := a.Stored(ctx, id)
	if err != nil {
		return api.Effects{}, err
	}
	objective := s.Record.Objective
	metric := q.Metric
	if metric == "" {
		metric = objective.Metric
	}
	if metric == "" {
		return api.Effects{}, api.Wrong("metric", s.Head.ID+" has no objective: name a metric")
	}
	names := s.Record.Schema().Parameters
	c, texts := analysis.NewCollector(names), make([]string, len(names))
	err = a.Rows(ctx, s.Head.ID, api.Query{Issued: true, Where: q.Where}, func(r *table.Row) error {
		state, err := task.ParseState(r.State)
		if err != nil || !state.Terminal() || state == task.Cancelled {
			return nil
		}
		clear(texts)
		for _, p := range r.Parameters {
			for i, name := range names {
				if p.Name == name {
					texts[i] = p.Value
				}
			}
		}
		value, has := r.Metrics.Get(metric)
		if !has || state != task.Succeeded && !objective.Ranks(r.State) {
			value = math.NaN()
		}
		c.Add(texts, value, state != task.Succeeded)
		return nil
	})
	var maximize *bool
	if metric == objective.Metric {
		maximize = &objective.Maximize
	}
	return api.NewEffects(metric, maximize, c.Effects(objective.Maximize)), err
}
