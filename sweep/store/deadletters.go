package store

import (
	"context"
	"database/sql"
	"errors"
	"sync"
	"time"

	"mlframework/sweep/task"
)

// AllDeadLetters stands for every dead letter where an ID is asked for.
const AllDeadLetters = ""

// Bounds of the dead letters. Of a worker whose dead letters are bounded no more are kept until
// some are dropped or requeued; of all of them the oldest go.
const (
	maxDeadLetters    = 20_000
	deadLettersBytes  = 64 << 20
	deadLettersWorker = 100

	deadLettersWorkerBytes = 4 << 20 // batches of the master's that a worker rejects are long
)

// DeadLetterPreview is how many bytes of a message DeadLetters reads.
const DeadLetterPreview = 512

// deadLetterTotals are how many dead letters are stored, and the bytes of their messages, so that
// keeping one does not count them all.
type deadLetterTotals struct {
	mu           sync.Mutex // held over each change of the dead letters
	known        bool
	count, bytes int
}

// AddDeadLetters writes dead letters in one transaction. One that is stored already, or whose
// worker has too many, is left out.
func (s *Store) AddDeadLetters(ctx context.Context, all []task.DeadLetter) error {
	ctx = context.WithoutCancel(ctx)
	totals := &s.deadLetters
	totals.mu.Lock()
	defer totals.mu.Unlock()
	err := s.transact(ctx, func(tx *sql.Tx) error {
		if err := totals.read(ctx, tx); err != nil {
			return err
		}
		for _, l := range all {
			body := append([]byte{}, l.Body...)
			done, err := tx.ExecContext(ctx, insertDeadLetter, l.ID, l.Queue, l.Reason,
				micros(l.Time), l.Worker, l.Sender.User, l.Sender.Key, l.Size, body,
				deadLettersWorker, deadLettersWorkerBytes)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			if err != nil {
				return err
			}
			totals.count, totals.bytes = totals.count+int(n), totals.bytes+int(n)*len(body)
		}
		return totals.bound(ctx, tx)
	})
	totals.known = err == nil
	return err
}

// insertDeadLetter stores one if its worker has room. It repeats the condition of the index,
// without which SQLite reads all dead letters.
const insertDeadLetter = `INSERT OR IGNORE INTO dead_letters
	(id, queue, reason, time, worker, user, key, size, body)
	SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE ?5 = ''
		OR (SELECT count(*) FROM dead_letters WHERE worker = ?5 AND worker <> '') < ?10
		AND (SELECT coalesce(sum(length(body)), 0) FROM dead_letters
			WHERE worker = ?5 AND worker <> '') + length(?9) <= ?11`

func (totals *deadLetterTotals) read(ctx context.Context, tx *sql.Tx) error {
	if totals.known {
		return nil
	}
	return tx.QueryRowContext(ctx,
		`SELECT count(*), coalesce(sum(length(body)), 0) FROM dead_letters`).
		Scan(&totals.count, &totals.bytes)
}

// bound removes the oldest dead letters while there are too many.
func (totals *deadLetterTotals) bound(ctx context.Context, tx *sql.Tx) error {
	for totals.count > maxDeadLetters || totals.bytes > deadLettersBytes {
		var bytes int
		err := tx.QueryRowContext(ctx, `DELETE FROM dead_letters
			WHERE seq = (SELECT min(seq) FROM dead_letters) RETURNING length(body)`).Scan(&bytes)
		if err != nil {
			return err
		}
		totals.count, totals.bytes = totals.count-1, totals.bytes-bytes
	}
	return nil
}

// DropDeadLetters removes dead letters, or AllDeadLetters, and returns how many there were.
func (s *Store) DropDeadLetters(ctx context.Context, ids ...string) (dropped int, err error) {
	ctx = context.WithoutCancel(ctx)
	s.deadLetters.mu.Lock()
	defer s.deadLetters.mu.Unlock()
	s.deadLetters.known = false
	err = s.transact(ctx, func(tx *sql.Tx) error {
		for _, id := range ids {
			done, err := tx.ExecContext(ctx, `DELETE FROM dead_letters WHERE ?1 = '' OR id = ?1`,
				id)
			if err != nil {
				return err
			}
			n, err := done.RowsAffected()
			if err != nil {
				return err
			}
			dropped += int(n)
		}
		return nil
	})
	return dropped, err
}

// DeadLetters returns how many dead letters there are, and the last limit of them, the last that
// came first: their times are what workers say. Of a message it reads the first DeadLetterPreview
// bytes.
func (r *Reader) DeadLetters(ctx context.Context, limit int) (count int, newest []task.DeadLetter,
	err error) {
	if count, err = r.CountDeadLetters(ctx); err != nil {
		return 0, nil, err
	}
	rows, err := r.db.QueryContext(ctx, `SELECT `+deadLetterColumns+`, substr(body, 1, ?)
		FROM dead_letters ORDER BY seq DESC LIMIT ?`, DeadLetterPreview, limit)
	if err != nil {
		return 0, nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		l, err := scanDeadLetter(rows)
		if err != nil {
			return 0, nil, readable(err)
		}
		newest = append(newest, l)
	}
	return count, newest, readable(rows.Err())
}

// CountDeadLetters returns how many dead letters there are.
func (r *Reader) CountDeadLetters(ctx context.Context) (count int, err error) {
	row := r.db.QueryRowContext(ctx, `SELECT count(*) FROM dead_letters`)
	return count, readable(row.Scan(&count))
}

// DeadLetterIDs returns the IDs of a dead letter, which may not exist, or of AllDeadLetters in the
// order in which they came.
func (r *Reader) DeadLetterIDs(ctx context.Context, id string) (ids []string, err error) {
	rows, err := r.db.QueryContext(ctx,
		`SELECT id FROM dead_letters WHERE ?1 = '' OR id = ?1 ORDER BY seq`, id)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := rows.Scan(&id); err != nil {
			return nil, readable(err)
		}
		ids = append(ids, id)
	}
	return ids, readable(rows.Err())
}

// DeadLetter returns one dead letter with all that is kept of its message; false where it does not
// exist.
func (r *Reader) DeadLetter(ctx context.Context, id string) (task.DeadLetter, bool, error) {
	l, err := scanDeadLetter(r.db.QueryRowContext(ctx,
		`SELECT `+deadLetterColumns+`, body FROM dead_letters WHERE id = ?`, id))
	if errors.Is(err, sql.ErrNoRows) {
		return l, false, nil
	}
	return l, err == nil, readable(err)
}

const deadLetterColumns = `id, queue, reason, time, worker, user, key, size`

func scanDeadLetter(row interface{ Scan(...any) error }) (l task.DeadLetter, err error) {
	var died sql.NullInt64
	err = row.Scan(&l.ID, &l.Queue, &l.Reason, &died, &l.Worker, &l.Sender.User, &l.Sender.Key,
		&l.Size, &l.Body)
	// a worker may have written one that JSON cannot say
	if at := time.UnixMicro(died.Int64).UTC(); died.Valid && at.Year() >= 1 && at.Year() <= 9999 {
		l.Time = at
	}
	return l, err
}
