package store

import (
	"context"
)

// Codes returns the code of each revision that a sweep used. Two definitions may have two codes at
// one revision.
func (r *Reader) Codes(ctx context.Context, s Sweep) (map[string]string, error) {
	rows, err := r.db.QueryContext(ctx, `SELECT revision, code FROM codes WHERE sweep = ?`, s.Seq)
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
	rows, err := r.db.QueryContext(ctx,
		`SELECT revision, count(*) FROM tasks WHERE sweep = ? AND revision <> '' AND tries > 0 GROUP BY revision`, s.Seq)
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

// NeededRevisions returns the revisions that sweeps ran or run, but for those of some sweeps.
func (r *Reader) NeededRevisions(ctx context.Context, without []string) (map[string]bool, error) {
	rows, err := r.db.QueryContext(ctx, `WITH kept AS (SELECT seq, outline FROM sweeps
			WHERE id NOT IN (SELECT value FROM json_each(?)))
		SELECT revision FROM codes WHERE sweep IN (SELECT seq FROM kept)
		UNION SELECT coalesce(outline->>'revision', '') FROM kept`, text(append([]string{}, without...)))
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	needed := map[string]bool{}
	for rows.Next() {
		var revision string
		if err := rows.Scan(&revision); err != nil {
			return nil, readable(err)
		}
		needed[revision] = true
	}
	return needed, readable(rows.Err())
}
