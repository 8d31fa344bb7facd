package infra

import (
	"context"
	"errors"
	"slices"
	"time"
)

// undo takes back what a step did. Which steps are undone, and how, stands with each action in
// package plan; bringing a cluster up rolls back where a step fails, unless --keep says otherwise.
type undo struct {
	host, what string
	do         func(context.Context) error
	rotation   bool // of secrets: not when the broker has the new ones
}

// onFailure notes how to take back what a step is about to do: before it does, as a call that is
// cut off may have been carried out.
func (a *applier) onFailure(m *connectedHost, what string, do func(context.Context) error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.undos = append(a.undos, undo{host: m.name, what: what, do: do})
}

// undoTime bounds the taking back of everything.
const undoTime = 2 * time.Minute

// rollback takes back what was done, the last first. It goes on past what cannot be.
func (a *applier) rollback(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	var errs []error
	for _, u := range slices.Backward(a.undos) {
		begun := a.o.Now()
		if err := u.do(ctx); err != nil {
			errs = append(errs, &StepError{u.host, u.what, err})
			continue
		}
		a.o.Report.Did(u.host, u.what, a.o.Now().Sub(begun))
	}
	return errors.Join(errs...)
}
