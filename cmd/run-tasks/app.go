package main

import (
	"slices"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

const appUsage = "run a task for every combination of its parameters"

const appHelp = `run-tasks - ` + appUsage + `

USAGE:
   run-tasks [options] NAME [PARAMETER=VALUE...]
   run-tasks [options] -- COMMAND [WORD...] [PARAMETER=VALUE...]
   run-tasks COMMAND [options] [SWEEP]

The first form submits a sweep and follows it: it runs the definition NAME of
tasks.yml once for every combination of its parameters. The second form does so
with a command, and needs no tasks.yml. The commands show and change sweeps.
SWEEP is the newest sweep if you name none; the name of a definition means its
newest sweep.

EXAMPLES:
   # run a command with every combination, without a file
   run-tasks -- python3 train.py lr=0.1,0.01 seed=1..3
   # show how many tasks of a definition would run, and their command lines
   run-tasks --dry-run run_training
   # run them, on this machine four at a time
   run-tasks --local --slots 4 run_training
   # change parameters for this sweep
   run-tasks run_training lr=0.1,0.01 --repeat seed=1,2,3
   # run only what has not succeeded yet
   run-tasks --missing run_training

COMMANDS:
{{commands .VisibleCommands}}
OPTIONS (before or after NAME):
{{options .VisibleFlags}}
In a folder with a cluster.yml (infrainit writes it), and in those below it,
commands use its cluster. In other folders, and with --local, they use this
machine: the store is .mlframework and outputs are in outputs, both in the
project's folder. Commands find it from the folders below it, too.
{{if all}}--master SOCKET, or the variable ` + masterVariable + `, selects a master on
this machine instead.
{{end}}
On this machine, Ctrl-C stops the sweep of its terminal, and so does closing the
terminal; --detach leaves the sweep running in the background. Further sweeps of
the same folder run behind it, on the same slots.

PARAMETER=VALUE replaces the line PARAMETER: VALUE of the parameters file:
lr=0.1,0.01 is a list, epoch='[1,5)' an interval. See docs/parameters.md.

` + cli.ExitCodes

// rare are the options that few calls need, of this program and its commands.
var rare = []string{"store", "config", "master", "gpu-busy", "gpu-busy-above", "no-upload",
	"cancel-on-interrupt", "sample-seed", "as", "yes", "cpus", "memory", "on"}

func (c *command) app() *cliv2.App {
	flags := append([]cliv2.Flag{
		flagDryRun(), flagAll(), flagPriority(),
		cli.Switch("no-upload", "on a cluster: use the files uploaded last; upload nothing"),
		cli.Switch("missing", "run only what has not succeeded with this command and code"),
	}, slices.Concat(adHocFlags(), flagsNeeds(), overrideFlags(), runFlags())...)
	app := cli.App("run-tasks", appUsage, appHelp, c.stdout, c.stderr, flags...)
	cli.Rare(app, rare...)
	app.Action, app.Commands = submitAction(c), c.commands()
	return app
}

// commands returns all commands, in the order of the help.
func (c *command) commands() []*cliv2.Command {
	all := []*cliv2.Command{
		listCommand(c), showCommand(c), followCommand(c), waitCommand(c), logsCommand(c),
		execCommand(c), resultsCommand(c), plotCommand(c), compareCommand(c), fetchCommand(c),
		cancelCommand(c),
		pauseCommand(c), resumeCommand(c), retryCommand(c), extendCommand(c), priorityCommand(c),
		removeCommand(c), pruneCommand(c), workersCommand(c), brokerCommand(c),
		testMetricsCommand(c), initCommand(c), monitorCommand(c), completionCommand(c),
	}
	for _, one := range all {
		one.Before = c.useStore
	}
	return append(all, runnerCommand(c))
}
