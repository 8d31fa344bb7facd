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

const help = `nvdocker-install - gets hosts ready for containers that use NVIDIA GPUs

USAGE:
   nvdocker-install HOST... [options]

EXAMPLES:
   nvdocker-install --dry-run anna@gpu1 anna@gpu2
             show what these hosts lack; change nothing
   nvdocker-install anna@gpu1 anna@gpu2
             install it, and ask before Docker is restarted
   nvdocker-install --yes gpu1     without asking, for scripts

A HOST is [USER@]NAME[:PORT], an alias of ~/.ssh/config, or local for this
machine. It runs Ubuntu 22.04 or 24.04 or Debian 12 or 13, and has a GPU, its
driver, and Docker from a package. The user is root or has sudo without a
password.

It installs the NVIDIA container toolkit from NVIDIA's packages, describes the
GPUs for CDI, configures Docker, and checks that a container sees the GPUs.
All hosts are worked on at once. What is there already is left as it is, so
that it can be run again at any time, after an interruption too.

Restarting Docker stops the containers that run there: they are named first,
and it asks. Without a terminal and without --yes it stops before that, and
names what is left. Docker 28.2 and later need no restart.

A driver is installed only with --driver, and only where there is none; the
host has to be rebooted then.

OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}

docs/nvdocker-install.md has the steps, and what --json prints.

EXIT CODES:
   0    containers on every host can use its GPUs, or --dry-run showed what
        they lack
   1    something failed on a host, a host cannot be used, or something is
        left to do
   2    the command line is wrong
   3    config.yml is wrong
   4    a host cannot be reached
   5    this machine is at fault
   130  interrupted; run it again to go on
`

func (c *command) app() *cliv2.App {
	flags := append([]cliv2.Flag{
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "dry-run",
			Usage: "show each step and its commands; change nothing"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "driver",
			Usage: "install the distribution's driver on hosts without one"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "yes", Aliases: []string{"y"},
			Usage: "restart Docker without asking"},
		&cliv2.StringFlag{Name: "source",
			Usage: "take the packages from a mirror of NVIDIA's at `URL`, which has gpgkey and " +
				"stable/deb below it; http:, https: or file:"},
		&cliv2.StringFlag{Name: "source-key",
			Usage: "the mirror's key is in `FILE` on this machine, not in gpgkey at the mirror"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "json",
			Usage: "at the end print one JSON object on standard output"},
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "quiet", Aliases: []string{"q"},
			Usage: "do not tell the steps"},
	}, cli.ClusterFlags("key", "host-key-check")...)
	app := cli.App("nvdocker-install", "gets hosts ready for containers that use NVIDIA GPUs", help,
		c.stdout, c.stderr,
		append(flags, cli.ConfigFlag())...)
	app.Action = c.install
	return app
}
