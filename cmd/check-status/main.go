// Command check-status shows how a cluster is: its hosts and containers, its workers, its broker,
// what runs, and what is wrong.
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

const usage = "show the state of a cluster and any problems"

const help = `check-status - ` + usage + `

USAGE:
   check-status [--json | --watch [SECONDS]]
   check-status --logs HOST|master|broker|monitor [--follow]
   check-status --monitor[=viewer]
   check-status --audit

Shows the hosts, workers, broker and sweeps of the cluster in cluster.yml,
followed by any problems. Queries the hosts, Docker on each host, the broker and
the master. Hosts that do not respond are listed, and delay the output by at
most a few seconds.

EXAMPLES:
   check-status
   # refresh every 5 seconds
   check-status --watch 5
   # print the last lines of the log of the worker on gpu2, and follow it
   check-status --logs gpu2 --tail 20 --follow
   # open a tunnel to the monitor and print a login link
   check-status --monitor

OPTIONS:
{{options .VisibleFlags}}
docs/check-status.md describes the JSON.

EXIT CODES:
   0    no problems, or the requested output was shown
   1    problems were found
   2    invalid command line
   3    invalid or missing cluster.yml
   4    the master's host cannot be reached or has no such cluster; with
        --logs: that host cannot be reached
   5    an error on this machine
   130  interrupted before anything was shown
`

// viewer is who may only read the monitor.
const viewer = "viewer"

func (c *command) app() *cliv2.App {
	app := cli.App("check-status", usage, help, c.stdout, c.stderr,
		cli.ConfigFlag(),
		cli.Switch("json", "print one JSON object"),
		cli.Switch("watch", "refresh every SECONDS, 2 by default, until Ctrl-C"),
		cli.Choice("monitor", "open a tunnel to the monitor and print a one-time login link; "+
			"with --monitor=viewer, for a user who may only read", "operator", viewer),
		&cliv2.StringFlag{Name: "logs",
			Usage: "print the log of the worker on `HOST`, or of the master, broker or " +
				"monitor"},
		cli.Switch("audit", "print who changed what on the master, newest last"),
		cli.Switch("follow", "with --logs: keep printing until Ctrl-C"),
		&cliv2.IntFlag{Name: "tail", DefaultText: "all; with --audit 50",
			Usage: "with --logs and --audit: print only the last `N`"},
	)
	app.Action = c.check
	return app
}
