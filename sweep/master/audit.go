package master

import (
	"context"

	"mlframework/sweep/core"
)

type auditKey struct{}

// WithAudit has the command that is given under ctx kept as an audit entry, in one transaction with
// what the command changes; but what the store keeps at once (a new sweep, a new revision, a worker
// that is forgotten) the entry follows. Once it is kept its Time is set.
func WithAudit(ctx context.Context, e *core.AuditEntry) context.Context {
	return context.WithValue(ctx, auditKey{}, e)
}

// AuditOf returns the audit entry of a context; nil: there is none.
func AuditOf(ctx context.Context) *core.AuditEntry {
	e, _ := ctx.Value(auditKey{}).(*core.AuditEntry)
	return e
}

// Record keeps an audit entry that no command kept.
func (m *Master) Record(ctx context.Context, e *core.AuditEntry) error {
	err := m.ask(ctx, call{audit: e, prepare: func(context.Context) (core.Command, error) {
		return core.Note{}, nil
	}})
	return err
}
