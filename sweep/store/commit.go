package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"path/filepath"

	"mlframework/sweep/core"
)

// Commit writes the rows of a step in one transaction. If it returns nil, all of them are on disk;
// otherwise none is, and the store remains usable. It does not end with ctx.
func (s *Store) Commit(ctx context.Context, rows *core.Rows) error {
	ctx = context.WithoutCancel(ctx)
	if err := s.Check(); err != nil {
		return err
	}
	values, err := s.rankings(ctx, rows)
	if err != nil {
		return err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return withPath(filepath.Dir(s.path), err)
	}
	err = conn.Raw(func(c any) error { return s.write.commit(ctx, c.(connection), rows, values) })
	if err == nil {
		for i := range rows.Sweeps {
			s.columns.update(rows.Sweeps[i].Seq, rows.Sweeps[i].Changes.Tasks)
			s.names.update(rows.Sweeps[i].Seq, rows.Sweeps[i].Changes.Tasks)
		}
	}
	return withPath(filepath.Dir(s.path), errors.Join(err, conn.Close()))
}

// transact runs do in one transaction.
func (s *Store) transact(ctx context.Context, do func(*sql.Tx) error) error {
	if err := s.Check(); err != nil {
		return err
	}
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return withPath(filepath.Dir(s.path), err)
	}
	if err := do(tx); err != nil {
		// after some errors SQLite has rolled back already, which makes this one fail
		_ = tx.Rollback()
		return withPath(filepath.Dir(s.path), err)
	}
	return withPath(filepath.Dir(s.path), tx.Commit())
}

// commit writes the rows of a step in one transaction of c.
func (w *writer) commit(ctx context.Context, c connection, rows *core.Rows,
	values map[int64]ranking) error {
	if err := w.prepare(ctx, c); err != nil {
		return err
	}
	tx, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	if err := w.putRows(ctx, rows, values); err != nil {
		_ = tx.Rollback() // see transact
		return err
	}
	return tx.Commit()
}

func (w *writer) putRows(ctx context.Context, rows *core.Rows, values map[int64]ranking) error {
	for i := range rows.Sweeps {
		r := &rows.Sweeps[i]
		if err := w.putSweep(ctx, r, values[r.Seq]); err != nil {
			return fmt.Errorf("write %s: %w", r.Head.ID, err)
		}
	}
	for _, name := range rows.Gone {
		err := w.exec(ctx, w.removeWorker, w.values[:0].add(name))
		if err == nil {
			err = w.exec(ctx, w.forgetPruned, w.values[:0].add(name))
		}
		if err != nil {
			return fmt.Errorf("remove worker %s: %w", name, err)
		}
	}
	for _, r := range rows.Removed {
		if err := w.putRemoved(ctx, r); err != nil {
			return fmt.Errorf("remove a sweep: %w", err)
		}
	}
	for _, p := range rows.Pruned {
		if err := w.putPruned(ctx, p); err != nil {
			return fmt.Errorf("remove outputs of %s: %w", p.Sweep, err)
		}
	}
	for _, k := range rows.Workers {
		if err := w.exec(ctx, w.worker,
			w.values[:0].add(k.Name, k.Incarnation, k.Host, k.Program, int64(k.Started), k.Drained,
				k.DrainedFor, int64(k.Slots), k.Image, k.Environment)); err != nil {
			return fmt.Errorf("write worker %s: %w", k.Name, err)
		}
	}
	for i := range rows.Audit {
		if err := w.exec(ctx, w.audit, w.values[:0].audit(&rows.Audit[i])); err != nil {
			return fmt.Errorf("write the audit: %w", err)
		}
	}
	return nil
}

func (w *writer) putSweep(ctx context.Context, r *core.SweepRows, values ranking) error {
	seq, changes := r.Seq, &r.Changes
	if r.Rewrite {
		record, err := json.Marshal(r.Record)
		if err != nil {
			return fmt.Errorf("write the sweep's record: %w", err)
		}
		v := w.values[:0].add(seq, string(record), text(r.Record.Outline()))
		if err := w.exec(ctx, w.record, v); err != nil {
			return err
		}
	}
	if r.Code != "" {
		v := w.values[:0].add(seq, r.Record.Recipe.Revision, r.Code)
		if err := w.exec(ctx, w.code, v); err != nil {
			return err
		}
	}
	for index, value := range values {
		if err := w.exec(ctx, w.rank, w.values[:0].add(value, seq, index)); err != nil {
			return err
		}
	}
	for _, t := range changes.Tasks {
		if err := w.exec(ctx, w.row, w.values[:0].add(seq, t.Index).row(r.Record, t)); err != nil {
			return err
		}
	}
	for _, t := range changes.OldAttempts {
		if err := w.exec(ctx, w.attempt, w.values[:0].add(seq, t.Index,
			t.Attempt.Superseded).attempt(t.Attempt)); err != nil {
			return err
		}
	}
	for _, t := range changes.LateStarts {
		if err := w.exec(ctx, w.startUpdate, w.values[:0].add(seq, t.Index).startUpdate(
			t.Attempt)); err != nil {
			return err
		}
	}
	for _, s := range changes.Samples {
		if err := w.putSamples(ctx, seq, s); err != nil {
			return err
		}
	}
	if h := changes.Head; h.ID != "" {
		return w.exec(ctx, w.head, w.values[:0].add(seq).head(h))
	}
	return nil
}

func (w *writer) putSamples(ctx context.Context, seq int64, s core.Samples) error {
	points, err := json.Marshal(s.Points)
	if err != nil {
		return err
	}
	hash := fnv.New64a()
	_, _ = hash.Write(points) // never fails
	return w.exec(ctx, w.samples,
		w.values[:0].add(seq, s.Index, int64(s.Attempt), int64(hash.Sum64()), string(points)))
}
