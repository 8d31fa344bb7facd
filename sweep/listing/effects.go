package listing

import (
	"context"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Effects tells how a metric of a sweep depends on its parameters. It costs a look at all tasks.
func (a *Archive) Effects(ctx context.Context, id string, q api.PlotQuery) (api.Effects, error) {
	p, err := a.plotted(ctx, id, q)
	if err != nil {
		return api.Effects{}, err
	}
	names := p.s.Record.Schema().Parameters
	c, texts := analysis.NewCollector(names), make([]string, len(names))
	err = a.eachValue(ctx, p, table.FieldParameters, func(r *table.Row, state task.State, value float64) {
		if !state.Terminal() || state == task.Cancelled {
			return
		}
		clear(texts)
		for _, p := range r.Parameters {
			for i, name := range names {
				if p.Name == name {
					texts[i] = p.Value
				}
			}
		}
		c.Add(texts, value, state != task.Succeeded)
	})
	return api.NewEffects(p.metric, p.maximize, c.Effects(p.s.Record.Objective.Maximize)), err
}
