package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"

	"mlframework/sweep/task"
)

// writer is the hot path: statements that stay prepared on the one connection that writes. It talks
// to the driver, because what database/sql does for each value of a row costs a sixth of the row.
// The zero value is ready.
type writer struct {
	// what the statements belong to; another one when database/sql had to replace it
	conn driver.Conn

	head, record, code, rank, row, attempt, startUpdate, samples driver.StmtExecContext
	worker, removeWorker, audit                                  driver.StmtExecContext
	keepRemoved, removal, removeSweep, forgetPruned              driver.StmtExecContext

	prepared []driver.StmtExecContext // all of them

	values values // memory of the last row's, used again
}

// connection is what the driver's connections can do.
type connection interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ConnBeginTx
}

// attemptColumns are the columns that an attempt has in tasks and in attempts.
const attemptColumns = `attempt, revision, worker, host, slot, gpus, resumed, started, duration, class, exit_code, reason, metrics, output`

const (
	putHead   = `UPDATE sweeps SET state=?2, reason=?3, stopping=?4, forgiven=?5, ended=?6, issued=?7, cut=?8, counts=?9, total=?10, ran=?11, bytes=?12 WHERE seq=?1`
	putRecord = `UPDATE sweeps SET record=?2, outline=?3 WHERE seq=?1`
	putCode   = `INSERT OR IGNORE INTO codes (sweep, revision, code) VALUES (?,?,?)`
	putRank   = `UPDATE tasks SET objective = ? WHERE sweep = ? AND idx = ?`
	putRow    = `REPLACE INTO tasks (sweep, idx, state, cancelling, charged, not_before, lapsed, tries, since, failed, fresh, objective, bytes, ` + attemptColumns + `)
		VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`
	// A superseded result is kept of an attempt that is listed, from the worker that it was placed
	// on. The end of an attempt that counted may be reported again when the task has gone on: it is
	// no superseded result. One that its worker had given back is not listed, and a result of it,
	// of a message that came twice, is not kept.
	putTry = `INSERT OR IGNORE INTO attempts (sweep, idx, superseded, ` + attemptColumns + `)
		SELECT ?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17 WHERE ?3 = 0 OR EXISTS (
			SELECT 1 FROM tasks WHERE sweep=?1 AND idx=?2 AND attempt=?4 AND worker=?6
				AND (started IS NOT NULL OR class IS NOT NULL)
			UNION ALL
			SELECT 1 FROM attempts WHERE sweep=?1 AND idx=?2 AND attempt=?4 AND worker=?6
				AND superseded=0) AND NOT EXISTS (
			SELECT 1 FROM tasks WHERE sweep=?1 AND idx=?2 AND attempt=?4 AND worker=?6 AND ` + toldBefore + `
			UNION ALL
			SELECT 1 FROM attempts WHERE sweep=?1 AND idx=?2 AND attempt=?4 AND superseded=0
				AND worker=?6 AND ` + toldBefore + `)`
	// Of one attempt, ends that took equally long are one, though the master may count a stop as a
	// loss. A loss without a duration says nothing of an attempt whose end is known: its worker has
	// forgotten it.
	toldBefore = `(duration=?12 AND (class=?13 OR ?12 > 0)
				OR class IS NOT NULL AND ?12 = 0 AND ?13 = '` + string(task.Loss) + `')`
	// updateStart is for an attempt that was declared lost before its start was reported.
	updateStart = `UPDATE attempts SET host=?5, slot=?6, gpus=?7, resumed=?8, started=?9, reason=replace(replace(reason, ?10, ''), ?11, '')
		WHERE sweep=?1 AND idx=?2 AND attempt=?3 AND worker=?4 AND started IS NULL AND superseded=0`
	putSamples = `INSERT OR IGNORE INTO samples (sweep, idx, attempt, hash, points) VALUES (?,?,?,?,?)`
	putWorker  = `REPLACE INTO workers (name, incarnation, host, program, started, drained,
		drained_for, slots, image, environment) VALUES (?,?,?,?,?,?,?,?,?,?)`
	deleteWorker = `DELETE FROM workers WHERE name = ?`
)

// prepare makes the statements ready on c.
func (w *writer) prepare(ctx context.Context, c connection) error {
	if w.conn == c {
		return nil
	}
	w.conn = nil
	w.prepared = nil
	for _, s := range []struct {
		statement *driver.StmtExecContext
		text      string
	}{{&w.head, putHead}, {&w.record, putRecord}, {&w.code, putCode}, {&w.rank, putRank},
		{&w.row, putRow}, {&w.attempt, putTry}, {&w.startUpdate, updateStart},
		{&w.samples, putSamples}, {&w.worker, putWorker}, {&w.removeWorker, deleteWorker},
		{&w.audit, putAudit}, {&w.keepRemoved, putRemoved}, {&w.removal, putRemoval},
		{&w.removeSweep, deleteSweep}, {&w.forgetPruned, deletePruned}} {
		prepared, err := c.PrepareContext(ctx, s.text)
		if err != nil {
			return err
		}
		*s.statement = prepared.(driver.StmtExecContext)
		w.prepared = append(w.prepared, *s.statement)
	}
	w.conn = c
	return nil
}

// exec runs a statement and keeps the memory of its values.
func (w *writer) exec(ctx context.Context, s driver.StmtExecContext, v values) error {
	w.values = v
	_, err := s.ExecContext(ctx, v)
	return err
}

// close ends the statements, if their connection is still the one of db.
func (w *writer) close(db *sql.DB) error {
	if w.conn == nil {
		return nil
	}
	conn, err := db.Conn(context.Background())
	if err != nil {
		return err
	}
	err = conn.Raw(func(c any) error {
		if w.conn != c {
			return nil
		}
		w.conn = nil
		var errs []error
		for _, s := range w.prepared {
			errs = append(errs, s.(driver.Stmt).Close())
		}
		return errors.Join(errs...)
	})
	return errors.Join(err, conn.Close())
}
