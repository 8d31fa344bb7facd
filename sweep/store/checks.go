package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// checks collects the checks of a sweep.
type checks core.ResultChecks

// Bounds of what Checks lists.
const (
	mostUnread     = 100 // metrics
	mostUnmeasured = 10  // texts
)

// Checks reads the checks of a sweep in one pass over its tasks. Only rows with something to tell
// are decoded.
func (r *Reader) Checks(ctx context.Context, s Sweep) (found core.ResultChecks,
	err error) {
	found = core.ResultChecks{Unkept: []core.Unkept{}, Unread: []core.Unread{},
		Unmeasured: []core.Unmeasured{}}
	c := (*checks)(&found)
	const hasProblem = `instr(output, '"error":') OR instr(output, '"unread"') OR instr(output, '"unmeasured"')`
	query :=
		`SELECT idx, state, coalesce(host, ''), output, NULL FROM tasks WHERE sweep = ? AND (` +
			hasProblem + `) ORDER BY idx`
	if takesLast(s.Record) { // a value is better than the last only where metrics have spans
		query = `SELECT idx, state, coalesce(host, ''), CASE WHEN ` + hasProblem + ` THEN output END, metrics FROM tasks
			WHERE sweep = ? AND (` + hasProblem + ` OR instr(metrics, '[')) ORDER BY idx`
	}
	rows, err := r.db.QueryContext(ctx, query, s.Seq)
	if err != nil {
		return found, readable(err)
	}
	defer rows.Close()
	unkept := map[string]core.Unkept{}
	var metrics metric.Final
	for rows.Next() {
		var index, state int64
		var host string
		var output, stored sql.RawBytes
		if err := rows.Scan(&index, &state, &host, &output, &stored); err != nil {
			return found, readable(err)
		}
		if len(output) > 0 {
			var out outputs
			if err := json.Unmarshal(output, &out); err != nil {
				return found, fmt.Errorf("the output of task %s/%d: %w", s.Head.ID, index, err)
			}
			c.output(index, host, out, unkept)
		}
		if len(stored) > 0 && s.Record.Objective.Ranks(task.State(state).String()) {
			if metrics, err = metric.AppendFinal(metrics[:0], string(stored)); err != nil {
				return found, fmt.Errorf("the metrics of task %s/%d: %w", s.Head.ID, index, err)
			}
			c.surpassed(index, metrics, s.Record.Objective)
		}
	}
	for _, host := range slices.Sorted(maps.Keys(unkept)) {
		c.Unkept = append(c.Unkept, unkept[host])
	}
	return found, readable(rows.Err())
}

// takesLast reports whether tasks are ranked by the last value of their objective because nobody
// chose another.
func takesLast(r core.Record) bool {
	chosen := func(m metric.Rule) bool { return m.Name == r.Objective.Metric && m.Take != "" }
	return !r.Objective.IsZero() && !slices.ContainsFunc(r.Recipe.Metrics, chosen)
}

// output adds the checks of the output of one task.
func (c *checks) output(index int64, host string, out outputs, unkept map[string]core.Unkept) {
	if failed := cmp.Or(out.Stdout.Error, out.Stderr.Error); failed != "" {
		u := unkept[host]
		if u.Host, u.Tasks = host, u.Tasks+1; u.Error == "" || failed < u.Error {
			u.Error = failed
		}
		unkept[host] = u
	}
	seen := map[string]bool{} // both streams of a task count once
	for _, u := range append(out.Stdout.Unread, out.Stderr.Unread...) {
		i := slices.IndexFunc(c.Unread, func(have core.Unread) bool {
			return have.Metric == u.Name
		})
		switch {
		case seen[u.Name] || i < 0 && len(c.Unread) == mostUnread:
			continue
		case i < 0:
			i, c.Unread = len(c.Unread), append(c.Unread, core.Unread{Metric: u.Name, Text: u.Text,
				First: index})
		}
		seen[u.Name] = true
		c.Unread[i].Tasks++
	}
	for _, text := range out.Unmeasured {
		i := slices.IndexFunc(c.Unmeasured, func(have core.Unmeasured) bool {
			return have.Text == text
		})
		switch {
		case i >= 0:
			c.Unmeasured[i].Tasks++
		case len(c.Unmeasured) < mostUnmeasured:
			c.Unmeasured = append(c.Unmeasured, core.Unmeasured{Text: text, Tasks: 1, First: index})
		}
	}
}

// surpassed takes the metrics of one task that succeeded.
func (c *checks) surpassed(index int64, metrics metric.Final, o metric.Objective) {
	for _, m := range metrics {
		best, ok := o.Surpasses(m)
		if !ok {
			continue
		}
		if c.Surpassed == nil {
			c.Surpassed = &core.Surpassed{
				First: index, Best: human.Number(best.Value), Step: best.Step, Place: best.String(),
				Last: human.Number(m.Value),
			}
		}
		c.Surpassed.Tasks++
	}
}
