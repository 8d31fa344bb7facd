package server

import (
	"context"
	"fmt"
	"net/http"

	"mlframework/sweep/api"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

func (s *Server) reread(w http.ResponseWriter, r *http.Request) error {
	var body api.Reread
	if err := read(r, &body); err != nil {
		return err
	}
	if _, err := metric.Compile(body.Metrics); err != nil {
		return api.Wrong("metrics", err.Error())
	}
	if body.Metrics == nil {
		return api.Wrong("metrics", "by which metrics? None is []")
	}
	if len(body.Tasks) > api.MostReread {
		return api.Wrong("tasks", fmt.Sprintf("at most %d at a time", api.MostReread))
	}
	for _, t := range body.Tasks {
		if t.Index < 0 || len(t.Metrics) > metric.MaxMetrics || max(len(t.Stdout), len(t.Stderr),
			len(t.Unmeasured)) > task.MostUnread {
			return api.Wrong("tasks", fmt.Sprintf("task %d has more than an attempt can have",
				t.Index))
		}
	}
	addDetail(r, fmt.Sprintf("tasks=%d", len(body.Tasks)))
	return s.act(w, r, func(ctx context.Context, id string) error {
		_, err := s.o.Master.Reread(ctx, id, body.Metrics, body.Objective, body.Tasks)
		return err
	})
}
