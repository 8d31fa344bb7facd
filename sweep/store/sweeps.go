package store

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// Sweep is a sweep as it is stored.
type Sweep struct {
	Seq        int64 // order of submission
	Definition string
	Record     core.Record
	Head       core.Head
}

// UnknownSweep says that the store has no sweep of a name.
type UnknownSweep struct {
	ID      string // "" when the newest was asked for and there is none at all
	Nearest string // the sweep that was probably meant, or ""
	Removed bool   // there was one
}

func (e *UnknownSweep) Error() string {
	switch {
	case e.ID == "":
		return "there is no sweep yet"
	case e.Removed:
		return fmt.Sprintf("there is no sweep %s any more: it was removed", e.ID)
	case e.Nearest != "":
		return fmt.Sprintf("there is no sweep %s; did you mean %s?", e.ID, e.Nearest)
	}
	return fmt.Sprintf("there is no sweep %s", e.ID)
}

// NewSweep is a sweep to be kept.
type NewSweep struct {
	Record         core.Record
	Total          int64
	Submitted      time.Time
	IdempotencyKey string // used before: nothing is added; "": no key
	MinNumber      int64  // the number in the sweep's id is at least this
	Code           string // of the record's revision
}

// Add keeps a new sweep and gives it the next number of its definition. An idempotency key that was
// used before adds nothing and returns the sweep it made then.
func (s *Store) Add(ctx context.Context, n NewSweep) (added Sweep, err error) {
	r, submitted := n.Record, n.Submitted.UTC().Truncate(time.Microsecond)
	record, err := r.Stored()
	if err != nil {
		return Sweep{}, err
	}
	err = s.transact(ctx, func(tx *sql.Tx) error {
		if n.IdempotencyKey != "" {
			added, err = singleSweep(tx.QueryContext(ctx, selectSweeps+` WHERE client_key = ?`,
				n.IdempotencyKey))
			if !errors.Is(err, sql.ErrNoRows) {
				return err
			}
		}
		var number int64
		definition := r.Recipe.Definition
		if err := tx.QueryRowContext(ctx,
			`SELECT max(coalesce(max(number), 0) + 1, ?1) FROM (
				SELECT number FROM sweeps WHERE definition = ?2
				UNION ALL SELECT number FROM removed WHERE definition = ?2)`,
			n.MinNumber, definition).Scan(&number); err != nil {
			return err
		}
		added = Sweep{Definition: definition, Record: r, Head: core.Head{
			ID: task.SweepID(definition, number), State: core.Open, Submitted: submitted,
			Total: n.Total,
		}}
		result, err := tx.ExecContext(ctx, `INSERT INTO sweeps (id, definition, number, client_key,
			record, outline, state, reason, submitted, total, issued, cut, counts)
			VALUES (?,?,?,nullif(?,''),?,?,?,'',?,?,0,0,'[0,0,0,0,0,0,0,0,0,0]')`,
			added.Head.ID, definition, number, n.IdempotencyKey, record, text(r.Outline()),
			string(core.Open), submitted.UnixMicro(), n.Total)
		if err != nil {
			return err
		}
		if added.Seq, err = result.LastInsertId(); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, putCode, added.Seq, r.Recipe.Revision, n.Code)
		return err
	})
	return added, err
}

// headColumns are what scanHead reads of sweeps.
const (
	headColumns = `seq, id, definition, state, reason, stopping, forgiven, submitted, ended, total,
	issued, cut, counts, ran, bytes`
	selectSweeps = `SELECT ` + headColumns + `, record FROM sweeps`
)

// Sweeps reads every sweep, the newest first. List does not read their records.
func (r *Reader) Sweeps(ctx context.Context) ([]Sweep, error) {
	return scanSweeps(r.db.QueryContext(ctx, selectSweeps+` ORDER BY seq DESC`))
}

// ActiveSweeps lists the sweeps that have tasks left, the oldest first, and those of them that are
// damaged.
func (r *Reader) ActiveSweeps(ctx context.Context) (open []Sweep, damaged []*DamagedSweep,
	_ error) {
	rows, err := r.db.QueryContext(ctx, selectSweeps+` WHERE ended IS NULL ORDER BY seq`)
	if err != nil {
		return nil, nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		s, err := scanSweep(rows)
		if d, ok := errors.AsType[*DamagedSweep](err); ok {
			damaged = append(damaged, d)
		} else if err != nil {
			return nil, nil, readable(err)
		} else {
			open = append(open, s)
		}
	}
	return open, damaged, readable(rows.Err())
}

