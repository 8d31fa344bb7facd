// Command infrainit brings up a cluster on hosts that ssh reaches, and makes a cluster that runs what is asked for.
//
// Nothing imports it. It may import everything.
package main

import (
	"context"
	"os"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
)

func main() {
	c := &command{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr, infraUp: infra.Up}
	os.Exit(c.main(context.Background(), os.Args))
}

// command is one call of the program.
type command struct {
	stdin, stdout, stderr *os.File
	infraUp               func(context.Context, infra.Request, infra.Options) (infra.Result, error)
}

func (c *command) main(ctx context.Context, args []string) int {
	return cli.Run(ctx, c.app(), "", args, func(err error) error { return err })
}

const help = `infrainit - brings up a cluster: master, broker, monitor and workers

USAGE:
   infrainit -a HOST,... -m HOST -w HOST,... [options]
   infrainit -f [options]                        as saved in config.yml

EXAMPLES:
   infrainit -a anna@gpu1,anna@gpu2,anna@gpu3 -m 1 -w 2,3
             the master on the first host, workers on the others
   infrainit -a gpu1,gpu2 -m local -w local,1,2
             the master here, workers here and on both hosts
   infrainit -f -w 2       from now on the second host's worker alone
   infrainit -a gpu1,gpu4 -w 2 --name anna-digits
             one worker more for the cluster that runs, whose master is on one
             of the hosts that are listed

It looks at every host before it changes any. Called again it changes only what
is different: a worker that is not wanted any more finishes what it runs, then
goes. It writes config.yml and infra-clean, which removes the cluster again.

OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}

EXIT CODES:
   0    the cluster is as it was asked for
   1    something failed on a host, or hosts were left out
   2    the command line is wrong
   3    config.yml or tasks.yml is wrong
   4    a host cannot be reached
   5    this machine is at fault: disk full, folder not writable
   130  interrupted; what was begun was removed again
`

func (c *command) app() *cliv2.App {
	flags := append([]cliv2.Flag{
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "file", Aliases: []string{"f"}, Usage: "take the options from config.yml; those given beside it win"},
	}, cli.ClusterFlags()...)
	app := cli.App("infrainit", "brings up a cluster", help, c.stdout, c.stderr,
		append(flags, cli.ConfigFlag(),
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "dry-run", Usage: "show what would be done; change nothing"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "skip-bad", Usage: "leave out hosts of workers that have faults"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "keep", Usage: "when it fails, leave what was begun"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "now", Usage: "workers that go do not finish what they run: it runs again elsewhere"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "break-lock", Usage: "take hosts away from whoever is at work on this cluster"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "yes", Aliases: []string{"y"}, Usage: "bring a large project without asking"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "json", Usage: "at the end one JSON object for each host, on standard output"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "quiet", Aliases: []string{"q"}, Usage: "do not tell the steps"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "verbose", Aliases: []string{"v"}, Usage: "show where every option comes from"},
		)...)
	app.Action = c.up
	return app
}
