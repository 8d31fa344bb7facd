package cli_test

import (
	"net"
	"testing"

	"mlframework/cmd/internal/cli"
)

// Browsers resolve names below localhost to both loopback addresses: another user must not get one
// of them.
func TestListenLoopback(t *testing.T) {
	t.Parallel()
	first, err := cli.ListenLoopback(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer cli.CloseAll(first)
	six, err := net.Listen("tcp6", "[::1]:0")
	if err != nil {
		t.Skip("there is no IPv6")
	}
	defer six.Close()
	if len(first) != 2 || port(first[0]) != port(first[1]) {
		t.Errorf("listens at %d addresses", len(first))
	}
	again, err := cli.ListenLoopback(t.Context())
	if err != nil || port(again[0]) == port(first[0]) {
		t.Errorf("%v, %v", again, err)
	}
	cli.CloseAll(again)
}

func port(l net.Listener) string {
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}
