package api

import (
	"context"
	"math"
	"net/url"

	"mlframework/sweep/analysis"
)

// PlotQuery says of which tasks of a sweep a plot is, and of which metric.
type PlotQuery struct {
	Metric string // "": that of the objective
	Where  string // an expression; "": all tasks
}

func (q PlotQuery) values() url.Values {
	v := url.Values{}
	set(v, "metric", q.Metric)
	set(v, "where", q.Where)
	return v
}

// Effects is how a metric is distributed over the values of the parameters of a sweep. Its JSON
// names are a contract.
type Effects struct {
	Metric     string   `json:"metric"`
	Maximize   *bool    `json:"maximize"` // larger values are better; null: not the objective's
	Points     int64    `json:"points"`   // tasks that have a finite value of the metric
	Without    int64    `json:"without"`  // tasks that ended without one
	Failed     int64    `json:"failed"`   // those of them that failed
	Parameters []Effect `json:"parameters"`
}

// Effect is one parameter with several values.
type Effect struct {
	Name string `json:"name"`
	// Share of the metric's variance between the means of the values, from 0 to 1; null: there is
	// no variance.
	Share  *float64      `json:"share"`
	Values []EffectValue `json:"values"`
}

// EffectValue is one value of a parameter, or a range of its values. Numbers are null where no task
// has the metric.
type EffectValue struct {
	Value  string   `json:"value"`
	Tasks  int64    `json:"tasks"`  // all that ended
	Points int64    `json:"points"` // those that have the metric
	Failed int64    `json:"failed"`
	Best   *float64 `json:"best"` // null, too, of another metric than the objective's
	P05    *float64 `json:"p05"`
	P25    *float64 `json:"p25"`
	Median *float64 `json:"median"`
	P75    *float64 `json:"p75"`
	P95    *float64 `json:"p95"`
}

// NewEffects returns effects as the API has them. Maximize is nil for another metric than the
// objective's, of which no value is the best.
func NewEffects(metric string, maximize *bool, e analysis.Effects) Effects {
	all := Effects{Metric: metric, Maximize: maximize, Points: e.Points, Without: e.Without,
		Failed: e.Failed, Parameters: []Effect{}}
	for _, p := range e.Parameters {
		shown := Effect{Name: p.Name, Share: numberOrNull(p.Share), Values: []EffectValue{}}
		for _, v := range p.Values {
			best := numberOrNull(v.Best)
			if maximize == nil {
				best = nil
			}
			shown.Values = append(shown.Values, EffectValue{Value: v.Text, Tasks: v.Tasks, Points: v.Points,
				Failed: v.Failed, Best: best, P05: numberOrNull(v.P05),
				P25: numberOrNull(v.P25), Median: numberOrNull(v.Median),
				P75: numberOrNull(v.P75), P95: numberOrNull(v.P95)})
		}
		all.Parameters = append(all.Parameters, shown)
	}
	return all
}

// Scale returns a scale for all values of the effects.
func (e Effects) Scale() analysis.Scale {
	s := analysis.NewScale()
	for _, p := range e.Parameters {
		for _, v := range p.Values {
			for _, n := range []*float64{v.Best, v.P05, v.P95} {
				if n != nil {
					s.Include(*n)
				}
			}
		}
	}
	if low, high := s.Low, s.High; !s.IsEmpty() {
		s.Settle()
		s.Low, s.High = low, high // its ends are shown
	}
	return s
}

func numberOrNull(n float64) *float64 {
	if math.IsNaN(n) || math.IsInf(n, 0) {
		return nil
	}
	return &n
}

// Effects returns how a metric of a sweep depends on its parameters.
func (c *Client) Effects(ctx context.Context, id string, q PlotQuery) (e Effects, err error) {
	return e, c.get(ctx, sweepPath(id)+"/effects", q.values(), &e)
}
