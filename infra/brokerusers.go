package infra

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// brokerSecrets returns the cluster's secrets, which the master's host keeps; new ones where it has none and create is set.
func (s *session) brokerSecrets(ctx context.Context, m *machine, create bool) (broker.Secrets, error) {
	s.once.Lock()
	defer s.once.Unlock()
	return s.readSecrets(ctx, m, create)
}

// readSecrets is brokerSecrets for who holds the lock.
func (s *session) readSecrets(ctx context.Context, m *machine, create bool) (broker.Secrets, error) {
	if s.secrets != nil {
		return *s.secrets, nil
	}
	file := layout.Root(m.found.Root).Secrets()
	text, err := m.text(ctx, file)
	var kept broker.Secrets
	switch {
	case err != nil:
		return kept, err
	case text != "":
		if kept, err = broker.ParseSecrets([]byte(text)); err != nil {
			return kept, fmt.Errorf("%s on %s: %w", file, m.name, err)
		}
	case !create:
		return kept, fmt.Errorf("%s is missing on %s: infrainit with -m makes new ones", file, m.name)
	default:
		if kept, err = broker.NewSecrets(s.o.Random, s.o.Now()); err != nil {
			return kept, err
		}
	}
	s.secrets = &kept
	return kept, nil
}

// setLogins gives the cluster exactly these users of the broker, keeps that, and returns the secrets.
func (s *session) setLogins(ctx context.Context, m *machine, l plan.Logins) (broker.Secrets, error) {
	return s.changeSecrets(ctx, m, func(secrets broker.Secrets) (broker.Secrets, error) {
		return s.withLogins(secrets, l)
	})
}

// withLogins returns secrets of exactly these users.
func (s *session) withLogins(secrets broker.Secrets, l plan.Logins) (broker.Secrets, error) {
	secrets, err := secrets.WithUsers(s.o.Random, l.Users)
	if err == nil {
		secrets, err = secrets.WithCookie(s.o.Random)
	}
	secrets.Pending = l.Pending
	return secrets, err
}

// changeSecrets changes the cluster's secrets, keeps what they are then, and returns that.
func (s *session) changeSecrets(ctx context.Context, m *machine,
	change func(broker.Secrets) (broker.Secrets, error)) (broker.Secrets, error) {
	s.once.Lock()
	defer s.once.Unlock()
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
	if err := m.put(ctx, path.Dir(file), []broker.File{{Name: path.Base(file), Data: text}}, -1, -1); err != nil {
		return secrets, err
	}
	s.secrets = &secrets
	return secrets, nil
}

// brokerFiles writes what the broker reads when it starts.
func (a *applier) brokerFiles(ctx context.Context, m *machine, do plan.Secrets) error {
	secrets, err := a.changeSecrets(ctx, m, func(s broker.Secrets) (broker.Secrets, error) {
		s, err := a.withLogins(s, do.Logins)
		if err == nil && do.Renew {
			s, err = s.Renewed(a.o.Random, a.o.Now())
		}
		return s, err
	})
	if err != nil {
		return err
	}
	a.undoesRotation(m, do, broker.Secrets.Files)
	return m.put(ctx, do.Dir, secrets.Files(), do.UID, do.GID)
}

// haveUsers runs in the broker's container: it takes the definitions of $1, deletes all users but those that follow $2, and has
// new connections meet the certificate that lies there. Then it closes all connections when $2 is not empty. rabbitmqctl returns when the definitions are in effect (rabbit_definitions:apply_defs), though it says otherwise, and
// RabbitMQ closes the connections of users that it deletes (rabbit_connection_tracking).
const haveUsers = `rabbitmqctl -q import_definitions "$1" >&2 || exit
close=$2
shift 2
users=$(rabbitmqctl -q list_users --no-table-headers) || exit
echo "$users" | while read -r user tags; do
	for known; do [ "$known" != "$user" ] || continue 2; done
	rabbitmqctl -q delete_user "$user" >&2 || exit
done || exit
rabbitmqctl -q eval 'ssl:clear_pem_cache().' >&2 || exit
[ -z "$close" ] || rabbitmqctl -q close_all_connections "$close" >&2`

// users has the broker that runs have the users of its files, and no others.
func (a *applier) users(ctx context.Context, m *machine, do plan.Users) error {
	if do.Back != nil {
		a.undoes(m, "take the new users from the broker", func(ctx context.Context) error {
			back := do
			back.Back, back.Logins.Users, back.Logins.Pending = nil, do.Back, true
			back.Files.Logins = back.Logins
			if err := a.brokerFiles(ctx, m, back.Files); err != nil {
				return err
			}
			back.Logins.Pending = false
			return a.users(ctx, m, back)
		})
	}
	a.commitRotation()
	var said bytes.Buffer
	why := ""
	if do.Close {
		why = "log in again, with the new password"
	}
	argv := append([]string{"sh", "-c", haveUsers, "sh", path.Join(broker.Folder, broker.DefinitionsFile), why}, do.Logins.Users...)
	code, err := m.engine.Exec(ctx, do.Container, docker.Command{Argv: argv}, nil, &said, &said)
	if err == nil && code != 0 {
		err = fmt.Errorf("rabbitmqctl in the broker's container ended with %d: %s", code, strings.TrimSpace(said.String()))
	}
	if err != nil {
		return err
	}
	_, err = a.setLogins(ctx, m, do.Logins)
	return err
}
