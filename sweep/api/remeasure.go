package api

import (
	"context"
	"net/http"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
)

// Measure asks for the metrics of tasks that have ended, read again from what they left where they
// ran.
type Measure struct {
	Metrics []metric.Rule `json:"metrics"`
	Tasks   []int64       `json:"tasks"`
}

// Measures answers a Measure, in its order.
type Measures struct {
	Tasks []MeasuredTask `json:"tasks"`
}

// MeasuredTask is a task and what was read of it.
type MeasuredTask struct {
	core.Remeasured
	// metrics that keep the values which they had: of these files other values are left
	Kept  []string `json:"kept,omitempty"`
	Gone  []string `json:"gone,omitempty"`  // like Kept, but no value was found
	Error string   `json:"error,omitempty"` // why nothing was read
}

// MostMeasured is how many tasks one Measure can have.
const MostMeasured = 100

// Measure reads metrics again, and stores nothing.
func (c *Client) Measure(ctx context.Context, id string, m Measure) (all Measures, err error) {
	text, err := encode(m)
	if err != nil {
		return all, err
	}
	_, err = c.exchange(ctx, "", http.MethodPost, sweepPath(id)+"/measure", nil, text, &all)
	return all, err
}

// Reread is how the metrics of a sweep are read now, and what was read of some of its tasks.
type Reread struct {
	Metrics   []metric.Rule     `json:"metrics"`
	Objective metric.Objective  `json:"objective"`
	Tasks     []core.Remeasured `json:"tasks"`
}

// MostReread is how many tasks one call can have.
const MostReread = 1000

// Reread gives a sweep other metrics and another objective, and tasks the values that were read by
// them.
func (c *Client) Reread(ctx context.Context, id string, with Reread) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/reread", nil, with, &s)
}
