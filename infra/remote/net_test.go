package remote_test

import (
	"io"
	"net"
	"syscall"
	"testing"
)

// talk says something, ends its side, and wants an answer up to the end.
func talk(t *testing.T, c net.Conn, say, want string) {
	t.Helper()
	if _, err := io.WriteString(c, say); err != nil {
		t.Fatal(err)
	}
	if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(c); err != nil || string(got) != want {
		t.Errorf("got %q, %v, want %q", got, err, want)
	}
}

func freePort(t *testing.T) int {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

// closedPort is one on which nobody listens, during the test: it is taken.
func closedPort(t *testing.T) int {
	t.Helper()
	socket, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	syscall.CloseOnExec(socket)
	t.Cleanup(func() { _ = syscall.Close(socket) })
	if err := syscall.Bind(socket, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0,
		1}}); err != nil {
		t.Fatal(err)
	}
	at, err := syscall.Getsockname(socket)
	if err != nil {
		t.Fatal(err)
	}
	return at.(*syscall.SockaddrInet4).Port
}
