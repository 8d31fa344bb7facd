package infra

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
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

// lock takes the lock of a host's folder over a connection to it. It is held until the connection that is returned is closed.
func (u *up) lock(ctx context.Context, m *machine, on remote.Host) (net.Conn, error) {
	holder := fmt.Sprintf("%s, since %s: infrainit", u.o.Who, u.o.Now().UTC().Format(time.RFC3339))
	taken := "no"
	if u.request.BreakLock {
		taken = "yes"
	}
	conn, err := on.Pipe(ctx, remote.Command{Argv: []string{"sh", "-c", holding, "sh", layout.Root(m.found.Root).Lock(), holder, taken}})
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

// sessionTime is how long a host may take for a session beside that of its lock.
const sessionTime = 2 * time.Second

// apart gives locks a connection of their own on hosts that take no command beside them: a lock is one of the sessions of its
// connection, and sshd may allow no other (MaxSessions 1).
func (u *up) apart(ctx context.Context, held map[string]net.Conn) error {
	full := u.each(sortedKeys(held), func(m *machine) error {
		ctx, cancel := context.WithTimeout(ctx, sessionTime)
		defer cancel()
		return m.host.Run(ctx, remote.Command{Argv: []string{"true"}})
	})
	for _, n := range sortedKeys(full) {
		letGo(ctx, held[n])
		delete(held, n)
		conn, err := u.lockApart(ctx, u.machines[n])
		if err != nil {
			return err
		}
		held[n] = conn
	}
	return nil
}

// letGo gives a lock back, and waits until its host has noticed: else whoever takes it next may find it held.
func letGo(ctx context.Context, lock net.Conn) {
	defer lock.Close()
	defer context.AfterFunc(ctx, func() { lock.Close() })()
	if half, ok := lock.(interface{ CloseWrite() error }); ok && half.CloseWrite() == nil {
		_, _ = io.Copy(io.Discard, lock)
	}
}

func (u *up) lockApart(ctx context.Context, m *machine) (net.Conn, error) {
	on, err := u.o.Dialer.Connect(ctx, m.target)
	if err != nil {
		return nil, err
	}
	conn, err := u.lock(ctx, m, on)
	if err != nil {
		return nil, errors.Join(err, on.Close())
	}
	return lockAlone{conn, on}, nil
}

// lockAlone is a lock with the connection to its host.
type lockAlone struct {
	net.Conn
	on remote.Host
}

func (l lockAlone) Close() error { return errors.Join(l.Conn.Close(), l.on.Close()) }
