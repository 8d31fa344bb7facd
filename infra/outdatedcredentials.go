package infra

import (
	"context"
	"path"
	"slices"

	"mlframework/infra/broker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// credentials finds which credentials on hosts differ from those that the master's host keeps, and
// what needs renewal.
func (u *up) credentials(ctx context.Context) error {
	master := u.connected[u.request.Master]
	kept, err := master.keptSecrets(ctx)
	if err != nil || kept == nil {
		return err
	}
	master.found.Logins = plan.Logins{Users: kept.Users(), Pending: kept.Pending}
	if master.found.NeedsRenewal, err = u.needsRenewal(ctx, master, *kept); err != nil {
		return err
	}
	return orNil(problems(u.each(u.reached(), func(m *connectedHost) error {
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

// needsRenewal tells what is to be renewed without being asked for.
func (u *up) needsRenewal(ctx context.Context, master *connectedHost, kept broker.Secrets) (
	r plan.Renewal, err error) {
	now := u.o.Now()
	r.Rotation = len(kept.Previous) > 0
	if r.Certificate, r.Authority, err = kept.NeedsRenewal(now); err != nil || !u.request.Exposed {
		return r, err
	}
	text, err := master.text(ctx, path.Join(layout.Root(master.found.Root).Certificate(),
		broker.CertificateFile))
	if err != nil || text == "" {
		return r, err
	}
	end, err := broker.End([]byte(text))
	r.Monitor = err != nil || end.Sub(now) < broker.RenewBefore // what cannot be read is made anew
	return r, nil
}

// compare records in found.Outdated that a folder of the host has other credentials of a user than
// kept. A folder without credentials does not count: they are written before the container starts.
func (m *connectedHost) compare(ctx context.Context, kept broker.Secrets, user, dir string) error {
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
