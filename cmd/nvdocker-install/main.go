// Command nvdocker-install gets hosts ready for containers that use NVIDIA GPUs: it installs the
// NVIDIA container toolkit and tells Docker of it.
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

const usage = "set up hosts for containers that use NVIDIA GPUs"

const help = `nvdocker-install - ` + usage + `

USAGE:
   nvdocker-install HOST... [options]

HOST is [USER@]NAME[:PORT], an alias from ~/.ssh/config, or local for this
machine. Each host must run Ubuntu 22.04 or 24.04, or Debian 12 or 13, and have
a GPU, its driver, and Docker installed from a package. The user must be root or
have passwordless sudo.

nvdocker-install inspects each host and plans the missing steps: install the
NVIDIA Container Toolkit from NVIDIA's packages, describe the GPUs for CDI,
configure Docker, and check that a container can use the GPUs. Hosts are
processed in parallel. Existing components are left unchanged, so the command is
safe to rerun, even after an interruption.

Restarting Docker stops the containers on the host, so nvdocker-install lists
them and asks first. Without a terminal, it restarts Docker only with --yes.
Otherwise, it completes the steps before the restart, lists the remaining ones,
and exits with code 1. Docker 28.2 and later do not need a restart.

A driver is installed only with --driver, and only on hosts without one. Reboot
these hosts, then run the command again.

On hosts set up this way, infrainit gives worker containers access to the GPUs.

EXAMPLES:
   # show the missing steps; change nothing
   nvdocker-install --dry-run anna@gpu1 anna@gpu2
   # run the missing steps, and ask before restarting Docker
   nvdocker-install anna@gpu1 anna@gpu2
   # do not ask, for use in scripts
   nvdocker-install --yes gpu1

OPTIONS:
{{options .VisibleFlags}}
docs/nvdocker-install.md describes the steps and the JSON.

EXIT CODES:
   0    containers on every host can use its GPUs, or --dry-run showed the
        missing steps
   1    something failed on a host, a host cannot be used, or steps remain
   2    invalid command line
   3    invalid cluster.yml
   4    a host cannot be reached
   5    an error on this machine
   130  interrupted; run it again to continue
`

func (c *command) app() *cliv2.App {
	flags := append([]cliv2.Flag{
		cli.Switch("dry-run", "show each step and its commands; change nothing"),
		cli.Switch("driver", "install the distribution's driver on hosts without one"),
		cli.Switch("yes", "restart Docker without asking", "y"),
		&cliv2.StringFlag{Name: "source",
			Usage: "install packages from an NVIDIA mirror at `URL` (http:, https: or file:), " +
				"which contains gpgkey and stable/deb"},
		&cliv2.StringFlag{Name: "source-key",
			Usage: "read the mirror's key from `FILE` on this machine instead of from the mirror"},
		cli.Switch("json", "print one JSON object at the end"),
		cli.Switch("quiet", "do not print progress", "q"),
	}, cli.ClusterFlags("key", "host-key-check")...)
	app := cli.App("nvdocker-install", usage, help,
		c.stdout, c.stderr,
		append(flags, &cliv2.StringFlag{Name: "config",
			Usage: "take SSH options from the cluster configuration `FILE`"})...)
	app.Action = c.install
	return app
}
