// Command update-files brings what changed of a project's files to every host of a cluster.
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
	c := &command{stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr}
	os.Exit(c.main(context.Background(), os.Args))
}

// command is one call of the program.
type command struct{ stdin, stdout, stderr *os.File }

func (c *command) main(ctx context.Context, args []string) int {
	return cli.Run(ctx, c.app(), "", args, site.Explain)
}

const help = `update-files - brings a project's changed files to every host of the cluster

USAGE:
   update-files [-d FOLDER] [options]

Sweeps that are submitted from then on run the files as they are now. Those
that were submitted before keep theirs; run-tasks retry --updated moves one.
When a host is away nothing is brought anywhere. When it fails on one later,
sweeps keep what they have: none runs files that are not on all hosts.

Does not change worker containers. If tasks.yml specifies another image,
volumes or container settings than the workers have, nothing is uploaded; run
infrainit -f to recreate the workers.

Files that no open sweep uses any more, and that were not pushed within the
last ten minutes, are removed from the hosts; the newest stay.

OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}

EXIT CODES:
   0    every host has the files
   1    it failed on a host
   2    the command line is wrong, or the project is large and nobody said yes
   3    config.yml or tasks.yml is wrong or missing, or tasks.yml is not what
        the workers run
   4    a host cannot be reached
   5    this machine is at fault
   130  interrupted, or the answer was no
`

func (c *command) app() *cliv2.App {
	app := cli.App("update-files", "brings a project's files to a cluster", help, c.stdout, c.stderr,
		append(cli.ClusterFlags("project"), cli.ConfigFlag(),
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "yes", Aliases: []string{"y"}, Usage: "bring a large project without asking"},
		)...)
	app.Action = c.update
	return app
}
