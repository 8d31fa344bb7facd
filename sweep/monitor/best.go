package monitor

import (
	"context"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// bestLine is the task of a sweep that ranks first so far.
type bestLine struct {
	Label         string // that it is one task, where the page's table ranks means
	Task, URL     string
	Metric, Value string
	Objective     string
}

// askBest asks for the task of a sweep that ranks first; nil: none has a rank.
func (m *Monitor) askBest(ctx context.Context, s api.Sweep, version int64) (
	reply[*table.Row], error,
) {
	return ask(ctx, m.answers, "best "+s.ID, version,
		func(ctx context.Context) (*table.Row, error) {
			page, err := m.o.Master.Tasks(ctx, s.ID, api.Query{Best: true, Issued: true, Limit: 1})
			if err != nil || len(page.Tasks) == 0 || !table.IsRanked(s.Record.Objective,
				&page.Tasks[0]) {
				return nil, err
			}
			return &page.Tasks[0], nil
		})
}

// best returns the task that ranks first in words; nil where there is none.
func (m *Monitor) best(s api.Sweep, r *table.Row) *bestLine {
	if r == nil {
		return nil
	}
	v, _ := r.Metrics.Get(s.Record.Objective.Metric)
	label := "Best"
	if len(s.Record.Repeats()) > 0 {
		label = "Best single task"
	}
	return &bestLine{Label: label, Task: human.Visible(r.ID), URL: m.taskURL(s.ID, r.Index),
		Metric: human.Truncate(human.Visible(s.Record.Objective.Metric)),
		Value:  human.Number(v), Objective: human.Truncate(human.Visible(s.Record.Objective.String()))}
}

// taskURL returns the page of a task.
func (m *Monitor) taskURL(sweep string, index int64) string {
	return m.sweepURL(sweep) + "/tasks/" + strconv.FormatInt(index, 10)
}
