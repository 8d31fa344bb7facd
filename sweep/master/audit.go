package master

import (
	"context"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// How a deed ended.
const (
	DeedDone    = core.AuditDone
	DeedRefused = core.AuditRefused
	DeedFailed  = core.AuditFailed
)

// Deed is what a person does, on its way into the record. The loop keeps it with what it changes, or what stopped it: in one
// transaction, but for what the store keeps at once (a new sweep, a new revision, a worker that is forgotten), behind which
// it follows.
type Deed struct {
	store.Deed
	Kept bool // it is in the record, or belongs in none
}

type deedKey struct{}

// Recorded makes the call that changes something under ctx keep a deed. One call at a time uses it.
func Recorded(ctx context.Context, d *Deed) context.Context {
	return context.WithValue(ctx, deedKey{}, d)
}

// DeedOf is the deed of a context; nil: none.
func DeedOf(ctx context.Context) *Deed {
	d, _ := ctx.Value(deedKey{}).(*Deed)
	return d
}

// Record keeps a deed that no call kept.
func (m *Master) Record(ctx context.Context, d *Deed) error {
	_, err := m.ask(ctx, call{audit: d, prepare: func(context.Context) (core.Command, error) { return core.Note{}, nil }})
	return err
}
