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

// Group is what one step changed about one sweep, or about workers, and what people did.
type Group struct {
	Sweep   Sweep // as stored: Seq and Record are used, Head is not
	Changes core.Changes
	Rewrite bool // Sweep.Record is not on disk as it is
	Workers []core.WorkerRecord
	Audit   []core.AuditEntry // only added to
}

// Commit writes groups in one transaction. When it returns nil everything is on disk; else nothing
// of it is, and the store goes on. It does not end with ctx.
func (s *Store) Commit(ctx context.Context, groups ...Group) error {
	ctx = context.WithoutCancel(ctx)
	if err := s.Check(); err != nil {
		return err
	}
	conn, err := s.db.Conn(ctx)
	if err != nil {
		return withPath(filepath.Dir(s.path), err)
	}
	err = conn.Raw(func(c any) error { return s.write.commit(ctx, c.(connection), groups) })
	if err == nil {
		for _, g := range groups {
			s.columns.update(g.Sweep.Seq, g.Changes.Tasks)
			s.names.update(g.Sweep.Seq, g.Changes.Tasks)
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

// commit writes groups in one transaction of c.
func (w *writer) commit(ctx context.Context, c connection, groups []Group) error {
	if err := w.prepare(ctx, c); err != nil {
		return err
	}
	tx, err := c.BeginTx(ctx, driver.TxOptions{})
	if err != nil {
		return err
	}
	for _, g := range groups {
		if err := w.put(ctx, g); err != nil {
			_ = tx.Rollback() // see transact
			return fmt.Errorf("keep %s: %w", g.Sweep.Head.ID, err)
		}
	}
	return tx.Commit()
}

func (w *writer) put(ctx context.Context, g Group) error {
	seq, changes := g.Sweep.Seq, g.Changes
	if g.Rewrite {
		record, err := json.Marshal(g.Sweep.Record)
		if err != nil {
			return fmt.Errorf("write the sweep's record: %w", err)
		}
		v := w.values[:0].add(seq, string(record), text(g.Sweep.Record.Outline()))
		if err := w.exec(ctx, w.record, v); err != nil {
			return err
		}
	}
	for _, k := range g.Workers {
		if err := w.exec(ctx, w.worker,
			w.values[:0].add(k.Name, k.Incarnation, k.Host, k.Program, int64(k.Started), k.Drained,
				int64(k.Slots), k.Image, k.Environment)); err != nil {
			return err
		}
	}
	for i := range g.Audit {
		if err := w.exec(ctx, w.audit, w.values[:0].audit(&g.Audit[i])); err != nil {
			return err
		}
	}
	for _, t := range changes.Tasks {
		if err := w.exec(ctx, w.row, w.values[:0].add(seq, t.Index).row(g.Sweep.Record,
			t)); err != nil {
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
