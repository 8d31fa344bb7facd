package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"iter"
	"time"

	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// Tasks iterates over tasks of a sweep in constant memory. After an error nothing more comes.
func (r *Reader) Tasks(ctx context.Context, s Sweep, q Query) iter.Seq2[sweep.Task, error] {
	text, args := q.sql(s.Seq)
	return func(yield func(sweep.Task, error) bool) {
		rows, err := r.db.QueryContext(ctx, text, args...)
		if err != nil {
			yield(sweep.Task{}, readable(err))
			return
		}
		defer rows.Close()
		for rows.Next() {
			t, err := scanTask(rows)
			if !yield(t, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(sweep.Task{}, readable(err))
		}
	}
}

// Unfinished reads what a ledger needs to go on with a sweep: its rows that have not ended, and the indexes of all
// rows beyond the cursor, the first index that was never handed out.
func (r *Reader) Unfinished(ctx context.Context, s Sweep, cursor int64) (open []sweep.Task, ahead []int64, err error) {
	for t, err := range r.Tasks(ctx, s, Query{States: unfinished}) {
		if err != nil {
			return nil, nil, err
		}
		open = append(open, t)
	}
	for t, err := range r.Tasks(ctx, s, Query{From: cursor}) {
		if err != nil {
			return nil, nil, err
		}
		ahead = append(ahead, t.Index)
	}
	return open, ahead, nil
}

var unfinished = []task.State{task.Pending, task.Queued, task.Claimed, task.Running}

// Task reads the row of one task; false when it has none yet.
func (r *Reader) Task(ctx context.Context, s Sweep, index int64) (sweep.Task, bool, error) {
	for t, err := range r.Tasks(ctx, s, Query{From: index, Limit: 1}) {
		return t, err == nil && t.Index == index, err
	}
	return sweep.Task{}, false, nil
}

// Tries reads the attempts that a task left behind, the oldest first; its newest is in its row.
func (r *Reader) Tries(ctx context.Context, s Sweep, index int64) (tries []sweep.Try, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT superseded, `+tryColumns+` FROM attempts WHERE sweep = ? AND idx = ?
		ORDER BY attempt, superseded`, s.Seq, index)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var t sweep.Try
		var row tryRow
		if err := rows.Scan(append([]any{&t.Superseded}, row.fields(&t)...)...); err != nil {
			return nil, err
		}
		if err := row.fill(&t); err != nil {
			return nil, err
		}
		tries = append(tries, t)
	}
	return tries, readable(rows.Err())
}

// Series reads the metrics that one attempt printed, in the order in which they came.
func (r *Reader) Series(ctx context.Context, s Sweep, index int64, attempt int) (all []result.Sample, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT points FROM samples WHERE sweep = ? AND idx = ? AND attempt = ? ORDER BY seq`, s.Seq, index, attempt)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var points []byte
		var part []result.Sample
		if err := errors.Join(rows.Scan(&points), json.Unmarshal(points, &part)); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, readable(rows.Err())
}

// Codes returns the code of each revision that a sweep used. Two definitions may have two codes at one revision; only stores that
// no writer has opened since have one for both.
func (r *Reader) Codes(ctx context.Context, s Sweep) (map[string]string, error) {
	query, args := `SELECT revision, code FROM codes WHERE sweep = ?`, []any{s.Seq}
	var have bool
	if err := r.db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_master WHERE name = 'codes'`).Scan(&have); err != nil {
		return nil, readable(err)
	}
	if !have {
		query, args = `SELECT revision, code FROM revisions`, nil
	}
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	codes := map[string]string{}
	for rows.Next() {
		var revision, code string
		if err := rows.Scan(&revision, &code); err != nil {
			return nil, err
		}
		codes[revision] = code
	}
	return codes, readable(rows.Err())
}

// Revisions lists the revisions that tasks of a sweep ran or will run, and how many tasks each.
func (r *Reader) Revisions(ctx context.Context, s Sweep) (map[string]int64, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT revision, count(*) FROM tasks WHERE sweep = ? AND tries > 0 GROUP BY revision`, s.Seq)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	found := map[string]int64{}
	for rows.Next() {
		var revision string
		var n int64
		if err := rows.Scan(&revision, &n); err != nil {
			return nil, err
		}
		found[revision] = n
	}
	return found, readable(rows.Err())
}

func scanTask(rows *sql.Rows) (t sweep.Task, err error) {
	var charged []byte
	var notBefore sql.NullInt64
	var row tryRow
	fields := append([]any{&t.Index, &t.State, &t.Cancelling, &charged, &notBefore, &t.Tries}, row.fields(&t.Try)...)
	if err := rows.Scan(fields...); err != nil {
		return t, err
	}
	if charged != nil {
		err = json.Unmarshal(charged, &t.Charged)
	}
	t.NotBefore = moment(notBefore)
	return t, errors.Join(err, row.fill(&t.Try))
}

// tryRow is the columns of an attempt as they lie in the store.
type tryRow struct {
	host, class, reason               sql.NullString
	slot, started, duration, exitCode sql.NullInt64
	resumed                           sql.NullBool
	gpus, metrics, output             []byte
}

func (r *tryRow) fields(t *sweep.Try) []any {
	return []any{&t.Number, &t.Revision, &t.Worker, &r.host, &r.slot, &r.gpus, &r.resumed, &r.started, &r.duration,
		&r.class, &r.exitCode, &r.reason, &r.metrics, &r.output}
}

func (r *tryRow) fill(t *sweep.Try) error {
	var errs []error
	decode := func(data []byte, into any) {
		if data != nil {
			errs = append(errs, json.Unmarshal(data, into))
		}
	}
	t.Started = moment(r.started)
	t.Start = task.Start{Host: r.host.String, Slot: int(r.slot.Int64), Resumed: r.resumed.Bool}
	decode(r.gpus, &t.Start.GPUs)
	if !r.class.Valid {
		return errors.Join(errs...)
	}
	o := &task.Outcome{Class: task.Class(r.class.String), Reason: r.reason.String, Duration: time.Duration(r.duration.Int64) * time.Microsecond}
	if r.exitCode.Valid {
		code := int(r.exitCode.Int64)
		o.ExitCode = &code
	}
	var out outputs
	decode(r.metrics, &o.Metrics)
	decode(r.output, &out)
	o.Stdout, o.Stderr = out.Stdout, out.Stderr
	t.Outcome = o
	return errors.Join(errs...)
}

func moment(v sql.NullInt64) time.Time {
	if !v.Valid {
		return time.Time{}
	}
	return time.UnixMicro(v.Int64).UTC()
}
