package cli

import (
	"context"
	"errors"
	"net"
	"syscall"
)

// monitorPort is the port of the monitor on this machine, unless it is taken.
const monitorPort = "5555"

// Pages returns where a browser on this machine finds web pages that an address serves. page has a
// host name below localhost that the browser uses for nothing else, so that no other program on this
// machine is sent its cookies. fallback has the address, for browsers that do not resolve such
// names.
func Pages(name, address string) (page, fallback string) {
	_, port, _ := net.SplitHostPort(address) // of a listener
	return "http://" + name + ".localhost:" + port + "/", "http://" + address + "/"
}

// ListenLoopback takes monitorPort, or a free port if that is taken, on every address to which browsers
// resolve localhost: another user could listen on one that is left out.
func ListenLoopback(ctx context.Context) (all []net.Listener, err error) {
	for _, port := range []string{monitorPort, "0", "0", "0", "0"} {
		if all, err = listenAt(ctx, port); err == nil {
			return all, nil
		}
	}
	return nil, err
}

// listenAt takes a port on 127.0.0.1 and, where there is IPv6, on ::1. The listener on 127.0.0.1 is
// the first.
func listenAt(ctx context.Context, port string) ([]net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		return nil, err
	}
	_, port, _ = net.SplitHostPort(l.Addr().String()) // of a listener
	l6, err := config.Listen(ctx, "tcp6", net.JoinHostPort("::1", port))
	switch {
	case err == nil:
		return []net.Listener{l, l6}, nil
	case errors.Is(err, syscall.EADDRINUSE) || errors.Is(err, syscall.EACCES):
		return nil, errors.Join(err, l.Close())
	}
	return []net.Listener{l}, nil // there is no IPv6
}

// CloseAll closes listeners.
func CloseAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close() // it accepts nothing afterwards, even on an error
	}
}
