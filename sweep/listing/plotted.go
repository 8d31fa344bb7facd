package listing

import (
	"cmp"
	"context"
	"math"

	"mlframework/sweep/api"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// plotted is the tasks of a question for what plots show: those of a sweep that a filter picks, and
// a metric of theirs.
type plotted struct {
	prepared
	metric string
	// which values of it are the best; nil: it is not the objective's
	maximize *bool
}

func (a *Archive) plotted(ctx context.Context, id string, q api.PlotQuery) (p plotted, err error) {
	if p.prepared, err = a.prepare(ctx, id, api.Query{Issued: true, Where: q.Where}); err != nil {
		return p, err
	}
	objective := p.s.Record.Objective
	p.metric = cmp.Or(q.Metric, objective.Metric)
	if p.metric == "" {
		return p, api.Wrong("metric", p.s.Head.ID+" has no objective: name a metric")
	}
	if p.metric == objective.Metric {
		p.maximize = &objective.Maximize
	}
	return p, nil
}

// eachValue calls a function with the tasks, their states and values, NaN for none that counts; of a row
// it has these fields, too.
func (a *Archive) eachValue(ctx context.Context, p plotted, fields table.Fields,
	do func(r *table.Row, state task.State, value float64)) error {
	if p.nothing {
		return nil
	}
	objective := p.s.Record.Objective
	q := store.TaskQuery{Fields: fields | table.FieldState | table.FieldMetrics | p.rest.Fields(),
		Metrics: append([]string{p.metric}, p.rest.Metrics()...)}
	return a.find(ctx, p.prepared, q, func(r *table.Row) bool {
		state, err := task.ParseState(r.State)
		if err != nil {
			return true
		}
		value, has := r.Metrics.Get(p.metric)
		if !has || state != task.Succeeded && !objective.Ranks(r.State) {
			value = math.NaN()
		}
		do(r, state, value)
		return true
	})
}
