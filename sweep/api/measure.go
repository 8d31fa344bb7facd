package api

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Measure asks for the metrics of tasks that have ended, read again from what they left where they ran.
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
	Error string `json:"error,omitempty"` // why nothing was
}

// MostMeasured is how many tasks one Measure can have.
const MostMeasured = 100

func (s *Server) measure(w http.ResponseWriter, r *http.Request) error {
	if r.ContentLength >= smallBody { // it would keep others from sending large ones for as long as workers read
		return &Error{Status: http.StatusRequestEntityTooLarge, Text: "the question has 64 KiB or more", Remedy: "ask for fewer metrics at a time"}
	}
	var body Measure
	if err := read(r, &body); err != nil {
		return err
	}
	if _, err := metric.Compile(body.Metrics); err != nil {
		return wrong("metrics", err.Error())
	}
	switch {
	case body.Metrics == nil:
		return wrong("metrics", "by which metrics? None is []")
	case body.Tasks == nil:
		return wrong("tasks", "of which tasks?")
	case len(body.Tasks) > MostMeasured:
		return wrong("tasks", fmt.Sprintf("at most %d at a time", MostMeasured))
	case slices.ContainsFunc(body.Tasks, func(index int64) bool { return index < 0 }):
		return wrong("tasks", "indexes begin at 0")
	}
	view, err := s.archive.sweep(r.Context(), r.PathValue("sweep"))
	if err != nil {
		return err
	}
	by := task.Measure{Metrics: body.Metrics, Hide: len(view.Record.Recipe.Secrets) > 0}
	all := Measures{Tasks: make([]MeasuredTask, len(body.Tasks))}
	var readers sync.WaitGroup
	for at, index := range body.Tasks { // the master asks each worker for a few at a time
		readers.Go(func() { all.Tasks[at] = s.measureTask(r.Context(), view, index, by) })
	}
	readers.Wait()
	answer(w, http.StatusOK, all)
	return nil
}

// measureTask has the worker read that has what a task left.
func (s *Server) measureTask(ctx context.Context, of store.Sweep, index int64, by task.Measure,
) (m MeasuredTask) {
	m.Index = index
	t, err := s.archive.task(ctx, of, index)
	if err == nil {
		by.Exited = t.Try.Outcome != nil && t.Try.Outcome.Exited()
		m.Measured, err = s.o.Master.Remeasure(ctx, task.ID{Sweep: of.Head.ID, Index: index}, by)
	}
	if err != nil {
		m.Error = err.Error()
	}
	return m
}

// Measure is as the route: it keeps nothing.
func (c *Client) Measure(ctx context.Context, id string, m Measure) (all Measures, err error) {
	text, err := encode(m)
	if err != nil {
		return all, err
	}
	_, err = c.exchange(ctx, "", http.MethodPost, sweepPath(id)+"/measure", nil, text, &all)
	return all, err
}
