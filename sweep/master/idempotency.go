package master

import (
	"context"
	"errors"

	"mlframework/sweep/core"
)

// ErrKeyUsed is that another request was done under the idempotency key of a command.
var ErrKeyUsed = errors.New("the idempotency key was used for another request")

// repeated reports whether a command, with the audit entry e, was done under its idempotency key: a
// client that did not hear the answer asks again. Sweep is the one that it is about; "": none.
func (m *Master) repeated(ctx context.Context, e *core.AuditEntry, sweep string) (bool, error) {
	if e == nil || e.IdempotencyKey == "" {
		return false, nil
	}
	done, err := m.o.Store.Done(ctx, e.IdempotencyKey)
	if err != nil || done == nil {
		return false, err
	}
	if !done.Repeats(*e, sweep) {
		return false, ErrKeyUsed
	}
	e.Time = done.Time
	return true, nil
}
