package server

import (
	"net"
	"syscall"
)

// peerOf asks the kernel who opened a connection (SO_PEERCRED, unix(7)).
func peerOf(c net.Conn) (p peer) {
	u, ok := c.(*net.UnixConn)
	if !ok {
		return p
	}
	raw, err := u.SyscallConn()
	if err != nil {
		return p
	}
	_ = raw.Control(func(fd uintptr) {
		credentials, err := syscall.GetsockoptUcred(int(fd), syscall.SOL_SOCKET,
			syscall.SO_PEERCRED)
		if err == nil {
			p = peer{int(credentials.Uid), true}
		}
	})
	return p
}
