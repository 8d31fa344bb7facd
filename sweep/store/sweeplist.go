package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math"

	"mlframework/sweep/core"
)

// Listed is what a list shows of a sweep.
type Listed struct {
	Seq     int64
	Head    core.Head
	Outline core.Outline
	Damage  string // why not all of it could be read; "": it could
}

// Summary returns the sweep as it stands. One that could not be read has no revision, and says why.
func (l Listed) Summary() core.Summary {
	s := l.Outline.Summary(l.Head)
	if l.Damage != "" {
		s.Revision, s.Reason = "", &l.Damage
	}
	return s
}

// selectListed reads sweeps for scanListed.
const selectListed = `SELECT ` + headColumns + `, outline FROM sweeps`

// List lists sweeps without reading their records, the oldest first: those after a sweep, "" for
// the first, and at most limit, 0 for all. One that cannot be read says why. The error is
// *UnknownSweep when there is no sweep after.
func (r *Reader) List(ctx context.Context, after string, limit int) (all []Listed, _ error) {
	seq, err := r.seq(ctx, after)
	if err != nil {
		return nil, err
	}
	if limit <= 0 {
		limit = -1 // of SQLite: all
	}
	return r.listed(ctx, selectListed+` WHERE seq > ? ORDER BY seq LIMIT ?`, seq, limit)
}

// Current lists, as List does, the sweeps that have not ended and the newest that have.
func (r *Reader) Current(ctx context.Context, maxEnded int) ([]Listed, error) {
	return r.listed(ctx, selectListed+` WHERE ended IS NULL OR seq IN (SELECT seq FROM sweeps
		WHERE ended IS NOT NULL ORDER BY seq DESC LIMIT ?) ORDER BY seq`, maxEnded)
}

// listedAtOnce is how many sweeps NewestFirst reads at a time.
const listedAtOnce = 200

// NewestFirst iterates over sweeps as List lists them, but the newest first: from a sweep on, ""
// for the newest. No query stays open between them. The error is *UnknownSweep when there is no
// such sweep; after an error nothing more comes.
func (r *Reader) NewestFirst(ctx context.Context, from string) iter.Seq2[Listed, error] {
	return func(yield func(Listed, error) bool) {
		newest, err := r.seq(ctx, from)
		if from == "" {
			newest = math.MaxInt64
		}
		for more := err == nil; more; {
			var some []Listed
			some, err = r.listed(ctx, selectListed+` WHERE seq <= ? ORDER BY seq DESC LIMIT ?`,
				newest, listedAtOnce)
			for _, l := range some {
				if newest = l.Seq - 1; !yield(l, nil) {
					return
				}
			}
			more = err == nil && len(some) == listedAtOnce
		}
		if err != nil {
			yield(Listed{}, err)
		}
	}
}

// seq returns where a sweep stands in the order of submission; 0 for "".
func (r *Reader) seq(ctx context.Context, id string) (seq int64, _ error) {
	if id == "" {
		return 0, nil
	}
	err := r.db.QueryRowContext(ctx, `SELECT seq FROM sweeps WHERE id = ?`, id).Scan(&seq)
	if errors.Is(err, sql.ErrNoRows) {
		return 0, &UnknownSweep{ID: id}
	}
	return seq, readable(err)
}

// Head reads how a sweep stands, as List does.
func (r *Reader) Head(ctx context.Context, id string) (core.Head, error) {
	found, err := r.listed(ctx, selectListed+` WHERE id = ?`, id)
	if err == nil && len(found) == 0 {
		err = r.unknownSweep(ctx, id)
	}
	if err != nil {
		return core.Head{}, err
	}
	return found[0].Head, nil
}

func (r *Reader) listed(ctx context.Context, query string, args ...any) (all []Listed, _ error) {
	rows, err := r.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		l, err := scanListed(rows)
		if err != nil {
			return nil, fmt.Errorf("list sweeps: %w", readable(err))
		}
		all = append(all, l)
	}
	return all, readable(rows.Err())
}

func scanListed(rows *sql.Rows) (l Listed, err error) {
	var kept []byte
	wrong, err := scanHead(rows, &l.Seq, &l.Head, &l.Outline.Definition, &kept)
	if err != nil {
		return l, err
	}
	damaged := json.Unmarshal(kept, &l.Outline)
	switch {
	case damaged != nil:
		l.Damage = fmt.Sprintf("what is listed of the sweep's record is damaged: %v", damaged)
	case wrong != nil:
		l.Damage = fmt.Sprintf("the sweep's counts of tasks are damaged: %v", wrong)
	}
	if l.Outline.Images == nil {
		l.Outline.Images = []string{}
	}
	return l, nil
}
