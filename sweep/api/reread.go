package api

import (
	"context"
	"net/http"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
)

// Reread is how the metrics of a sweep are read now, and what was read of some of its tasks.
type Reread struct {
	Metrics   []metric.Rule     `json:"metrics"`
	Objective metric.Objective  `json:"objective"`
	Tasks     []core.Remeasured `json:"tasks"`
}

// MostReread is how many tasks one call can have.
const MostReread = 1000

// Reread gives a sweep other metrics and another objective, and tasks the values that were read by them.
func (c *Client) Reread(ctx context.Context, id string, with Reread) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/reread", nil, with, &s)
}
