// Command run-tasks runs the tasks of a project: every combination of its parameters, on this
// machine or through a master on the machines of its workers.
//
// Nothing imports it. It may import everything.
package main

import (
	"context"
	"os"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/worker/process"
)

func main() {
	c := &command{executor: process.Guarded(), terminal: terminal{self: "run-tasks",
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		messages: &display.Messages{Stderr: os.Stderr}}}
	os.Exit(c.main(context.Background(), os.Args))
}

// command is one call of the program. Its methods find the sweeps that the call is about.
type command struct {
	terminal
	executor bool     // this process is the one of the pair that does the work
	args     []string // of the command line, up to "--"
	argv     []string // the command after "--"; nil: none
}

func (c *command) main(ctx context.Context, args []string) int {
	if os.Getenv(completionVariable) != "" {
		c.complete(ctx, args[1:])
		return cli.OK
	}
	args, c.argv = splitCommand(c.app(), args)
	c.args = args[1:]
	return cli.Run(ctx, c.app(), cli.CommandHelp("Exit codes: run-tasks --help\n"), args, c.problem)
}
