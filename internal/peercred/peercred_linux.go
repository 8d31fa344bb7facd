// Package peercred tells which user a process is at the other end of a Unix socket.
package peercred

import (
	"net"
	"syscall"
)

// UID returns the number of the user whose process listened for a connection or, for one that was
// accepted, connected (SO_PEERCRED, unix(7)).
func UID(c *net.UnixConn) (uid int, err error) {
	raw, err := c.SyscallConn()
	if err != nil {
		return 0, err
	}
	var credentials *syscall.Ucred
	var failed error
	err = raw.Control(func(fd uintptr) {
		credentials, failed = syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET,
			syscall.SO_PEERCRED)
	})
	if err != nil {
		return 0, err
	}
	if failed != nil {
		return 0, failed
	}
	return int(credentials.Uid), nil
}
