package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"syscall"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/infra/agent/server"
)

func (c *command) agentCommand() *cliv2.Command {
	return &cliv2.Command{
		Name: "agent", Usage: "serve requests from commands on another machine",
		Action: c.agent,
		Description: `Serves requests from infrainit, update-files, check-status and run-tasks, which
start it over SSH. It uses HTTP/2 on standard input and output, and does not
listen on any socket.

EXAMPLES:
   # as started by infrainit on a host
   sweepd agent --program ~/.cache/mlframework/sweepd-SHA256`,
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "program",
				Usage: "`FILE` of this program in the user's cache"},
			&cliv2.IntFlag{Name: "made", Usage: "`NUMBER` of parent folders that were created for it"},
		},
	}
}

func (c *command) agent(ctx *cliv2.Context) error {
	if err := plain(ctx, "program"); err != nil {
		return err
	}
	running, stop := signal.NotifyContext(ctx.Context, os.Interrupt, syscall.SIGTERM,
		syscall.SIGHUP)
	defer stop()
	// A client that went away ends its requests. What the agent runs must not inherit that.
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	conn := &stdio{os.Stdin, c.stdout}
	err := server.Serve(running, conn, server.Options{Program: ctx.String("program"),
		Made: ctx.Int("made")})
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// stdio is this process's standard input and output.
type stdio struct {
	in  *os.File
	out io.Writer
}

func (s *stdio) Read(p []byte) (int, error)  { return s.in.Read(p) }
func (s *stdio) Write(p []byte) (int, error) { return s.out.Write(p) }
func (s *stdio) Close() error                { return s.in.Close() }
