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
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
)

// tunnel lets a browser on this machine reach the monitor until ctx ends, and prints a link that
// logs in with a role.
func (c *command) tunnel(ctx context.Context, cluster *infra.Cluster, role string) error {
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
	listeners, err := cli.ListenLoopback(ctx)
	if err != nil {
		return fmt.Errorf("listen for a browser: %w", err)
	}
	defer cli.CloseAll(listeners) // also when run is not reached
	address := listeners[0].Addr().String()
	at, fallback := pages(cluster.Name(), address, cluster.Record.Exposed)
	said, err := cluster.LoginLink(first, at, role == viewer)
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
	fmt.Fprintf(c.stdout, "the monitor is at %s until you press Ctrl-C here. Open this to log in%s; "+
		"it works once, for five minutes:\n%s\n", at, map[string]string{viewer: " as a viewer"}[role],
		link)
	if fallback != "" {
		fmt.Fprintf(c.stdout, "if your browser cannot find this name, open this instead:\n%s\n",
			fallback+strings.TrimPrefix(link, at))
	}
	f := &forwarder{dial: dial, fault: func(err error) {
		fmt.Fprintln(c.stderr, "note: reach the monitor: "+cli.Visible(err.Error()))
	}}
	return f.run(ctx, listeners, cluster.Done())
}

// pages returns where a browser finds the monitor, as [cli.Pages] does. The certificate of a monitor
// with TLS has no names below localhost: then page has the address, and fallback is "".
func pages(cluster, address string, secure bool) (page, fallback string) {
	if secure { // it speaks TLS on its only port
		return "https://" + address + "/", ""
	}
	return cli.Pages(cluster, address)
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
	defer cli.CloseAll(listeners)
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
