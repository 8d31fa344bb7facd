package api

import (
	"context"
	"fmt"
	"net/http"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Reread is how the metrics of a sweep are read now, and what was read of some of its tasks.
type Reread struct {
	Metrics   []metric.Rule     `json:"metrics"`
	Objective metric.Objective  `json:"objective"`
	Tasks     []core.Remeasured `json:"tasks"`
}

// MostReread is how many tasks one call can have.
const MostReread = 1000

func (s *Server) reread(w http.ResponseWriter, r *http.Request) error {
	var body Reread
	if err := read(r, &body); err != nil {
		return err
	}
	if _, err := metric.Compile(body.Metrics); err != nil {
		return wrong("metrics", err.Error())
	}
	if body.Metrics == nil {
		return wrong("metrics", "by which metrics? None is []")
	}
	if len(body.Tasks) > MostReread {
		return wrong("tasks", fmt.Sprintf("at most %d at a time", MostReread))
	}
	for _, t := range body.Tasks {
		if t.Index < 0 || len(t.Metrics) > metric.MaxMetrics || max(len(t.Stdout), len(t.Stderr),
			len(t.Unmeasured)) > task.MostUnread {
			return wrong("tasks", fmt.Sprintf("task %d has more than an attempt can have", t.Index))
		}
	}
	detail(r, fmt.Sprintf("tasks=%d", len(body.Tasks)))
	return s.act(w, r, func(ctx context.Context, id string) error {
		_, err := s.o.Master.Reread(ctx, id, body.Metrics, body.Objective, body.Tasks)
		return err
	})
}

// Reread gives a sweep other metrics and another objective, and tasks the values that were read by them.
func (c *Client) Reread(ctx context.Context, id string, with Reread) (s core.Summary, err error) {
	return s, c.write(ctx, http.MethodPost, sweepPath(id)+"/reread", nil, with, &s)
}
