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

const usage = "upload the changed files of a project to all hosts of a cluster"

const help = `update-files - ` + usage + `

USAGE:
   update-files [-d FOLDER] [options]

Sweeps submitted afterwards use the new files. Existing sweeps keep the old
ones; run-tasks retry --updated moves a sweep to the new files. If a worker's
host is unreachable or not writable, it is skipped with a warning. It gets no
tasks that need the new files until infrainit -f copies them there.

Worker containers do not change. If the image, volumes or container settings in
tasks.yml differ from those of the workers, nothing is uploaded. In this case,
run infrainit -f to recreate the workers.

Old files are removed from the hosts once no open sweep uses them and ten
minutes have passed since their upload. The newest files are always kept.

EXAMPLES:
   update-files
   # upload another project, without asking if it is large
   update-files -d projects/digits --yes

OPTIONS:
{{options .VisibleFlags}}
EXIT CODES:
   0    every host has the files
   1    the upload failed on a host
   2    invalid command line, or the project is large and was not confirmed
   3    cluster.yml or tasks.yml is invalid or missing, or tasks.yml does not
        match the workers
   4    a host cannot be reached
   5    an error on this machine
   130  interrupted or declined
`

func (c *command) app() *cliv2.App {
	app := cli.App("update-files", usage, help, c.stdout, c.stderr,
		append(cli.ClusterFlags("project"), cli.ConfigFlag(),
			cli.Switch("yes", "upload a large project without asking", "y"),
		)...)
	app.Action = c.update
	return app
}
