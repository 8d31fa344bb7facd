package store

import (
	"context"
	"time"

	"mlframework/sweep/core"
)

const putAudit = `INSERT INTO audit (time, uid, user, action, kind, object, detail, outcome, reason,
	client_key) VALUES (?,?,?,?,?,?,?,?,?,nullif(?,''))`

func (v values) audit(e *core.AuditEntry) values {
	var uid, reason any
	if e.UID != nil {
		uid = int64(*e.UID)
	}
	if e.Reason != nil {
		reason = *e.Reason
	}
	return v.add(e.Time.UnixMicro(), uid, e.User, e.Action, e.Kind, e.Object, e.Detail, e.Outcome,
		reason, e.IdempotencyKey)
}

const selectAudit = `SELECT seq, time, uid, user, action, kind, object, detail, outcome, reason
	FROM audit `

// Audit lists audit entries, the newest first: those on an object, a sweep with its tasks, or ""
// for all; before an ID, or 0; and at most limit.
func (r *Reader) Audit(ctx context.Context, object string, before int64, limit int,
) ([]core.AuditEntry, error) {
	// '0' is what follows '/': the tasks of a sweep are between the two.
	return r.audit(ctx, `WHERE (?1 = '' OR object = ?1 OR object > ?1 || '/' AND object < ?1 || '0')
		AND (?2 = 0 OR seq < ?2) ORDER BY seq DESC LIMIT ?3`, object, before, limit)
}

// Done returns the audit entry of what was done under an idempotency key; nil: nothing was.
func (r *Reader) Done(ctx context.Context, key string) (*core.AuditEntry, error) {
	all, err := r.audit(ctx, `WHERE client_key = ? AND outcome = ? LIMIT 1`, key,
		core.AuditDone)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return &all[0], nil
}

func (r *Reader) audit(ctx context.Context, where string, args ...any) (all []core.AuditEntry,
	err error) {
	rows, err := r.db.QueryContext(ctx, selectAudit+where, args...)
	if err != nil {
		return nil, readable(err)
	}
	defer rows.Close()
	for rows.Next() {
		var e core.AuditEntry
		var at int64
		if err := rows.Scan(&e.ID, &at, &e.UID, &e.User, &e.Action, &e.Kind, &e.Object, &e.Detail,
			&e.Outcome, &e.Reason); err != nil {
			return nil, readable(err)
		}
		e.Time = time.UnixMicro(at).UTC()
		all = append(all, e)
	}
	return all, readable(rows.Err())
}
