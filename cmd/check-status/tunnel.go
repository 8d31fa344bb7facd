package main

import (
	"context"
	"crypto/rand"
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
	listeners, err := listen(ctx)
	if err != nil {
		return fmt.Errorf("listen for a browser: %w", err)
	}
	defer closeAll(listeners) // also where it does not come to run
	note := func(doing string, err error) {
		fmt.Fprintln(c.stderr, "note: "+doing+": "+cli.Visible(err.Error()))
	}
	grant := strings.ToLower(rand.Text())
	at, fallback := pages(cluster.Name(), grant, listeners[0].Addr().String(), cluster.Record.Exposed)
	said, err := cluster.LoginLink(first, at, grant)
	if err != nil {
		return &cli.Error{Code: cli.Failed, Err: err, Remedy: "infrainit -f brings the monitor to this release"}
	}
	revoke := func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), revokeTime)
		defer cancel()
		if err := cluster.RevokeLogin(last, grant); err != nil {
			note("end the sessions of this link, which end by themselves two hours after they were last used", err)
		}
	}
	link, ok := checkedLink(said, at)
	if !ok {
		revoke()
		return &cli.Error{Code: cli.Failed, Err: fmt.Errorf("the monitor on %s printed %.200q instead of a login link", cluster.Record.Master, said),
			Remedy: "infrainit -f brings it to this release"}
	}
	fmt.Fprintf(c.stdout, "the monitor is at %s until you press Ctrl-C here, which logs you out. Open this to log in; it works once, for five minutes:\n%s\n", at, link)
	if fallback != "" {
		fmt.Fprintf(c.stdout, "if your browser cannot find this name, open this instead:\n%s\n", fallback+strings.TrimPrefix(link, at))
	}
	f := &forwarder{dial: dial, ending: revoke, fault: func(err error) { note("reach the monitor", err) }}
	return f.run(ctx, listeners, cluster.Done())
}

// revokeTime is how long the end of the link's sessions may take.
const revokeTime = 5 * time.Second

// pages are where a browser finds the monitor: a name that it uses for nothing else, so that nothing else on this machine
// is sent its cookies, and the address, for browsers that do not know the names below localhost. The certificate of a
// monitor that speaks TLS has no such names; there is the address alone then.
func pages(cluster, grant, address string, secure bool) (page, fallback string) {
	if secure { // it speaks TLS on its only port
		return "https://" + address + "/", ""
	}
	_, port, _ := net.SplitHostPort(address) // of a listener
	return "http://" + localName(cluster) + "-" + grant + ".localhost:" + port + "/", "http://" + address + "/"
}

// longestName is how much of a cluster's name stands in a label of a host, of 63 characters with its grant.
const longestName = 32

// localName returns the name of a cluster as a part of a host.
func localName(cluster string) string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return '-'
	}, strings.ToLower(cluster))
	if name = strings.Trim(name[:min(len(name), longestName)], "-"); name == "" {
		return "monitor"
	}
	return name
}

// loginCode is the code of a link, as the monitor makes it.
var loginCode = regexp.MustCompile(`^[A-Z2-7]{26,64}$`)

// checkedLink is the link that the monitor's container made, if it leads to the login of page and has a code and nothing else:
// it is printed for people to open, and a container may say anything.
func checkedLink(said, page string) (link string, ok bool) {
	code, ok := strings.CutPrefix(said, page+"login?code=")
	return said, ok && loginCode.MatchString(code)
}

// listen takes the usual port of this machine, or any, on all addresses that browsers take localhost for: on one that is
// left, another user could listen.
func listen(ctx context.Context) (all []net.Listener, err error) {
	for _, port := range []string{monitorPort, "0", "0", "0", "0"} {
		if all, err = listenAt(ctx, port); err == nil {
			return all, nil
		}
	}
	return nil, err
}

// listenAt takes a port on 127.0.0.1 and, where there is IPv6, on ::1. The listener on 127.0.0.1 is the first.
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
		_ = l.Close() // nobody can come any more, either way
	}
}

// forwarder joins each connection that comes to one of its own.
type forwarder struct {
	dial infra.Dial
	// ending is called at the end, while the port is still nobody else's.
	ending func()
	fault  func(error) // is told why one could not be had, one at a time
	mu     sync.Mutex
}

// dialTime is how long a connection to the monitor may take.
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
	defer f.ending()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-gone:
		return &cli.Error{Code: cli.Unreachable, Err: fmt.Errorf("lost the connection to the master's host"), Remedy: "run it again when the host is back"}
	case err := <-accepted:
		return err
	}
}

// accept serves what comes to a listener until that is closed.
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
