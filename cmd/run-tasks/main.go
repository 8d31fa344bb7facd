// Command run-tasks runs the tasks of a project: every combination of its parameters, on this
// machine or through a master on the machines of its workers.
//
// Nothing imports it. It may import everything.
package main

import (
	"context"
	"io"
	"os"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/worker/process"
)

func main() {
	c := &command{executor: process.Guarded(), self: "run-tasks", stdin: os.Stdin,
		stdout: os.Stdout, stderr: os.Stderr,
		messages: &display.Messages{Stderr: os.Stderr}}
	os.Exit(c.main(context.Background(), os.Args))
}

// command is one call of the program.
type command struct {
	executor bool // this process is the one of the pair that does the work
	// how hints begin: the program, and the master that was named
	self           string
	waitsForMaster bool     // a master that is silent is waited for: what follows does
	argv           []string // the command after "--"; nil: none
	succeeded      []string // earlier sweeps with the combinations that --missing left out
	stdin          io.Reader
	stdout, stderr *os.File
	messages       *display.Messages // for remarks that come while a sweep may be shown
}

func (c *command) main(ctx context.Context, args []string) int {
	if os.Getenv(completionVariable) != "" {
		c.complete(ctx, args[1:])
		return cli.OK
	}
	args, c.argv = c.splitCommand(args)
	return cli.Run(ctx, c.app(), cli.CommandHelp(cli.ExitCodes), args, c.problem)
}
