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
		Name: "agent", Usage: "carry out requests of commands on another machine",
		Action: c.agent,
		Description: `Serves requests of infrainit, update-files, check-status and run-tasks, which
start it over ssh: HTTP/2 on standard input and output. It listens on no socket.

EXAMPLES:
   # what infrainit starts on a host
   sweepd agent --program ~/.cache/mlframework/sweepd-SHA256`,
		Flags: []cliv2.Flag{
			&cliv2.StringFlag{Name: "program",
				Usage: "`FILE` that this program is, in the user's cache"},
			&cliv2.IntFlag{Name: "made", Usage: "`NUMBER` of folders above that were made for it"},
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
