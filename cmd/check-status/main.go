// Command check-status shows how a cluster is: its hosts and containers, its workers, its broker, what runs, and what is wrong.
//
// Nothing imports it. It may import everything.
package main

import (
	"context"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
)

func main() {
	c := &command{stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.main(context.Background(), os.Args))
}

// command is one call of the program.
type command struct{ stdout, stderr *os.File }

func (c *command) main(ctx context.Context, args []string) int {
	return cli.Run(ctx, c.app(), "", args, site.Explain)
}

const help = `check-status - shows how the cluster of config.yml is

USAGE:
   check-status [--json]                   hosts, workers, broker, sweeps, and
                                           at the end what is wrong
   check-status --watch [SECONDS]          again and again, until Ctrl-C
   check-status --monitor                  open a way to the monitor, for a
                                           browser here, until Ctrl-C
   check-status --logs HOST [--follow]     what a host's worker printed
   check-status --logs master|broker|monitor [--follow]
   check-status --audit                    who asked the master for what

It asks the hosts, their Docker, the broker and the master themselves. One that
does not answer is listed, and holds up the others for seconds at most.

OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}

--json prints one object; docs/check-status.md says what is in it.

EXIT CODES:
   0    all is as it should be, or what was asked for was shown
   1    something is wrong, and what; everything else goes on
   2    the command line is wrong
   3    config.yml is wrong or missing
   4    the master's host cannot be reached, or has no such cluster; with
        --logs: the host that was named
   5    this machine is at fault
   130  interrupted before there was an answer
`

func (c *command) app() *cliv2.App {
	app := cli.App("check-status", "shows how a cluster is", help, c.stdout, c.stderr,
		cli.ConfigFlag(),
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "json", Usage: "as a JSON object, on one line"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "watch", Usage: "again every SECONDS, 2 unless given"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "monitor", Usage: "open a way to the monitor and print a link that logs in once"},
		&cliv2.StringFlag{Name: "logs", Usage: "print the log of the worker on `HOST`, or of master, broker or monitor"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "audit", Usage: "print who asked the master for what, the newest last"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "follow", Usage: "with --logs: go on until Ctrl-C"},
		&cliv2.IntFlag{Name: "tail", DefaultText: "all; with --audit 50", Usage: "with --logs and --audit: only the last `N`"},
	)
	app.Action = c.check
	return app
}
