package api

import (
	"context"
	"time"
)

// What [Client.Curves] and [Client.Points] return at most, and [Client.Progress] of each list.
const (
	MaxPoints     = 2000
	BestPoints    = 50 // of them, whatever the sample is
	BestCurves    = 5
	MaxCurves     = 12  // the best and those that run
	MaxCurvePoint = 200 // of each
	MaxBands      = 100
	MaxProgress   = 200
)

// Progress is the best value of a metric so far, over the time of a sweep. Its JSON names are a
// contract.
type Progress struct {
	Metric   string     `json:"metric"`
	Maximize bool       `json:"maximize"`
	Tasks    int64      `json:"tasks"` // that have a finite value, and an end
	Began    *time.Time `json:"began"` // the first of them; null: there is none
	// the tasks that were the best when they ended, in the order of time; of many some
	Best []Result `json:"best"`
	Some []Result `json:"some"` // of the tasks, at even distances in the order of time
}

// Result is the value of a task that ended.
type Result struct {
	Index   int64   `json:"index"`
	Seconds float64 `json:"seconds"` // after the first of them began
	Value   float64 `json:"value"`
}

// Curves are the values of a metric by steps, of many tasks. Its JSON names are a contract.
type Curves struct {
	Metric   string `json:"metric"`
	Maximize *bool  `json:"maximize"` // larger values are better; null: not the objective's
	ByStep   bool   `json:"by_step"`  // false: a value has no step, and all have their number instead
	Tasks    int64  `json:"tasks"`    // that began
	Sampled  int64  `json:"sampled"`  // those of them whose curves Bands are of
	Bands    []Band `json:"bands"`
	// the best, the first of them first, and then those that run
	Curves []Curve `json:"curves"`
}

// Band is how the values of tasks are distributed at a step.
type Band struct {
	X      float64 `json:"x"`
	Tasks  int     `json:"tasks"` // that have a value there
	Low    float64 `json:"low"`
	P25    float64 `json:"p25"`
	Median float64 `json:"median"`
	P75    float64 `json:"p75"`
	High   float64 `json:"high"`
	Mean   float64 `json:"mean"`
}

// Curve is the values of one task.
type Curve struct {
	Index int64      `json:"index"`
	State string     `json:"state"`
	X     []float64  `json:"x"`
	Y     []*float64 `json:"y"` // null: not a number, or infinite
}

// Points are values of a metric with the parameters of their tasks, a sample of many. Its JSON names
// are a contract.
type Points struct {
	Metric     string        `json:"metric"`
	Maximize   *bool         `json:"maximize"` // larger values are better; null: not the objective's
	Tasks      int64         `json:"tasks"`    // that have a finite value
	Indexes    []int64       `json:"indexes"`  // of the points, in ascending order
	Values     []float64     `json:"values"`   // of the points
	Parameters []PointColumn `json:"parameters"`
}

// PointColumn is a parameter of points.
type PointColumn struct {
	Name   string   `json:"name"`
	Values []string `json:"values"` // each once; "": a point has none
	Of     []int    `json:"of"`     // of each point the place of its value in Values
}

// Points returns values of a metric of a sweep with their parameters.
func (c *Client) Points(ctx context.Context, id string, q PlotQuery) (p Points, err error) {
	return p, c.get(ctx, sweepPath(id)+"/points", q.values(), &p)
}

// Progress returns the best value of a metric of a sweep over time.
func (c *Client) Progress(ctx context.Context, id string, q PlotQuery) (p Progress, err error) {
	return p, c.get(ctx, sweepPath(id)+"/progress", q.values(), &p)
}

// Curves returns the curves of a metric of a sweep.
func (c *Client) Curves(ctx context.Context, id string, q PlotQuery) (all Curves, err error) {
	return all, c.get(ctx, sweepPath(id)+"/curves", q.values(), &all)
}
