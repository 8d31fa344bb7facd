package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
	"mlframework/sweep/worker/process"
)

// masterTime is how long a master may be silent, and not only slow, before the pages say that it is away.
const masterTime = 5 * time.Second

// monitorPort is where the monitor listens unless told otherwise.
const monitorPort = "127.0.0.1:5555"

func (c *command) monitorCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "monitor", Usage: "shows sweeps, tasks and workers in a browser", Action: c.monitor, ArgsUsage: "[link]",
		Description: "It asks the master through its socket, and runs until SIGTERM. Who reads has to log\n" +
			"in: with the token in the state folder's file token (viewer-token: may only read), or\n" +
			"with a link. `sweepd monitor link --state FOLDER` prints one, which works once and for\n" +
			"five minutes.",
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "state", Usage: "`FOLDER` of the tokens; made at the first start"},
			&cliv2.StringFlag{Name: "master", Usage: "`PATH` of the master's socket"},
			&cliv2.StringFlag{Name: "listen", Value: monitorPort, Usage: "`ADDRESS:PORT` to listen on"},
			&cliv2.StringFlag{Name: "prefix", DefaultText: "none", Usage: "`PATH` that all paths begin with, as a proxy passes them on"},
			&cliv2.StringSliceFlag{Name: "host", Usage: "a `NAME` that browsers come by, beside 127.0.0.1, localhost and [::1]; may be given again"},
			&cliv2.StringFlag{Name: "tls-cert", Usage: "`FILE` with the certificate, and what leads from it to an authority"},
			&cliv2.StringFlag{Name: "tls-key", Usage: "`FILE` with its key"},
			&cliv2.BoolFlag{Name: "published-on-loopback", Usage: "whoever starts it sees to it that the port is reached from this machine alone, as by docker run -p 127.0.0.1:5555:5555"},
			&cliv2.StringFlag{Name: "url", Value: "http://" + monitorPort + "/", Usage: "of link: the monitor's `URL` as the browser has it, with the prefix"},
			&cliv2.BoolFlag{Name: "viewer", Usage: "of link: whoever uses it may only read"},
		},
	}
}

func (c *command) monitor(ctx *cliv2.Context) error {
	switch ctx.Args().First() {
	case "":
		return c.serveMonitor(ctx)
	case "link":
		return c.monitorLink(ctx)
	}
	return cli.Wrong("sweepd monitor --help says what there is", "monitor knows no %s", ctx.Args().First())
}

// misplaced refuses options of the other way to call the command.
func misplaced(ctx *cliv2.Context, options ...string) error {
	for _, name := range options {
		if ctx.IsSet(name) {
			return cli.Wrong("sweepd monitor --help says which option belongs where", "--%s has no meaning here", name)
		}
	}
	return nil
}

func (c *command) monitorLink(ctx *cliv2.Context) error {
	if ctx.NArg() > 1 {
		return cli.Wrong("", "%q is one argument too many", ctx.Args().Get(1))
	}
	if ctx.String("state") == "" {
		return cli.Wrong("it is the --state of the monitor that runs", "missing: --state")
	}
	if err := misplaced(ctx, "master", "listen", "prefix", "host", "tls-cert", "tls-key", "published-on-loopback"); err != nil {
		return err
	}
	role := monitor.Operator
	if ctx.Bool("viewer") {
		role = monitor.Viewer
	}
	link, err := monitor.Link(ctx.String("state"), ctx.String("url"), role, time.Now())
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	_, err = fmt.Fprintln(c.stdout, link)
	return err
}

func (c *command) serveMonitor(ctx *cliv2.Context) error {
	if err := plain(ctx, "state", "master"); err != nil {
		return err
	}
	if err := misplaced(ctx, "url", "viewer"); err != nil {
		return err
	}
	secure := ctx.String("tls-cert") != ""
	if secure != (ctx.String("tls-key") != "") {
		return cli.Wrong("", "--tls-cert and --tls-key belong together")
	}
	if err := mayListen(ctx.String("listen"), secure, ctx.Bool("published-on-loopback")); err != nil {
		return err
	}
	if err := process.ProtectMemory(); err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	log := cli.Log(c.stderr)
	client := api.Dial(ctx.String("master"))
	client.User, client.GiveUp = "monitor", masterTime
	defer client.Close()
	m, err := monitor.New(monitor.Options{Master: client, State: ctx.String("state"), Prefix: ctx.String("prefix"), Hosts: ctx.StringSlice("host"), Secure: secure, Log: log})
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	listener, err := listenTCP(ctx.Context, ctx.String("listen"), ctx.String("tls-cert"), ctx.String("tls-key"))
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	log.Info("monitor started", "listen", listener.Addr().String(), "state", ctx.String("state"))
	return m.Run(work, listener)
}

// mayListen refuses what would let the token go over a network in the clear. A process in a container cannot see how its
// port is published: who starts it has to say so.
func mayListen(address string, secure, published bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return cli.Wrong("write it as 127.0.0.1:5555", "--listen %s is no address: %w", address, err)
	}
	ip := net.ParseIP(host)
	if secure || published || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return cli.Wrong("listen on "+monitorPort+", or give --tls-cert and --tls-key; in a container whose port is published on 127.0.0.1 alone, give --published-on-loopback",
		"--listen %s may be reached from other machines, and there is no TLS", address)
}

func listenTCP(ctx context.Context, address, cert, key string) (net.Listener, error) {
	var pair tls.Certificate
	if cert != "" {
		var err error
		if pair, err = tls.LoadX509KeyPair(cert, key); err != nil {
			return nil, fmt.Errorf("read %s and %s: %w", cert, key, err)
		}
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil || cert == "" {
		return l, err
	}
	return tls.NewListener(l, &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12, NextProtos: []string{"http/1.1"}}), nil
}
