package monitor

import (
	"context"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Of each parameter so many values before and after a task's own are shown, and of all at most so
// many tasks.
const (
	nearestValues = 3
	maxNeighbours = 40
)

// neighbourLine is a task that differs from the page's in one parameter.
type neighbourLine struct {
	Parameter, Value, Own string
	Index                 int64
	URL                   string
	State                 string // of a task that has no objective
	Result                string // its objective
}

// addNeighbours adds the tasks that differ from a task in one parameter, and how they ended.
func (m *Monitor) addNeighbours(r *request, v *taskView, s api.Sweep, id task.ID) error {
	all := s.Record.Neighbours(id.Index, nearestValues)
	if len(all) == 0 {
		return nil
	}
	all = all[:min(len(all), maxNeighbours)]
	rows, err := ask(r.Context(), m.answers, "neighbours "+id.String(), r.version,
		func(ctx context.Context) (map[int64]table.Row, error) {
			return m.askRows(ctx, s.ID, all)
		})
	if err != nil {
		return err
	}
	own := map[string]string{}
	for _, p := range v.Parameters {
		own[p.Name] = p.Text
	}
	v.Objective = human.Truncate(human.Visible(s.Record.Objective.Metric))
	for _, n := range all {
		row, ok := rows.value[n.Index]
		if !ok {
			continue
		}
		l := neighbourLine{Parameter: human.Visible(n.Parameter), Index: n.Index,
			Value: human.Truncate(human.Visible(n.Value)), URL: m.taskURL(s.ID, n.Index),
			State: row.State}
		l.Own = own[l.Parameter]
		if value, ok := row.Metrics.Get(s.Record.Objective.Metric); ok &&
			s.Record.Objective.Ranks(row.State) {
			l.Result = fourDigits(value)
		}
		v.Neighbours = append(v.Neighbours, l)
	}
	return nil
}

// askRows asks for the rows of tasks, by index.
func (m *Monitor) askRows(ctx context.Context, sweep string, of []core.Neighbour) (map[int64]table.Row,
	error) {
	terms := make([]string, len(of))
	for i, n := range of {
		terms[i] = "index = " + strconv.FormatInt(n.Index, 10)
	}
	page, err := m.o.Master.Tasks(ctx, sweep,
		api.Query{Where: strings.Join(terms, " or "), Limit: len(of)})
	rows := map[int64]table.Row{}
	for _, row := range page.Tasks {
		rows[row.Index] = row
	}
	return rows, err
}
