package main

import (
	"slices"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

const appUsage = "run a command for every combination of parameters"

const appHelp = `run-tasks - ` + appUsage + `

USAGE:
   run-tasks [options] NAME [PARAMETER=VALUE...]
   run-tasks [options] -- COMMAND [WORD...] [PARAMETER=VALUE...]
   run-tasks COMMAND [options] [SWEEP]

The first form submits a sweep and follows its progress. The sweep runs the
definition NAME in tasks.yml once for every combination of its parameters. The
second form does the same for COMMAND and does not need a tasks.yml. The third
form shows or changes sweeps. SWEEP defaults to the newest sweep. The name of a
definition selects its newest sweep.

EXAMPLES:
   # run a command for every combination, without a configuration file
   run-tasks -- python3 train.py lr=0.1,0.01 seed=1..3
   # show the number of tasks and their command lines; run nothing
   run-tasks --dry-run run_training
   # run the tasks on this machine, four at a time
   run-tasks --local --slots 4 run_training
   # override parameters for this sweep
   run-tasks run_training lr=0.1,0.01 --repeat seed=1,2,3
   # run only the combinations that have not succeeded yet
   run-tasks --missing run_training

COMMANDS:
{{commands .VisibleCommands}}
OPTIONS (before or after NAME):
{{options .VisibleFlags}}
In a folder with a cluster.yml, which infrainit writes, and in its subfolders,
commands use that cluster. Elsewhere, or with --local, they use this machine.
The store is then .mlframework and outputs are in outputs, both in the project
folder. Commands also find the project folder from its subfolders.
{{if all}}--master SOCKET, or the environment variable ` + masterVariable + `, selects a
master on this machine instead.
{{end}}
On this machine, pressing Ctrl-C or closing the terminal stops the sweep that
was started there. With --detach, the sweep runs in the background. Further
sweeps in the same folder are queued behind it and use the same slots.

PARAMETER=VALUE overrides PARAMETER in the parameters file. For example,
lr=0.1,0.01 is a list and epoch='[1,5)' an interval. See docs/parameters.md.

` + cli.ExitCodes

// rare are the options that few calls need, of this program and its commands.
var rare = []string{"store", "config", "master", "gpu-busy", "gpu-busy-above", "no-upload",
	"cancel-on-interrupt", "sample-seed", "as", "yes", "cpus", "memory", "on"}

func (c *command) app() *cliv2.App {
	flags := append([]cliv2.Flag{
		flagDryRun(), flagAll(), flagPriority(),
		cli.Switch("no-upload", "on a cluster: use the files uploaded last; upload nothing"),
		cli.Switch("missing", "run only combinations that have not succeeded with this "+
			"command and code"),
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
