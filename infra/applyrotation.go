package infra

import (
	"context"
	"errors"
	"slices"

	"mlframework/infra/broker"
	"mlframework/infra/plan"
)

// rotate replaces all secrets of the broker on the master's host.
func (a *applier) rotate(ctx context.Context, m *connectedHost, do plan.Rotate) error {
	_, err := a.changeSecrets(ctx, m, func(s broker.Secrets) (broker.Secrets, error) {
		before := s
		s, err := a.withLogins(s, do.Logins)
		if err == nil {
			s, err = s.Rotated(a.o.Random, a.o.Now())
		}
		if err == nil {
			a.beginRotation(m, before)
		}
		return s, err
	})
	return err
}

// beginRotation registers how to restore the secrets of before. That is possible until the broker
// is told of the new ones.
func (a *applier) beginRotation(m *connectedHost, before broker.Secrets) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before.Pending = true // a broker that restarts meanwhile has the new ones, and is to be told
	a.before = &before
	a.undos = append(a.undos, undo{host: m.name, rotation: true,
		what: "keep the passwords and certificates of before",
		do: func(ctx context.Context) error {
			a.mu.Lock()
			cannotGoBack := a.cannotGoBack
			a.mu.Unlock()
			if cannotGoBack {
				return errors.New("some of the new ones were not taken back")
			}
			_, err := a.changeSecrets(ctx, m, func(broker.Secrets) (broker.Secrets, error) {
				return before, nil
			})
			return err
		}})
}

// onRotationFailure registers how to restore the files that a step of a rotation is about to write.
func (a *applier) onRotationFailure(m *connectedHost, do plan.Secrets,
	files func(broker.Secrets) []broker.File) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.before == nil {
		return
	}
	before := files(*a.before)
	if len(before) == 0 {
		return
	}
	a.undos = append(a.undos, undo{host: m.name, rotation: true,
		what: "write the credentials of before",
		do: func(ctx context.Context) error {
			err := m.put(ctx, do.Dir, before, do.UID, do.GID)
			if err != nil {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.cannotGoBack = true
			}
			return err
		}})
}

// commitRotation drops what would undo the rotation, as the broker may have the new secrets from
// now on.
func (a *applier) commitRotation() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.before = nil
	a.undos = slices.DeleteFunc(a.undos, func(u undo) bool { return u.rotation })
}

// finish removes the authority of before from the secrets.
func (a *applier) finish(ctx context.Context, m *connectedHost) error {
	_, err := a.changeSecrets(ctx, m, func(s broker.Secrets) (broker.Secrets, error) {
		return s.Finished(), nil
	})
	return err
}

// rotating reports whether a rotation is not finished.
func (a *applier) rotating() bool {
	a.secretsMu.Lock()
	defer a.secretsMu.Unlock()
	return a.secrets != nil && len(a.secrets.Previous) > 0
}
