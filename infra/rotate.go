package infra

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"

	"mlframework/infra/broker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// credentials finds which credentials on hosts differ from those that the master's host keeps, and
// what needs renewal.
func (u *up) credentials(ctx context.Context) error {
	master := u.machines[u.request.Master]
	kept, err := u.kept(ctx, master)
	if err != nil || kept == nil {
		return err
	}
	master.found.Logins = plan.Logins{Users: kept.Users(), Pending: kept.Pending}
	if master.found.NeedsRenewal, err = u.needsRenewal(ctx, master, *kept); err != nil {
		return err
	}
	return orNil(problems(u.each(u.reached(), func(m *machine) error {
		m.found.Outdated = nil
		l := layout.Root(m.found.Root)
		if m.found.Marker == nil || m != master && u.request.DryRun != nil {
			return nil // the host has none yet, or reading them would need the program there
		}
		if m == master {
			if err := m.compare(ctx, *kept, broker.Master, l.Master()); err != nil {
				return err
			}
		}
		return m.compare(ctx, *kept, broker.WorkerUser(m.name), l.Login(m.name))
	})))
}

// kept returns the secrets that the master's host keeps; nil if there is no cluster yet.
func (u *up) kept(ctx context.Context, master *machine) (*broker.Secrets, error) {
	file := layout.Root(master.found.Root).Secrets()
	text, err := master.text(ctx, file)
	if err != nil || text == "" {
		return nil, err
	}
	kept, err := broker.ParseSecrets([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", file, master.name, err)
	}
	return &kept, nil
}

// needsRenewal tells what is to be renewed without being asked for.
func (u *up) needsRenewal(ctx context.Context, master *machine, kept broker.Secrets) (
	r plan.Renewal, err error) {
	now := u.o.Now()
	r.Rotation = len(kept.Previous) > 0
	if r.Certificate, r.Authority, err = kept.NeedsRenewal(now); err != nil || !u.request.Exposed {
		return r, err
	}
	text, err := master.text(ctx, path.Join(layout.Root(master.found.Root).Certificate(), broker.CertificateFile))
	if err != nil || text == "" {
		return r, err
	}
	end, err := broker.End([]byte(text))
	r.Monitor = err != nil || end.Sub(now) < broker.RenewBefore // what cannot be read is made anew
	return r, nil
}

// compare records in found.Outdated that a folder of the host has other credentials of a user than
// kept. A folder without credentials does not count: they are written before the container starts.
func (m *machine) compare(ctx context.Context, kept broker.Secrets, user, dir string) error {
	files, err := kept.Client(user)
	if err != nil {
		return nil // there is no such user
	}
	for _, f := range files {
		text, err := m.text(ctx, path.Join(dir, f.Name))
		if err != nil {
			return err
		}
		if text != "" && text != string(f.Data) && !slices.Contains(m.found.Outdated, user) {
			m.found.Outdated = append(m.found.Outdated, user)
		}
	}
	return nil
}

// warnOfLeftBehind tells of workers that cannot be reached while a plan rotates: also where nobody
// asked for a rotation, because the authority is old.
func (u *up) warnOfLeftBehind(p plan.Plan) {
	if !p.Rotates() {
		return
	}
	for _, host := range plan.LeftBehind(u.request.Cluster, u.found(), u.old) {
		u.o.Report.Warn(host, "it was not reached: its worker keeps the password of before, which the broker refuses from now on, "+
			"until infrainit -f has reached it")
	}
}

// rotate replaces all secrets of the broker on the master's host.
func (a *applier) rotate(ctx context.Context, m *machine, do plan.Rotate) error {
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
func (a *applier) beginRotation(m *machine, before broker.Secrets) {
	a.mu.Lock()
	defer a.mu.Unlock()
	before.Pending = true // a broker that restarts meanwhile has the new ones, and is to be told
	a.before = &before
	a.undone = append(a.undone, undo{host: m.name, rotation: true,
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

// undoesRotation registers how to restore the files that a step of a rotation is about to write.
func (a *applier) undoesRotation(m *machine, do plan.Secrets,
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
	a.undone = append(a.undone, undo{host: m.name, rotation: true,
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
	a.undone = slices.DeleteFunc(a.undone, func(u undo) bool { return u.rotation })
}

// finish removes the authority of before from the secrets.
func (a *applier) finish(ctx context.Context, m *machine) error {
	_, err := a.changeSecrets(ctx, m, func(s broker.Secrets) (broker.Secrets, error) {
		return s.Finished(), nil
	})
	return err
}

// rotating reports whether a rotation is not finished.
func (a *applier) rotating() bool {
	a.once.Lock()
	defer a.once.Unlock()
	return a.secrets != nil && len(a.secrets.Previous) > 0
}
