package infra

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"mlframework/infra/layout"
	"mlframework/infra/remote"
)

// Locked is a host on which somebody else is at work.
type Locked struct {
	Host   string
	Holder string // who, since when, why; as they wrote it
}

func (l *Locked) Error() string {
	return fmt.Sprintf("%s: somebody is at work on this cluster: %s; wait until they are done, or take the lock away with --break-lock", l.Host, l.Holder)
}

// holding holds a lock on a host for as long as its input is open: the lock dies with whoever made it, and with the
// connection. Its arguments are the file that is locked, who does it, and "yes" to take it away from others.
const holding = `
umask 077
lock=$1
mkdir -p "$(dirname "$1")" || exit 1
[ "$3" != yes ] || rm -f "$lock"
exec 9>>"$lock" || exit 1
if ! flock -n 9; then
	echo "held $(tr '\n' ' ' <"$lock")"
	exit 0
fi
printf '%s\n' "$2" >"$lock"
echo locked
cat >/dev/null
: >"$lock"
`

// lock takes the lock of a host's folder. It is held until the connection that is returned is closed.
func (u *up) lock(ctx context.Context, m *machine) (net.Conn, error) {
	holder := fmt.Sprintf("%s, since %s: infrainit", u.o.Who, u.o.Now().UTC().Format(time.RFC3339))
	taken := "no"
	if u.request.BreakLock {
		taken = "yes"
	}
	conn, err := m.host.Pipe(ctx, remote.Command{Argv: []string{"sh", "-c", holding, "sh",
		layout.Root(m.found.Root).Lock(), holder, taken}})
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if !stop() {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("lock %s: %w", m.found.Root, err), conn.Close())
	}
	answer = strings.TrimSpace(answer)
	if answer != "locked" {
		_ = conn.Close()
		return nil, &Locked{m.name, strings.TrimPrefix(answer, "held ")}
	}
	return conn, nil
}

// sessionTime is how long a host may take for a command beside its lock. A busy one takes seconds.
const sessionTime = 20 * time.Second

// sessions makes sure that commands run on hosts beside their locks: a lock is one of the sessions
// of its connection, and the next waits for ever where sshd allows no other.
func (u *up) sessions(ctx context.Context, locked []string) error {
	limited, stop := context.WithTimeout(ctx, sessionTime)
	defer stop()
	errs := u.each(locked, func(m *machine) error {
		return m.host.Run(limited, remote.Command{Argv: []string{"true"}})
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	all := problems(errs)
	for i, p := range all {
		e, ok := errors.AsType[*remote.Error](errs[p.Host])
		none := ok && e.Kind == remote.NoSession
		if none || errors.Is(errs[p.Host], context.DeadlineExceeded) {
			all[i].Unreached = false
			all[i].What = "its sshd opens no second session on a connection (MaxSessions 1)"
			all[i].Remedy = "set MaxSessions to 2 or more in its sshd_config; the default is 10"
		}
	}
	return orNil(all)
}
