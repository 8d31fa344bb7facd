package monitor

import (
	"context"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// What the page of workers asks for of the tasks that run: so many tasks, of so many sweeps the
// parameters that vary, and so many values of each.
const (
	maxRunning       = 500
	maxRunningSweeps = 8
	maxRunningValues = 4
)

// runningTask is what a running task has and measures, in words.
type runningTask struct{ parameters, metrics string }

// askRunning asks for the tasks that run now, by id, of the newest sweeps; workers tell only which
// these are.
func (m *Monitor) askRunning(r *request, workers []core.Worker) (map[string]runningTask, error) {
	if capacityOf(workers).Busy == 0 {
		return nil, nil
	}
	page, err := ask(r.Context(), m.answers, "running tasks", r.version,
		func(ctx context.Context) (api.AllTasks, error) {
			return m.o.Master.AllTasks(ctx, api.Query{States: []task.State{task.Running},
				Limit: maxRunning})
		})
	if err != nil {
		return nil, err
	}
	records := map[string]*core.Record{}
	all := map[string]runningTask{}
	for i := range page.value.Tasks {
		row := &page.value.Tasks[i]
		record, asked := records[row.Sweep]
		if !asked && len(records) < maxRunningSweeps {
			s, err := m.askSweep(r.Context(), row.Sweep, r.version)
			if ignoreRefused(err) != nil {
				return nil, err
			}
			if err == nil {
				record = &s.value.Record
			}
			records[row.Sweep] = record
		}
		if record != nil {
			all[row.ID] = runningText(record, row)
		}
	}
	return all, nil
}

// runningText returns the parameters that vary in a sweep and the newest metrics of a task, the
// objective's first.
func runningText(record *core.Record, row *table.Row) (t runningTask) {
	var parameters, metrics []string
	for _, p := range row.Parameters {
		if record.Varies(p.Name) && len(parameters) < maxRunningValues {
			parameters = append(parameters, human.Visible(p.Name+" "+p.Value))
		}
	}
	objective := record.Objective.Metric
	if v, ok := row.Metrics.Get(objective); ok && objective != "" {
		metrics = append(metrics, human.Visible(objective)+" "+fourDigits(v))
	}
	for _, v := range row.Metrics {
		if v.Name != objective && len(metrics) < maxRunningValues {
			metrics = append(metrics, human.Visible(v.Name)+" "+fourDigits(v.Value))
		}
	}
	t.parameters = human.Truncate(strings.Join(parameters, ", "))
	t.metrics = human.Truncate(strings.Join(metrics, ", "))
	return t
}
