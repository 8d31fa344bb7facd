package main

import (
	"errors"
	"io"
	"net"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

func (c *command) relayCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "relay", Action: c.relay,
		Usage: "connect standard input and output to a master's socket",
		Description: `Commands on other machines use it, in the master's container, where sshd does
not forward Unix sockets.

EXAMPLES:
   sweepd relay --socket /run/sweeps.sock`,
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "socket", Usage: "`PATH` of the master's socket"},
		},
	}
}

func (c *command) relay(ctx *cliv2.Context) error {
	if err := plain(ctx, "socket"); err != nil {
		return err
	}
	conn, err := net.Dial("unix", ctx.String("socket"))
	if err != nil {
		return &cli.Error{Code: cli.Unreachable, Err: err}
	}
	defer conn.Close()
	sent := make(chan error, 1)
	go func() {
		_, err := io.Copy(conn, os.Stdin)
		sent <- errors.Join(err, conn.(*net.UnixConn).CloseWrite())
	}()
	if _, err := io.Copy(c.stdout, conn); err != nil {
		return err
	}
	select {
	case err = <-sent:
	default: // the master has hung up, and what is still typed is for nobody
	}
	return err
}
