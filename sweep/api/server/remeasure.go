package server

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"mlframework/sweep/api"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

func (s *Server) measure(_ http.ResponseWriter, r *http.Request) (any, error) {
	// it would keep others from sending large ones for as long as workers read
	if r.ContentLength >= smallBody {
		return nil, &api.Error{Status: http.StatusRequestEntityTooLarge,
			Text: "the question has 64 KiB or more", Remedy: "ask for fewer metrics at a time"}
	}
	var body api.Measure
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if _, err := metric.Compile(body.Metrics); err != nil {
		return nil, api.Wrong("metrics", err.Error())
	}
	switch {
	case body.Metrics == nil:
		return nil, api.Wrong("metrics", "missing; send [] for none")
	case body.Tasks == nil:
		return nil, api.Wrong("tasks", "missing: list the indexes of the tasks")
	case len(body.Tasks) > api.MostMeasured:
		return nil, api.Wrong("tasks", fmt.Sprintf("at most %d at a time", api.MostMeasured))
	case slices.ContainsFunc(body.Tasks, func(index int64) bool { return index < 0 }):
		return nil, api.Wrong("tasks", "indexes begin at 0")
	}
	view, err := s.archive.Stored(r.Context(), r.PathValue("sweep"))
	if err != nil {
		return nil, err
	}
	by := task.Measure{Metrics: body.Metrics}
	all := api.Measures{Tasks: make([]api.MeasuredTask, len(body.Tasks))}
	var readers sync.WaitGroup
	for at, index := range body.Tasks { // the master asks each worker for a few at a time
		readers.Go(func() {
			m, err := s.archive.Measure(r.Context(), view, index, by, s.o.Master.Remeasure)
			if err != nil {
				m.Error = err.Error()
			}
			all.Tasks[at] = m
		})
	}
	readers.Wait()
	return all, nil
}

func (s *Server) reread(w http.ResponseWriter, r *http.Request) (any, error) {
	var body api.Reread
	if err := read(r, &body); err != nil {
		return nil, err
	}
	if _, err := metric.Compile(body.Metrics); err != nil {
		return nil, api.Wrong("metrics", err.Error())
	}
	if body.Metrics == nil {
		return nil, api.Wrong("metrics", "missing; send [] for none")
	}
	if len(body.Tasks) > api.MostReread {
		return nil, api.Wrong("tasks", fmt.Sprintf("at most %d at a time", api.MostReread))
	}
	for _, t := range body.Tasks {
		if t.Index < 0 || len(t.Metrics) > metric.MaxMetrics || max(len(t.Stdout), len(t.Stderr),
			len(t.Unmeasured)) > task.MaxUnread {
			return nil, api.Wrong("tasks", fmt.Sprintf("task %d has more than an attempt can have",
				t.Index))
		}
	}
	addDetail(r, fmt.Sprintf("tasks=%d", len(body.Tasks)))
	return s.changeSweep(w, r, "", func(ctx context.Context, id string) error {
		return s.o.Master.Reread(ctx, id, body.Metrics, body.Objective, body.Tasks)
	})
}
