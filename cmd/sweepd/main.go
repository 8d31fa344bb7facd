// Command sweepd is what runs on the hosts of a cluster: the master, which owns the store and decides, the workers, which
// run tasks, and the monitor, web pages over the master's API. The broker, RabbitMQ, stands between master and workers.
//
// Nothing imports it. It may import everything.
package main

import (
	"context"
	"os"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

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
	return cli.Run(ctx, c.app(), commandHelp, args, func(err error) error { return err })
}

const exitCodes = `EXIT CODES:
   0    it ended because it was asked to, or the broker answers
   2    the command line is wrong
   4    the broker cannot be reached (check)
   5    this machine is at fault: disk full, folder not writable; store, port, name or folder in use
   6    a worker ended to be started again, as somebody asked of the master
   130  a second signal ended it at once
`

const appHelp = `sweepd - the parts of a cluster: what infrainit starts on hosts

USAGE:
   sweepd COMMAND [options]

COMMANDS:
{{range .VisibleCommands}}   {{.Name}}{{"\t"}}{{.Usage}}
{{end}}
` + exitCodes

const commandHelp = `{{.HelpName}} - {{.Usage}}

USAGE:
   sweepd {{.Name}}{{with .ArgsUsage}} {{.}}{{end}} [options]
{{if .Description}}
{{.Description}}
{{end}}
OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}

` + exitCodes

func (c *command) app() *cliv2.App {
	app := cli.App("sweepd", "the parts of a cluster", appHelp, c.stdout, c.stderr)
	app.Action = noCommand
	app.Commands = []*cliv2.Command{c.masterCommand(), c.workerCommand(), c.monitorCommand(), c.filesCommand(), c.checkCommand(), c.usersCommand(),
		c.relayCommand(), c.versionCommand()}
	return app
}

func noCommand(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return cli.Wrong("sweepd --help lists them", "there is no command %s", ctx.Args().First())
	}
	_ = cliv2.ShowAppHelp(ctx)
	return cli.Code(cli.Usage)
}

// plain checks what the library does not: no arguments, and every option that is needed.
func plain(ctx *cliv2.Context, needed ...string) error {
	if ctx.NArg() > 0 {
		return cli.Wrong("", "%q is one argument too many", ctx.Args().First())
	}
	var missing []string
	for _, name := range needed {
		if ctx.String(name) == "" {
			missing = append(missing, "--"+name)
		}
	}
	if len(missing) > 0 {
		return cli.Wrong("sweepd "+ctx.Command.Name+" --help says what each is", "missing: %s", strings.Join(missing, ", "))
	}
	return nil
}
