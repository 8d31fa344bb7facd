package store

import (
	"context"
	"database/sql"

	"mlframework/sweep/core"
)

// A sweep is removed in steps, each of which a process that is killed leaves for the next. Commit
// takes it out of the list, and keeps which workers have outputs of it. When a worker has removed
// them, that is noted (RemovalDone). Meanwhile its rows go, some at a time (ClearRemoved).
const (
	putRemoved = `INSERT INTO removed (seq, id, definition, number)
		SELECT seq, id, definition, number FROM sweeps WHERE id = ?`
	deleteSweep = `DELETE FROM sweeps WHERE id = ?`
	putRemoval  = `INSERT OR IGNORE INTO removals (sweep, worker, tasks) VALUES (?,?,?)`
	// A worker that is forgotten does not keep tasks from being retried; see Master.Retry.
	deletePruned = `DELETE FROM removals WHERE worker = ? AND tasks <> ''`
)

// putRemoved takes a sweep out of the list of sweeps.
func (w *writer) putRemoved(ctx context.Context, r core.RemovedSweep) error {
	if err := w.exec(ctx, w.keepRemoved, w.values[:0].add(r.Sweep)); err != nil {
		return err
	}
	for _, worker := range r.Workers {
		if err := w.exec(ctx, w.removal, w.values[:0].add(r.Sweep, worker, "")); err != nil {
			return err
		}
	}
	return w.exec(ctx, w.removeSweep, w.values[:0].add(r.Sweep))
}

// putPruned has workers remove outputs of tasks.
func (w *writer) putPruned(ctx context.Context, p core.PrunedOutputs) error {
	var tasks [][2]int64
	for _, r := range p.Tasks {
		tasks = append(tasks, [2]int64{r.From, r.To})
	}
	for _, worker := range p.Workers {
		v := w.values[:0].add(p.Sweep, worker, text(tasks))
		if err := w.exec(ctx, w.removal, v); err != nil {
			return err
		}
	}
	return nil
}

// Removal is outputs that a worker is still to remove.
type Removal struct {
	Sweep, Worker string
	Tasks         string // task.Remove.Tasks as JSON; "": all of the sweep
}

// Removals lists what workers are still to remove.
func (r *Reader) Removals(ctx context.Context) (all []Removal, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT sweep, worker, tasks FROM removals
		ORDER BY sweep, worker, tasks`)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var one Removal
		if err := rows.Scan(&one.Sweep, &one.Worker, &one.Tasks); err != nil {
			return nil, readable(err)
		}
		all = append(all, one)
	}
	return all, readable(rows.Err())
}

// RemovalDone notes that a worker has removed outputs.
func (s *Store) RemovalDone(ctx context.Context, r Removal) error {
	return s.transact(ctx, func(tx *sql.Tx) error {
		_, err := tx.ExecContext(ctx, `DELETE FROM removals WHERE sweep = ? AND worker = ?
			AND tasks = ?`, r.Sweep, r.Worker, r.Tasks)
		return err
	})
}

// Uncleared lists the removed sweeps that still have rows.
func (r *Reader) Uncleared(ctx context.Context) (seqs []int64, err error) {
	rows, err := r.db.QueryContext(ctx, `SELECT seq FROM removed WHERE cleared = 0 ORDER BY seq`)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			return nil, readable(err)
		}
		seqs = append(seqs, seq)
	}
	return seqs, readable(rows.Err())
}

// clearing deletes rows of a sweep, at most ?2 of each table.
var clearing = []string{
	`DELETE FROM tasks WHERE sweep = ?1 AND idx IN (
		SELECT idx FROM tasks WHERE sweep = ?1 LIMIT ?2)`,
	`DELETE FROM attempts WHERE sweep = ?1 AND idx IN (
		SELECT idx FROM attempts WHERE sweep = ?1 LIMIT ?2)`,
	`DELETE FROM samples WHERE seq IN (SELECT seq FROM samples WHERE sweep = ?1 LIMIT ?2)`,
	`DELETE FROM codes WHERE sweep = ?1 AND revision IN (
		SELECT revision FROM codes WHERE sweep = ?1 LIMIT ?2)`,
}

// ClearRemoved deletes rows of a removed sweep, some of each table, and reports whether there may
// be more: whoever waits for the store does not wait for all of them.
func (s *Store) ClearRemoved(ctx context.Context, seq int64, most int) (more bool, err error) {
	err = s.transact(ctx, func(tx *sql.Tx) error {
		for _, one := range clearing {
			done, err := tx.ExecContext(ctx, one, seq, most)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			if err != nil {
				return err
			}
			more = more || n >= int64(most)
		}
		if more {
			return nil
		}
		_, err := tx.ExecContext(ctx, `UPDATE removed SET cleared = 1 WHERE seq = ?`, seq)
		return err
	})
	return more, err
}

// isRemoved reports whether a sweep was removed.
func (r *Reader) isRemoved(ctx context.Context, id string) (removed bool, err error) {
	err = r.db.QueryRowContext(ctx, `SELECT EXISTS (SELECT 1 FROM removed WHERE id = ?)`,
		id).Scan(&removed)
	return removed, readable(err)
}

// WorkersOf lists the workers that tasks of a sweep were given to.
func (r *Reader) WorkersOf(ctx context.Context, id string) (names []string, err error) {
	rows, err := r.db.QueryContext(ctx, `WITH one AS (SELECT seq FROM sweeps WHERE id = ?)
		SELECT worker FROM tasks WHERE sweep = (SELECT seq FROM one) AND worker <> ''
		UNION SELECT worker FROM attempts WHERE sweep = (SELECT seq FROM one) AND worker <> ''
		ORDER BY worker`, id)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, readable(err)
		}
		names = append(names, name)
	}
	return names, readable(rows.Err())
}

// Bytes returns the size of the outputs of tasks of a sweep, as far as it is known.
func (r *Reader) Bytes(ctx context.Context, s Sweep, tasks core.Ranges) (bytes int64, err error) {
	const query = `SELECT coalesce(sum(bytes), 0) FROM tasks WHERE sweep = ? AND idx >= ? AND idx < ?`
	for _, part := range tasks {
		var some int64
		err := r.db.QueryRowContext(ctx, query, s.Seq, part.From, part.To).Scan(&some)
		if err != nil {
			return 0, readable(err)
		}
		bytes += some
	}
	return bytes, nil
}
