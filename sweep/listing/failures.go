package listing

import (
	"context"
	"strconv"
	"strings"

	"mlframework/sweep/analysis"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/expr"
	"mlframework/sweep/failure"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// Failures groups the tasks of a sweep that failed by how their newest attempts ended.
func (a *Archive) Failures(ctx context.Context, id string) (api.Failures, error) {
	s, err := a.Stored(ctx, id)
	if err != nil {
		return api.Failures{}, err
	}
	q := store.TaskQuery{States: api.FailedStates, Fields: failureFields, Frames: true}
	all, err := failure.Groups(func(yield func(failure.Failure)) error {
		return a.Store.Scan(ctx, s, q, func(t *core.Task) bool {
			yield(failureOf(t))
			return true
		})
	})
	if err != nil {
		return api.Failures{}, err
	}
	f := api.NewFailures(s.Head.ID, all)
	return f, a.addWhere(ctx, s, all, f.Groups)
}

const (
	// groupsWithWhere is of how many groups, the most frequent, it is said where they are.
	groupsWithWhere = 10
	// mostEnded is how many tasks are looked at for that: some hundred milliseconds.
	mostEnded = 1_000_000
)

// addWhere adds to groups of failures what their tasks have in common, by the tasks of the sweep
// that have ended and were not cancelled.
func (a *Archive) addWhere(ctx context.Context, s store.Sweep, all failure.Grouping,
	groups []api.FailureGroup) error {
	if len(groups) == 0 || groups[0].Count < analysis.LeastAlike || s.Rows() > mostEnded {
		return nil
	}
	names := s.Record.Schema().Parameters
	c, texts := analysis.NewCommon(len(names)+1), make([]string, len(names)+1)
	points := s.Record.Points()
	ended := append([]task.State{task.Succeeded}, api.FailedStates...)
	// what the store keeps in memory: not the class, which follows from the state
	q := store.TaskQuery{States: ended, Fields: table.FieldHost | table.FieldReason}
	err := a.Store.Scan(ctx, s, q, func(t *core.Task) bool {
		clear(texts)
		for _, p := range points.Parameters(t.Index) {
			for i, name := range names {
				if p.Name == name {
					texts[i] = p.Value
				}
			}
		}
		texts[len(names)] = t.Attempt.Start.Host
		group := -1
		if t.State.Failure() && t.Attempt.Outcome != nil {
			group = all.Index(string(failedClasses[t.State]), t.Attempt.Outcome.Reason)
		}
		c.Add(texts, group)
		return true
	})
	if err != nil {
		return err
	}
	columns := []string{}
	for _, name := range names {
		columns = append(columns, expr.Name(table.ParameterName(name)))
	}
	columns = append(columns, "host")
	for i := range groups[:min(len(groups), groupsWithWhere)] {
		if where := whereText(columns, c.Where(i)); where != "" {
			groups[i].Where = &where
		}
	}
	return nil
}

// whereText returns terms as a filter.
func whereText(columns []string, terms []analysis.Term) string {
	var all []string
	for _, t := range terms {
		value := t.Value
		if _, err := strconv.ParseFloat(value, 64); err != nil || strings.Trim(value,
			"0123456789.eE-") != "" { // such as nan
			value = expr.Quote(value)
		}
		all = append(all, columns[t.Column]+" = "+value)
	}
	return strings.Join(all, " and ")
}
