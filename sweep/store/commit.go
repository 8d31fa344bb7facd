package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"time"

	"mlframework/sweep"
	"mlframework/sweep/task"
)

// statements are the writes of the hot path, prepared once.
type statements struct{ head, row, try, samples *sql.Stmt }

func (s *statements) prepare(ctx context.Context, db *sql.DB) error {
	var errs []error
	prepare := func(text string) *sql.Stmt {
		stmt, err := db.PrepareContext(ctx, text)
		errs = append(errs, err)
		return stmt
	}
	s.head = prepare(`UPDATE sweeps SET state=?2, reason=?3, ended=?4, issued=?5, cut=?6, counts=?7 WHERE seq=?1`)
	s.row = prepare(`REPLACE INTO tasks (sweep, idx, state, cancelling, charged, not_before, tries, attempt, revision, worker,
		host, slot, gpus, resumed, started, duration, class, exit_code, reason, objective, metrics, output)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`)
	// A result that repeats the one that counts is no superseded result.
	s.try = prepare(`INSERT OR IGNORE INTO attempts (sweep, idx, attempt, superseded, revision, worker,
		host, slot, gpus, resumed, started, duration, class, exit_code, reason, metrics, output)
		SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17
		WHERE ?4 = 0 OR NOT EXISTS (SELECT 1 FROM tasks WHERE sweep=?1 AND idx=?2 AND attempt=?3 AND state>=4)`)
	s.samples = prepare(`INSERT INTO samples (sweep, idx, attempt, part, points) SELECT ?1, ?2, ?3,
		coalesce(max(part), -1) + 1, ?4 FROM samples WHERE sweep=?1 AND idx=?2 AND attempt=?3`)
	return errors.Join(errs...)
}

func (s *statements) close() error {
	var errs []error
	for _, stmt := range []*sql.Stmt{s.head, s.row, s.try, s.samples} {
		if stmt != nil {
			errs = append(errs, stmt.Close())
		}
	}
	return errors.Join(errs...)
}

// Group is what one step changed about one sweep.
type Group struct {
	Sweep     Sweep // as stored: Seq and Record are used, Head is not
	Changes   sweep.Changes
	Revisions map[string]string // revision to code, when a new one came into use
}

// Commit writes groups in one transaction. When it returns nil everything is on disk; else nothing of it is.
func (s *Store) Commit(ctx context.Context, groups ...Group) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		for _, g := range groups {
			if err := s.put(ctx, tx, g); err != nil {
				return fmt.Errorf("keep %s: %w", g.Sweep.Head.ID, err)
			}
		}
		return nil
	})
}

// transact runs do in one transaction.
func (s *Store) transact(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return readable(err)
	}
	if err := do(tx); err != nil {
		return readable(errors.Join(err, tx.Rollback()))
	}
	return readable(tx.Commit())
}

func (s *Store) put(ctx context.Context, tx *sql.Tx, g Group) error {
	if err := putRevisions(ctx, tx, g.Revisions); err != nil {
		return err
	}
	row, try := tx.StmtContext(ctx, s.write.row), tx.StmtContext(ctx, s.write.try)
	for _, t := range g.Changes.Tasks {
		if _, err := row.ExecContext(ctx, rowValues(g.Sweep, t)...); err != nil {
			return err
		}
	}
	for _, t := range g.Changes.Tries {
		values := append([]any{g.Sweep.Seq, t.Index, t.Try.Number, t.Try.Superseded}, tryValues(t.Try)...)
		if _, err := try.ExecContext(ctx, values...); err != nil {
			return err
		}
	}
	for _, e := range g.Changes.Samples {
		points, err := json.Marshal(e.Points)
		if err != nil {
			return err
		}
		if _, err := tx.StmtContext(ctx, s.write.samples).ExecContext(ctx, g.Sweep.Seq, e.Index, e.Attempt, string(points)); err != nil {
			return err
		}
	}
	if h := g.Changes.Head; h.ID != "" {
		counts, _ := json.Marshal(h.Rows)
		_, err := tx.StmtContext(ctx, s.write.head).ExecContext(ctx, g.Sweep.Seq, string(h.State), h.Reason, micros(h.Ended), h.Issued, h.Cut, string(counts))
		return err
	}
	return nil
}

func putRevisions(ctx context.Context, tx *sql.Tx, revisions map[string]string) error {
	for revision, code := range revisions {
		if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO revisions VALUES (?, ?)`, revision, code); err != nil {
			return err
		}
	}
	return nil
}

func rowValues(s Sweep, t sweep.Task) []any {
	values := make([]any, 0, 22)
	values = append(values, s.Seq, t.Index, int64(t.State), t.Cancelling, nil, micros(t.NotBefore), t.Tries, t.Try.Number)
	if t.Charged != (sweep.Retry{}) {
		values[4] = text(t.Charged)
	}
	try := tryValues(t.Try)
	values = append(values, try[:11]...)
	values = append(values, objective(s.Record, t))
	return append(values, try[11:]...)
}

// objective is the value that a task is ranked by; nil unless it succeeded and has one.
func objective(r sweep.Record, t sweep.Task) any {
	if t.State != task.Succeeded || t.Try.Outcome == nil {
		return nil
	}
	if v, ok := t.Try.Outcome.Metrics.Get(r.Objective.Metric); ok && !math.IsNaN(v) {
		return v
	}
	return nil
}

// tryValues are the columns that an attempt has in both tables: revision to reason, then metrics and output.
func tryValues(t sweep.Try) []any {
	v := make([]any, 13)
	v[0], v[1] = t.Revision, t.Worker
	if !t.Started.IsZero() {
		v[2], v[3], v[5], v[6] = t.Start.Host, t.Start.Slot, t.Start.Resumed, micros(t.Started)
		if len(t.Start.GPUs) > 0 {
			v[4] = text(t.Start.GPUs)
		}
	}
	if o := t.Outcome; o != nil {
		v[7], v[8] = o.Duration.Microseconds(), string(o.Class)
		if o.ExitCode != nil {
			v[9] = *o.ExitCode
		}
		v[10] = o.Reason
		if len(o.Metrics) > 0 {
			v[11] = text(o.Metrics)
		}
		if out := (outputs{o.Stdout, o.Stderr}); out != (outputs{}) {
			v[12] = text(out)
		}
	}
	return v
}

// outputs is the form of the column output.
type outputs struct {
	Stdout task.Output `json:"stdout"`
	Stderr task.Output `json:"stderr"`
}

func text(v any) string {
	b, _ := json.Marshal(v) // of structs of text and numbers: it cannot fail
	return string(b)
}

// micros is a time's form in the store; the zero time is NULL.
func micros(t time.Time) any {
	if t.IsZero() {
		return nil
	}
	return t.UnixMicro()
}
