package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// ranking is the value of each succeeded task of a sweep for the sweep's objective, by index; nil where it has none.
func (r *Reader) ranking(ctx context.Context, s Sweep) (map[int64]any, error) {
	values := map[int64]any{}
	for t, err := range r.Tasks(ctx, s, Query{States: []task.State{task.Succeeded}}) {
		if err != nil {
			return nil, err
		}
		values[t.Index] = objective(s.Record.Objective, t)
	}
	return values, nil
}

// rank gives tasks of a sweep their values for its objective.
func rank(ctx context.Context, tx *sql.Tx, s Sweep, values map[int64]any) error {
	if len(values) == 0 {
		return nil
	}
	put, err := tx.PrepareContext(ctx, `UPDATE tasks SET objective = ? WHERE sweep = ? AND idx = ?`)
	if err != nil {
		return err
	}
	defer put.Close()
	for index, value := range values {
		if _, err := put.ExecContext(ctx, value, s.Seq, index); err != nil {
			return err
		}
	}
	return nil
}

// Unranked counts the succeeded tasks of a sweep that have no number for its objective, and reads the first of them, at
// most limit.
func (r *Reader) Unranked(ctx context.Context, s Sweep, limit int) (count int64, first []sweep.Task, err error) {
	var ranked int64
	err = r.db.QueryRowContext(ctx, `SELECT count(*) FROM tasks WHERE sweep = ? AND objective IS NOT NULL`, s.Seq).Scan(&ranked)
	if err != nil {
		return 0, nil, readable(err)
	}
	if count = s.Head.Rows[task.Succeeded] - ranked; count <= 0 || s.Record.Objective.IsZero() {
		return 0, nil, nil
	}
	const query = selectTasks + ` WHERE sweep = ? AND state = ? AND objective IS NULL ORDER BY idx LIMIT ?`
	for t, err := range r.tasks(ctx, query, []any{s.Seq, int64(task.Succeeded), int64(limit)}) {
		if err != nil {
			return 0, nil, err
		}
		first = append(first, t)
	}
	return count, first, nil
}

// Surpassed is tasks of a sweep that had a better value for its objective than the last, which counts as nobody chose another.
type Surpassed struct {
	Tasks int64  `json:"tasks"`
	First int64  `json:"first"` // the index of the first of them
	Best  string `json:"best"`  // of that one, a number as people read it
	Step  int64  `json:"step"`  // of Best
	Last  string `json:"last"`
}

// Surpassed looks for such tasks; nil when there is none. It looks at every task.
func (r *Reader) Surpassed(ctx context.Context, s Sweep) (found *Surpassed, err error) {
	o := s.Record.Objective
	if o.IsZero() || slices.ContainsFunc(s.Record.Recipe.Metrics, func(m result.Rule) bool { return m.Name == o.Metric && m.Take != "" }) {
		return nil, nil
	}
	err = r.read(ctx, s, Query{Fields: result.FieldMetrics}, func(t *sweep.Task) bool {
		if t.Try.Outcome == nil || t.State != task.Succeeded {
			return true
		}
		for _, m := range t.Try.Outcome.Metrics {
			best, ok := o.Surpasses(m)
			if !ok {
				continue
			}
			if found == nil {
				found = &Surpassed{First: t.Index, Best: result.HumanNumber(best.Value), Step: best.Step, Last: result.HumanNumber(m.Value)}
			}
			found.Tasks++
		}
		return true
	})
	return found, err
}

// Printed reports whether any task of a sweep has a final value of a metric.
func (r *Reader) Printed(ctx context.Context, s Sweep, metric string) (bool, error) {
	key := strings.TrimSuffix(strings.TrimPrefix(text(result.Final{{Name: metric}}), "{"), "0}")
	var one int
	err := r.db.QueryRowContext(ctx, `SELECT 1 FROM tasks WHERE sweep = ? AND instr(metrics, ?) LIMIT 1`, s.Seq, key).Scan(&one)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	return err == nil, readable(err)
}

// Unread is what matched a metric last in tasks of a sweep and was no number.
type Unread struct {
	Metric string `json:"metric"`
	Text   string `json:"text"`  // of the first
	Tasks  int64  `json:"tasks"` // in how many
	First  int64  `json:"first"` // the index of the first of them
}

// mostUnread bounds the metrics that Unread lists.
const mostUnread = 100

// Unmeasured is why metrics of files are missing in tasks of a sweep.
type Unmeasured struct {
	Text  string `json:"text"`
	Tasks int64  `json:"tasks"` // of which it is said
	First int64  `json:"first"` // the index of the first of them
}

// mostUnmeasured bounds the texts that Unmeasured lists.
const mostUnmeasured = 10

// Unmeasured lists why metrics of files are missing, in the order of the tasks. It looks at every task.
func (r *Reader) Unmeasured(ctx context.Context, s Sweep) (all []Unmeasured, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT idx, output FROM tasks WHERE sweep = ? AND instr(output, '"unmeasured"') ORDER BY idx`, s.Seq)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var index int64
		var text []byte
		var out outputs
		if err := errors.Join(rows.Scan(&index, &text), json.Unmarshal(text, &out)); err != nil {
			return nil, err
		}
		for _, u := range out.Unmeasured {
			i := slices.IndexFunc(all, func(have Unmeasured) bool { return have.Text == u })
			switch {
			case i >= 0:
				all[i].Tasks++
			case len(all) < mostUnmeasured:
				all = append(all, Unmeasured{u, 1, index})
			}
		}
	}
	return all, readable(rows.Err())
}

// Unread lists what matched metrics and was no number, by metric, in the order of the tasks. It looks at every task.
func (r *Reader) Unread(ctx context.Context, s Sweep) (all []Unread, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT idx, output FROM tasks WHERE sweep = ? AND instr(output, '"unread"') ORDER BY idx`, s.Seq)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var index int64
		var text []byte
		var out outputs
		if err := errors.Join(rows.Scan(&index, &text), json.Unmarshal(text, &out)); err != nil {
			return nil, err
		}
		seen := map[string]bool{} // both streams of a task count once
		for _, u := range append(out.Stdout.Unread, out.Stderr.Unread...) {
			i := slices.IndexFunc(all, func(have Unread) bool { return have.Metric == u.Name })
			switch {
			case seen[u.Name] || i < 0 && len(all) == mostUnread:
				continue
			case i < 0:
				i, all = len(all), append(all, Unread{Metric: u.Name, Text: u.Text, First: index})
			}
			seen[u.Name] = true
			all[i].Tasks++
		}
	}
	return all, readable(rows.Err())
}
