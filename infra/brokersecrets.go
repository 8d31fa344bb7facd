package infra

import (
	"context"
	"encoding/json"
	"fmt"
	"path"

	"mlframework/infra/broker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// brokerSecrets returns the cluster's secrets, which the master's host keeps; new ones where it has
// none and create is set.
func (s *session) brokerSecrets(ctx context.Context, m *connectedHost, create bool) (broker.Secrets,
	error) {
	s.secretsMu.Lock()
	defer s.secretsMu.Unlock()
	return s.readSecrets(ctx, m, create)
}

// readSecrets is brokerSecrets for who holds the lock.
func (s *session) readSecrets(ctx context.Context, m *connectedHost, create bool) (broker.Secrets,
	error) {
	if s.secrets != nil {
		return *s.secrets, nil
	}
	kept, err := m.keptSecrets(ctx)
	if err != nil {
		return broker.Secrets{}, err
	}
	if kept == nil {
		if !create {
			return broker.Secrets{}, fmt.Errorf("%s is missing on %s: infrainit with -m makes "+
				"new ones",
				layout.Root(m.found.Root).Secrets(), m.name)
		}
		made, err := broker.NewSecrets(s.o.Random, s.o.Now())
		if err != nil {
			return made, err
		}
		kept = &made
	}
	s.secrets = kept
	return *kept, nil
}

// keptSecrets reads the secrets that the master's host keeps; nil if it has none.
func (m *connectedHost) keptSecrets(ctx context.Context) (*broker.Secrets, error) {
	file := layout.Root(m.found.Root).Secrets()
	text, err := m.text(ctx, file)
	if err != nil || text == "" {
		return nil, err
	}
	kept, err := broker.ParseSecrets([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", file, m.name, err)
	}
	return &kept, nil
}

// setLogins gives the cluster exactly these users of the broker, keeps that, and returns the
// secrets.
func (s *session) setLogins(ctx context.Context, m *connectedHost, l plan.Logins) (broker.Secrets,
	error) {
	return s.changeSecrets(ctx, m, func(secrets broker.Secrets) (broker.Secrets, error) {
		return s.withLogins(secrets, l)
	})
}

// withLogins returns secrets of exactly these users.
func (s *session) withLogins(secrets broker.Secrets, l plan.Logins) (broker.Secrets, error) {
	secrets, err := secrets.WithUsers(s.o.Random, l.Users)
	secrets.Pending = l.Pending
	return secrets, err
}

// changeSecrets changes the cluster's secrets, keeps what they are then, and returns that.
func (s *session) changeSecrets(ctx context.Context, m *connectedHost,
	change func(broker.Secrets) (broker.Secrets, error)) (broker.Secrets, error) {
	s.secretsMu.Lock()
	defer s.secretsMu.Unlock()
	secrets, err := s.readSecrets(ctx, m, true)
	if err == nil {
		secrets, err = change(secrets)
	}
	if err != nil {
		return secrets, err
	}
	text, err := json.Marshal(secrets)
	if err != nil {
		return secrets, err
	}
	file := layout.Root(m.found.Root).Secrets()
	if err := m.put(ctx, path.Dir(file), []broker.File{{Name: path.Base(file), Data: text}}, -1,
		-1); err != nil {
		return secrets, err
	}
	s.secrets = &secrets
	return secrets, nil
}
