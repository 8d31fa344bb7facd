// Command infrainit brings up a cluster on hosts that ssh reaches, and makes a cluster that runs
// what is asked for.
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

const usage = "set up a cluster: master, broker, monitor and workers"

const help = `infrainit - ` + usage + `

USAGE:
   infrainit -a HOST,... -m HOST -w HOST,... [options]
   infrainit -f [options]

Sets up a cluster on hosts reachable over SSH, or changes a running cluster to
match the options. Checks every host before changing any, and changes only what
differs. If infrainit fails, it rolls back its changes. Workers finish their
tasks before they are removed or replaced.

infrainit writes cluster.yml, which all other commands read, and infra-clean, a
script that removes the cluster.

EXAMPLES:
   # run the master on the first host and workers on the others
   infrainit -a anna@gpu1,anna@gpu2,anna@gpu3 -m 1 -w 2,3
   # show what the same command would do
   infrainit -a anna@gpu1,anna@gpu2,anna@gpu3 -m 1 -w 2,3 --dry-run
   # run the master on this machine, and workers here and on two hosts
   infrainit -a gpu1,gpu2 -m local -w local,1,2
   # use the options in cluster.yml, but run a worker only on the second host
   infrainit -f -w 2
   # add a worker to the running cluster whose master is on one of the hosts
   infrainit -a gpu1,gpu4 -w 2 --name anna-digits

OPTIONS:
{{options .VisibleFlags}}
EXIT CODES:
   0    the cluster is as requested
   1    something failed on a host, or hosts were skipped
   2    invalid command line
   3    invalid cluster.yml or tasks.yml
   4    a host cannot be reached
   5    an error on this machine: disk full, folder not writable
   130  interrupted; changes were rolled back
`

// rare are the options that few clusters need.
var rare = []string{"broker-image", "broker-port", "monitor-port", "gpu-busy", "gpu-busy-above",
	"master-address", "host-key-check", "drain-timeout", "lease", "force", "keep", "break-lock",
	"downgrade"}

func (c *command) app() *cliv2.App {
	flags := append([]cliv2.Flag{
		cli.Switch("file", "take the options from cluster.yml; options on the command line "+
			"override them", "f"),
	}, cli.ClusterFlags()...)
	app := cli.App("infrainit", usage, help, c.stdout, c.stderr,
		append(flags, cli.ConfigFlag(),
			cli.Switch("dry-run", "print the plan; change nothing"),
			cli.Switch("cpu", "do not use the GPUs of any host, like --gpus none"),
			cli.Switch("skip-bad", "skip worker hosts that have problems"),
			cli.Switch("force", "change the image of workers even if tasks have not finished"),
			cli.Switch("keep", "do not roll back after a failure"),
			cli.Switch("now", "stop workers immediately; their tasks are rescheduled"),
			cli.Switch("pull", "on all hosts, update images to the current ones for their "+
				"tags in the registry"),
			cli.Switch("rotate", "replace all passwords, tokens and certificates of the "+
				"cluster; running tasks continue"),
			cli.Switch("break-lock", "take over a lock held by another infrainit"),
			cli.Switch("downgrade",
				"replace newer programs in the cluster with this version"),
			cli.Switch("yes", "upload a large project without asking", "y"),
			cli.Switch("json", "print one JSON object for each host at the end"),
			cli.Switch("quiet", "do not print progress", "q"),
			cli.Switch("verbose", "show where each option comes from", "v"),
		)...)
	cli.Rare(app, rare...)
	app.Action = c.up
	return app
}
