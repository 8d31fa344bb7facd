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
	Exact         string
	Objective     string
	Parameters    []value // those that vary
	Command       command
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
	l := bestLine{Label: "Best", Task: human.Visible(r.ID), URL: m.taskURL(s.ID, r.Index),
		Metric: human.Truncate(human.Visible(s.Record.Objective.Metric)), Value: fourDigits(v),
		Exact:     strconv.FormatFloat(v, 'g', -1, 64),
		Objective: human.Truncate(human.Visible(s.Record.Objective.String())),
		Command:   commandOf(s, r, "best-command")}
	if len(s.Record.Repeats()) > 0 {
		l.Label = "Best single task"
	}
	var varying table.Parameters
	for _, p := range r.Parameters {
		if s.Record.Varies(p.Name) {
			varying = append(varying, p)
		}
	}
	l.Parameters = parametersOf(varying)
	return &l
}

// taskURL returns the page of a task.
func (m *Monitor) taskURL(sweep string, index int64) string {
	return m.sweepURL(sweep) + "/tasks/" + strconv.FormatInt(index, 10)
}
