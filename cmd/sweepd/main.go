// Command sweepd is what runs on the hosts of a cluster: the master, which owns the store and
// decides, the workers, which run tasks, and the monitor, web pages over the master's API. The
// broker, RabbitMQ, stands between master and workers.
//
// Nothing imports it. It may import everything.
package main

import (
	"context"
	"os"
	"strings"

	cliv2 "github.com/urfave/cli/v2"
	_ "golang.org/x/crypto/x509roots/fallback" // a container of the master has no certificates

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/worker/process"
)

func main() {
	c := &command{executor: process.Guarded(), stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.main(context.Background(), os.Args))
}

// command is one call of the program.
type command struct {
	executor       bool // this process is the one of a worker's pair that does the work
	stdout, stderr *os.File
}

func (c *command) main(ctx context.Context, args []string) int {
	asIs := func(err error) error { return err }
	return cli.Run(ctx, c.app(), cli.CommandHelp(exitCodes), args, asIs)
}

const exitCodes = `EXIT CODES:
   0    stopped as requested, or the broker can be used (check)
   2    invalid command line
   4    the broker cannot be reached (check)
   5    an error on this machine: disk full, folder not writable; store, broker,
        port, name or folder in use
   6    a worker stopped for a restart (run-tasks workers restart)
   130  stopped immediately by a second signal
`

const usage = "run the parts of a cluster"

const appHelp = `sweepd - ` + usage + `

USAGE:
   sweepd COMMAND [options]

infrainit runs sweepd on the hosts of a cluster. Run it yourself only on
hosts that infrainit does not manage.

EXAMPLES:
   sweepd master --help
   sweepd version

COMMANDS:
{{commands .VisibleCommands}}
` + exitCodes

func (c *command) app() *cliv2.App {
	app := cli.App("sweepd", usage, appHelp, c.stdout, c.stderr)
	app.Action = noCommand
	app.Commands = []*cliv2.Command{c.masterCommand(), c.workerCommand(), c.monitorCommand(),
		c.agentCommand(), c.checkCommand(), c.usersCommand(),
		c.versionCommand()}
	return app
}

func noCommand(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return cli.UnknownCommand(ctx.App.Name, ctx.Args().First(), ctx.App.Commands)
	}
	_ = cliv2.ShowAppHelp(ctx)
	return cli.Code(cli.Usage)
}

// plain checks what the library does not: no arguments, and every option that is needed.
func plain(ctx *cliv2.Context, needed ...string) error {
	if ctx.NArg() > 0 {
		return cli.Wrong("", "unexpected argument %q", ctx.Args().First())
	}
	var missing []string
	for _, name := range needed {
		if ctx.String(name) == "" {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		remedy := "see `" + ctx.Command.HelpName + " --help`"
		return cli.Wrong(remedy, "missing: %s", strings.Join(missing, ", "))
	}
	return nil
}
