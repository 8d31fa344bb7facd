package main

import (
	"context"
	"crypto/tls"
	"fmt"
	"log/slog"
	"net"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/monitor"
	"mlframework/sweep/worker/process"
)

// masterTime is how long a master may be silent, and not only slow, before the pages say that it is
// away.
const masterTime = 5 * time.Second

// monitorPort is where the monitor listens unless told otherwise.
const monitorPort = "127.0.0.1:5555"

func (c *command) monitorCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "monitor", Usage: "show sweeps, tasks and workers in a browser", Action: c.monitor,
		Description: "Serves web pages for a master until SIGTERM. To log in, use a link from\n" +
			"`sweepd monitor link`, or the token in the file token in the state folder.\n\n" +
			`EXAMPLES:
   sweepd monitor --state /var/lib/monitor --master /run/sweeps.sock
   # print a login link
   sweepd monitor link --state /var/lib/monitor`,
		Flags: []cliv2.Flag{
			stateFlag(),
			&cliv2.StringFlag{Name: "master", Usage: "`PATH` of the master's socket"},
			&cliv2.StringFlag{Name: "listen", Value: monitorPort,
				Usage: "listen on `ADDRESS:PORT`"},
			&cliv2.StringFlag{Name: "prefix", DefaultText: "none",
				Usage: "`PATH` under which a proxy serves the pages"},
			&cliv2.StringSliceFlag{Name: "host",
				Usage: "additional host `NAME` that browsers may use, besides 127.0.0.1, " +
					"localhost and [::1]; can be given more than once"},
			&cliv2.StringFlag{Name: "cluster", DefaultText: "none",
				Usage: "`NAME` of the cluster and of the login cookie; browsers may also use " +
					"NAME.localhost"},
			&cliv2.StringFlag{Name: "tls-cert", Usage: "`FILE` with the certificate chain"},
			&cliv2.StringFlag{Name: "tls-key", Usage: "`FILE` with the certificate's private key"},
			cli.Switch("published-on-loopback", "allow --listen on all addresses without TLS, "+
				"if the port is published only on this machine, as with "+
				"docker run -p 127.0.0.1:5555:5555"),
		},
		Subcommands: []*cliv2.Command{c.monitorLinkCommand()},
	}
}

func (c *command) monitorLinkCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "link", Action: c.monitorLink,
		Usage: "print a login link for a monitor",
		Description: `The link works once and expires after five minutes.

EXAMPLES:
   sweepd monitor link --state /var/lib/monitor
   # print a read-only link
   sweepd monitor link --state /var/lib/monitor --viewer`,
		Flags: []cliv2.Flag{
			stateFlag(),
			&cliv2.StringFlag{Name: "url", Value: "http://" + monitorPort + "/",
				Usage: "`URL` of the monitor in the browser, with the prefix"},
			cli.Switch("viewer", "allow read-only access"),
			&cliv2.StringFlag{Name: "user", DefaultText: "monitor",
				Usage: "record the actions of this login under `NAME`"},
		},
	}
}

func stateFlag() cliv2.Flag {
	return &cliv2.StringFlag{Name: "state",
		Usage: "`FOLDER` for login tokens; created on the first start"}
}

func (c *command) monitorLink(ctx *cliv2.Context) error {
	if err := plain(ctx, "state"); err != nil {
		return err
	}
	role := monitor.Operator
	if ctx.Bool("viewer") {
		role = monitor.Viewer
	}
	link, err := monitor.Link(ctx.String("state"), ctx.String("url"), role, ctx.String("user"),
		time.Now())
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	_, err = fmt.Fprintln(c.stdout, link)
	return err
}

func (c *command) monitor(ctx *cliv2.Context) error {
	if err := plain(ctx, "state", "master"); err != nil {
		return err
	}
	secure := ctx.String("tls-cert") != ""
	if secure != (ctx.String("tls-key") != "") {
		return cli.Wrong("", "--tls-cert and --tls-key belong together")
	}
	if err := mayListen(ctx.String("listen"), secure,
		ctx.Bool("published-on-loopback")); err != nil {
		return err
	}
	if err := process.ProtectMemory(); err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	log := cli.Log(c.stderr)
	client := api.Dial(ctx.String("master"))
	client.User, client.GiveUp = "monitor", masterTime
	defer client.Close()
	m, err := monitor.New(monitor.Options{Master: client, State: ctx.String("state"),
		Prefix: ctx.String("prefix"), Hosts: ctx.StringSlice("host"),
		Cluster: ctx.String("cluster"), LinkCommand: "check-status --monitor", Secure: secure,
		Log: log})
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	listener, err := listenTCP(ctx.Context, ctx.String("listen"), ctx.String("tls-cert"),
		ctx.String("tls-key"), log)
	if err != nil {
		return &cli.Error{Code: cli.Machine, Err: err}
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	log.Info("monitor started", "listen", listener.Addr().String(), "state", ctx.String("state"))
	return m.Run(work, listener)
}

// mayListen refuses addresses at which the token would go over a network in the clear. A process in
// a container cannot see how its port is published: --published-on-loopback says so.
func mayListen(address string, secure, published bool) error {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return cli.Wrong("write it as 127.0.0.1:5555", "--listen %s is not an address: %w",
			address, err)
	}
	ip := net.ParseIP(host)
	if secure || published || host == "localhost" || ip != nil && ip.IsLoopback() {
		return nil
	}
	return cli.Wrong("listen on "+monitorPort+", or give --tls-cert and --tls-key; in a container "+
		"whose port is published on 127.0.0.1 alone, give --published-on-loopback",
		"--listen %s may be reached from other machines, and there is no TLS", address)
}

// listenTCP listens at an address, with TLS where there are files of a certificate.
func listenTCP(
	ctx context.Context, address, cert, key string, log *slog.Logger,
) (net.Listener, error) {
	if cert == "" {
		return new(net.ListenConfig).Listen(ctx, "tcp", address)
	}
	c, err := readCertificate(cert, key, log)
	if err != nil {
		return nil, err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, err
	}
	return tls.NewListener(l, &tls.Config{GetCertificate: c.get, MinVersion: tls.VersionTLS12,
		NextProtos: []string{"http/1.1"}}), nil
}
