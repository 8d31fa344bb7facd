package main

import (
	"context"
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

// monitorPort is the port here that is taken when it is free.
const monitorPort = "5555"

// tunnel lets a browser on this machine reach the monitor until ctx ends, and prints a link that logs in.
func (c *command) tunnel(ctx context.Context, cluster *infra.Cluster) error {
	dial := cluster.DialMonitor()
	first, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, err := dial(first)
	if err != nil {
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("reach the monitor on %s: %w", cluster.Record.Master, err), Remedy: "check-status --logs monitor shows what it says"}
	}
	_ = conn.Close() // it was to see whether one can be had
	l, err := listen(ctx)
	if err != nil {
		return fmt.Errorf("listen for a browser: %w", err)
	}
	defer l.Close()
	page := "http://" + l.Addr().String() + "/"
	if cluster.Record.Exposed { // it speaks TLS on its only port
		page = "https" + strings.TrimPrefix(page, "http")
	}
	said, err := cluster.LoginLink(first, page)
	if err != nil {
		return err
	}
	link, ok := checkedLink(said, page)
	if !ok {
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("the monitor on %s printed %.200q instead of a login link", cluster.Record.Master, said),
			Remedy: "infrainit -f brings it to this release"}
	}
	fmt.Fprintf(c.stdout, "the monitor is at %s until you press Ctrl-C here. Open this to log in; it works once, for five minutes:\n%s\n", page, link)
	f := &forwarder{dial: dial, fault: func(err error) { fmt.Fprintln(c.stderr, "note: reach the monitor: "+cli.Visible(err.Error())) }}
	return f.run(ctx, l, cluster.Done())
}

// loginCode is the code of a link, as the monitor makes it.
var loginCode = regexp.MustCompile(`^[A-Z2-7]{26,64}$`)

// checkedLink is the link that the monitor's container made, if it leads to the login of page and has a code and nothing else:
// it is printed for people to open, and a container may say anything.
func checkedLink(said, page string) (link string, ok bool) {
	code, ok := strings.CutPrefix(said, page+"login?code=")
	return said, ok && loginCode.MatchString(code)
}

// listen takes the usual port of this machine, or any.
func listen(ctx context.Context) (net.Listener, error) {
	var config net.ListenConfig
	l, err := config.Listen(ctx, "tcp", net.JoinHostPort("127.0.0.1", monitorPort))
	if err != nil {
		l, err = config.Listen(ctx, "tcp", "127.0.0.1:0")
	}
	return l, err
}

// forwarder joins each connection that comes to one of its own.
type forwarder struct {
	dial  infra.Dial
	fault func(error) // is told why one could not be had, one at a time
	mu    sync.Mutex
}

// dialTime is how long a connection to the monitor may take.
const dialTime = 10 * time.Second

// run serves a listener until ctx ends or gone is closed, and ends with all connections.
func (f *forwarder) run(ctx context.Context, l net.Listener, gone <-chan struct{}) error {
	ctx, stop := context.WithCancel(ctx)
	var all sync.WaitGroup
	defer all.Wait()
	defer stop()
	accepted := make(chan error, 1)
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				accepted <- err
				return
			}
			all.Go(func() { f.serve(ctx, conn) })
		}
	})
	defer l.Close()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-gone:
		return &cli.Error{Code: cli.Unreachable, Err: fmt.Errorf("lost the connection to the master's host"), Remedy: "run it again when the host is back"}
	case err := <-accepted:
		return err
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

// pass moves bytes one way, and then their end. A way that breaks ends the other, too.
func pass(to, from net.Conn) {
	_, err := io.Copy(to, from)
	if half, ok := to.(interface{ CloseWrite() error }); ok && err == nil {
		_ = half.CloseWrite() // who is gone does not hear it
		return
	}
	to.Close()
	from.Close()
}
