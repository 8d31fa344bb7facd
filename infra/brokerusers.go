package infra

import (
	"bytes"
	"context"
	"fmt"
	"path"
	"strings"

	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/plan"
)

// brokerFiles writes what the broker reads when it starts.
func (a *applier) brokerFiles(ctx context.Context, m *connectedHost, do plan.Secrets) error {
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
	a.onRotationFailure(m, do, broker.Secrets.Files)
	return m.put(ctx, do.Dir, secrets.Files(), do.UID, do.GID)
}

// haveUsers runs in the broker's container: it takes the definitions of $1, deletes all users but
// those that follow $2, and has new connections meet the certificate that lies there. Then it
// closes all connections when $2 is not empty. rabbitmqctl returns when the definitions are in
// effect (rabbit_definitions:apply_defs), though it says otherwise, and RabbitMQ closes the
// connections of users that it deletes (rabbit_connection_tracking).
const haveUsers = `rabbitmqctl -q import_definitions "$1" >&2 || exit
close=$2
shift 2
users=$(rabbitmqctl -q list_users --no-table-headers) || exit
echo "$users" | while read -r user tags; do
	for known; do [ "$known" != "$user" ] || continue 2; done
	rabbitmqctl -q delete_user "$user" </dev/null >&2 || exit
done || exit
rabbitmqctl -q eval 'ssl:clear_pem_cache().' >&2 || exit
[ -z "$close" ] || rabbitmqctl -q close_all_connections "$close" >&2`

// users has the broker that runs have the users of its files, and no others.
func (a *applier) users(ctx context.Context, m *connectedHost, do plan.Users) error {
	if do.Back != nil {
		a.onFailure(m, "take the new users from the broker", func(ctx context.Context) error {
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
	argv := append([]string{"sh", "-c", haveUsers, "sh", path.Join(broker.Folder,
		broker.DefinitionsFile), why}, do.Logins.Users...)
	code, err := m.engine.Exec(ctx, do.Container, docker.Command{Argv: argv}, nil, &said, &said)
	if err == nil && code != 0 {
		err = fmt.Errorf("rabbitmqctl in the broker's container ended with %d: %s", code,
			strings.TrimSpace(said.String()))
	}
	if err != nil {
		return err
	}
	_, err = a.setLogins(ctx, m, do.Logins)
	return err
}
