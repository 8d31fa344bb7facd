package server_test

import (
	"context"
	"errors"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// measures reports the metrics of a task that runs.
func (h *hand) measures(g given, value float64) {
	e := h.event(task.SamplesEvent, g)
	e.Newest = metric.Stored{{Name: "accuracy", Value: value}}
	h.emit(e)
}

// A follower is told the metrics of a task that was running already and the best task at once, and
// then every newer value.
func TestAFollowerIsToldNewMetrics(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.hire("w1", 2, hold)
	id := s.submit(2)
	s.becomes(id, map[string]int64{"running": 2})
	given := h.has(2)
	if given[0].Index != 0 {
		given[0], given[1] = given[1], given[0]
	}
	accuracy := func(index int64) (value float64) {
		view, err := s.client.Task(t.Context(), id, index)
		s.must(err)
		value, _ = view.Row.Metrics.Get("accuracy")
		return value
	}
	good := well(given[0])
	good.Metrics[0].Value = .9
	h.ends(given[0], good)
	h.measures(given[1], .5)
	s.until("the first values are stored",
		func() bool { return accuracy(0) == .9 && accuracy(1) == .5 })

	var told []float64
	ctx, cancel := context.WithTimeoutCause(t.Context(), limit,
		errors.New("the newer values did not come"))
	defer cancel()
	s.must(s.client.Follow(ctx, id, api.FollowOptions{}, func(u api.Update) error {
		if u.Best == nil || u.Best.Value != "0.9" || u.Best.Task != id+"/0" {
			t.Errorf("the best is %+v", u.Best)
		}
		for _, r := range u.Rows {
			v, ok := r.Metrics.Get("accuracy")
			if r.Index != 1 || !ok || len(told) > 0 && told[len(told)-1] == v {
				continue
			}
			switch told = append(told, v); v {
			case .5:
				h.measures(given[1], .6)
			case .6:
				h.measures(given[1], .7)
			case .7:
				h.ends(given[1], badly(given[1]))
			}
		}
		return nil
	}))
	if len(told) < 3 || told[0] != .5 || told[1] != .6 || told[2] != .7 {
		t.Errorf("it was told %v", told)
	}
}
