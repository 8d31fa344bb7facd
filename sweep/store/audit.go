package store

import (
	"context"
	"database/sql"
	"mlframework/sweep/core"
	"time"
)

// Deed is an entry of the audit. Commit keeps it.
type Deed = core.AuditEntry

const putDeed = `INSERT INTO audit (time, uid, user, action, kind, object, detail, outcome, reason) VALUES (?,nullif(?,-1),?,?,?,?,?,?,nullif(?,''))`

func (v values) deed(d Deed) values {
	return v.add(d.Time.UnixMicro(), int64(d.UID), d.User, d.Action, d.Kind, d.Object, d.Detail, d.Outcome, d.Reason)
}

// Audit lists deeds, the newest first: those on an object, a sweep with its tasks, or "" for all; before an ID, or 0; and at
// most limit.
func (r *Reader) Audit(ctx context.Context, object string, before int64, limit int) (all []Deed, err error) {
	// '0' is what follows '/': the tasks of a sweep are between the two.
	rows, err := r.db.QueryContext(ctx, `SELECT seq, time, uid, user, action, kind, object, detail, outcome, reason FROM audit
		WHERE (?1 = '' OR object = ?1 OR object > ?1 || '/' AND object < ?1 || '0') AND (?2 = 0 OR seq < ?2) ORDER BY seq DESC LIMIT ?3`, object, before, limit)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		d, at, uid, reason := Deed{UID: -1}, int64(0), sql.NullInt64{}, sql.NullString{}
		if err := rows.Scan(&d.ID, &at, &uid, &d.User, &d.Action, &d.Kind, &d.Object, &d.Detail, &d.Outcome, &reason); err != nil {
			return nil, readable(err)
		}
		if uid.Valid {
			d.UID = int(uid.Int64)
		}
		d.Time, d.Reason = time.UnixMicro(at).UTC(), reason.String
		all = append(all, d)
	}
	return all, readable(rows.Err())
}