// SweepsWithNotices lists the sweeps that have notices to be sent, but for damaged ones.
func (r *Reader) SweepsWithNotices(ctx context.Context) (found []Sweep, _ error) {
	rows, err := r.db.QueryContext(ctx, selectSweeps+` WHERE outline->>'notices' ORDER BY seq`)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		s, err := scanSweep(rows)
		if _, damaged := errors.AsType[*DamagedSweep](err); damaged {
			continue
		} else if err != nil {
			return nil, readable(err)
		}
		found = append(found, s)
	}
	return found, readable(rows.Err())
}

// Sweep reads one sweep; "" is the newest that is not what runs at the end of another. The error is
// *UnknownSweep when there is none.
func (r *Reader) Sweep(ctx context.Context, id string) (Sweep, error) {
	query, args := selectSweeps+` WHERE id = ?`, []any{id}
	if id == "" {
		query, args = selectSweeps+` ORDER BY outline->>'after' IS NOT NULL, seq DESC LIMIT 1`, nil
	}
	found, err := singleSweep(r.db.QueryContext(ctx, query, args...))
	if errors.Is(err, sql.ErrNoRows) {
		return Sweep{}, r.unknownSweep(ctx, id)
	}
	return found, err
}

// maxNearestCandidates is among how many sweeps, the newest, the one is looked for that was meant.
const maxNearestCandidates = 10_000

// HasSweep reports whether the store has a sweep of an id, or had one that was removed.
func (r *Reader) HasSweep(ctx context.Context, id string) (found bool, err error) {
	const query = `SELECT EXISTS (SELECT 1 FROM sweeps WHERE id = ?1
		UNION ALL SELECT 1 FROM removed WHERE id = ?1)`
	err = r.db.QueryRowContext(ctx, query, id).Scan(&found)
	return found, readable(err)
}

// unknownSweep is the error for a sweep that does not exist. It reads ids, newest first, and not
// records, which take as long as their tables of values are.
func (r *Reader) unknownSweep(ctx context.Context, id string) error {
	if removed, err := r.isRemoved(ctx, id); err != nil || removed {
		return cmp.Or(err, error(&UnknownSweep{ID: id, Removed: true}))
	}
	rows, err := r.db.QueryContext(ctx, `SELECT id FROM sweeps ORDER BY seq DESC LIMIT ?`,
		maxNearestCandidates)
	if err != nil {
		return readable(err)
	}
	defer rows.Close()
	var ids []string
	for rows.Next() {
		var known string
		if err := rows.Scan(&known); err != nil {
			return readable(err)
		}
		ids = append(ids, known)
	}
	if err := rows.Err(); err != nil {
		return readable(err)
	}
	return &UnknownSweep{ID: id, Nearest: fault.Nearest(id, ids)}
}

func singleSweep(rows *sql.Rows, err error) (Sweep, error) {
	found, err := scanSweeps(rows, err)
	if err == nil && len(found) == 0 {
		err = sql.ErrNoRows
	}
	if err != nil {
		return Sweep{}, err
	}
	return found[0], nil
}

func scanSweeps(rows *sql.Rows, err error) (found []Sweep, _ error) {
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		s, err := scanSweep(rows)
		if err != nil {
			return nil, readable(err)
		}
		found = append(found, s)
	}
	return found, readable(rows.Err())
}

// scanSweep reads selectSweeps. The error is *DamagedSweep for one that is damaged.
func scanSweep(rows *sql.Rows) (s Sweep, err error) {
	var record []byte
	wrong, err := scanHead(rows, &s.Seq, &s.Head, &s.Definition, &record)
	if err != nil {
		return s, err
	}
	if err := json.Unmarshal(record, &s.Record); err != nil {
		return s, &DamagedSweep{s.Head.ID, fmt.Errorf("its record cannot be read: %w", err)}
	}
	if wrong != nil {
		wrong = fmt.Errorf("its counts of tasks cannot be read: %w", wrong)
		return s, &DamagedSweep{s.Head.ID, wrong}
	}
	return s, nil
}

// scanHead reads headColumns, and what follows them. Wrong is why the counts could not be read.
func scanHead(rows *sql.Rows, seq *int64, h *core.Head, definition *string,
	more ...any) (wrong, err error) {
	var counts []byte
	var submitted, ran int64
	var ended sql.NullInt64
	columns := []any{seq, &h.ID, definition, &h.State, &h.Reason, &h.Stopping, &h.IgnoredFailures,
		&submitted,
		&ended, &h.Total, &h.Issued, &h.UnissuedCancelled, &counts, &ran, &h.Bytes}
	if err := rows.Scan(append(columns, more...)...); err != nil {
		return nil, err
	}
	h.Submitted, h.Ran = time.UnixMicro(submitted).UTC(), time.Duration(ran)*time.Microsecond
	if ended.Valid {
		h.Ended = time.UnixMicro(ended.Int64).UTC()
	}
	return json.Unmarshal(counts, &h.Rows), nil
}
