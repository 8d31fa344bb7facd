package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
)

// monitorPort is the port on this machine, unless it is taken.
const monitorPort = "5555"

// tunnel lets a browser on this machine reach the monitor until ctx ends, and prints a link that
// logs in.
func (c *command) tunnel(ctx context.Context, cluster *infra.Cluster) error {
	dial := cluster.DialMonitor()
	first, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := dial(first)
	if err != nil {
		return &cli.Error{Code: cli.Failed,
			Err:    fmt.Errorf("reach the monitor on %s: %w", cluster.Record.Master, err),
			Remedy: "check-status --logs monitor shows what it says"}
	}
	_ = conn.Close() // it only shows that the monitor can be reached
	listeners, err := listen(ctx)
	if err != nil {
		return fmt.Errorf("listen for a browser: %w", err)
	}
	defer closeAll(listeners) // also when run is not reached
	address := listeners[0].Addr().String()
	at, fallback := pages(cluster.Name(), address, cluster.Record.Exposed)
	said, err := cluster.LoginLink(first, at)
	if err != nil {
		return &cli.Error{Code: cli.Failed, Err: err,
			Remedy: "infrainit -f brings the monitor to this release"}
	}
	link, ok := checkedLink(said, at)
	if !ok {
		return &cli.Error{Code: cli.Failed,
			Err: fmt.Errorf("the monitor on %s printed %.200q instead of a login link",
				cluster.Record.Master, said),
			Remedy: "infrainit -f brings it to this release"}
	}
	fmt.Fprintf(c.stdout, "the monitor is at %s until you press Ctrl-C here. "+
		"Open this to log in; it works once, for five minutes:\n%s\n", at, link)
	if fallback != "" {
		fmt.Fprintf(c.stdout, "if your browser cannot find this name, open this instead:\n%s\n",
			fallback+strings.TrimPrefix(link, at))
	}
	f := &forwarder{dial: dial, fault: func(err error) {
		fmt.Fprintln(c.stderr, "note: reach the monitor: "+cli.Visible(err.Error()))
	}}
	return f.run(ctx, listeners, cluster.Done())
}

// pages returns where a browser finds the monitor. page has a host name that the browser uses for
// nothing else, so that no other program on this machine is sent its cookies. fallback has the
// address, for browsers that do not resolve names below localhost. The certificate of a monitor
// with TLS has no such names: then page has the address, and fallback is "".
func pages(cluster, address string, secure bool) (page, fallback string) {
	if secure { // it speaks TLS on its only port
		return "https://" + address + "/", ""
	}
	_, port, _ := net.SplitHostPort(address) // of a listener
	page = "http://" + cluster + ".localhost:" + port + "/"
	return page, "http://" + address + "/"
}

// loginCode is the code of a link, as the monitor makes it.
var loginCode = regexp.MustCompile(`^[A-Z2-7]{26,64}$`)

// checkedLink reports whether what the monitor's container printed is a login link: the login of
// page, a code and nothing else. A container may print anything, and people open what they are
// shown.
func checkedLink(said, page string) (link string, ok bool) {
	code, ok := strings.CutPrefix(said, page+"login?code=")
	return said, ok && loginCode.MatchString(code)
}

// listen takes monitorPort, or a free port if that is taken, on every address to which browsers
// resolve localhost: another user could listen on one that is left out.
func listen(ctx context.Context) (all []net.Listener, err error) {
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

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		_ = l.Close() // it accepts nothing afterwards, even on an error
	}
}

// forwarder dials a connection for each one that it accepts, and copies between the two.
type forwarder struct {
	dial  infra.Dial
	fault func(error) // called with each error of dial, never concurrently
	mu    sync.Mutex
}

// dialTime limits how long connecting to the monitor may take.
const dialTime = 10 * time.Second

// run serves listeners until ctx ends or gone is closed, and ends with all connections.
func (f *forwarder) run(ctx context.Context, listeners []net.Listener, gone <-chan struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	accepted := make(chan error, len(listeners))
	for _, l := range listeners {
		all.Go(func() { accepted <- f.accept(ctx, l, &all) })
	}
	defer closeAll(listeners)
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-gone:
		return &cli.Error{Code: cli.Unreachable,
			Err:    errors.New("lost the connection to the master's host"),
			Remedy: "run it again when the host is back"}
	case err := <-accepted:
		return err
	}
}

// accept serves the connections of a listener until that is closed.
func (f *forwarder) accept(ctx context.Context, l net.Listener, all *sync.WaitGroup) error {
	for {
		conn, err := l.Accept()
		if err != nil {
			return err
		}
		all.Go(func() { f.serve(ctx, conn) })
	}
}

func (f *forwarder) serve(ctx context.Context, here net.Conn) {
	defer here.Close()
	limited, cancel := context.WithTimeout(ctx, dialTime)
	there, err := f.dial(limited)
	cancel()
	if err != nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		if ctx.Err() == nil {
			f.fault(err)
		}
		return
	}
	defer there.Close()
	defer context.AfterFunc(ctx, func() { here.Close(); there.Close() })()
	var ways sync.WaitGroup
	ways.Go(func() { pass(here, there) })
	ways.Go(func() { pass(there, here) })
	ways.Wait()
}

// pass copies one direction, and then closes it. An error closes the other direction as well.
func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // fails only if the other end is gone
		return
	}
	to.Close()
	from.Close()
}
