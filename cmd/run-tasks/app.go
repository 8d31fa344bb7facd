package main

import (
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

const appHelp = `run-tasks - runs every combination of a project's parameters

USAGE:
   run-tasks [options] NAME [PARAMETER=VALUE...]
                                              run the definition NAME of
                                              tasks.yml: on the cluster of
                                              config.yml, else on this machine
   run-tasks --local [options] NAME           run it on this machine
   run-tasks COMMAND [options] [SWEEP]        ask for or change what was run;
                                              SWEEP is the newest unless
                                              named; the name of a definition
                                              is the newest sweep of that

OPTIONS (before or after NAME):{{range .VisibleFlags}}
   {{.}}{{end}}

COMMANDS:
{{range .VisibleCommands}}   {{.Name}}{{"\t"}}{{.Usage}}
{{end}}
Where config.yml lies (infrainit writes it) commands are about its cluster; in
other folders, and with --local, about what this machine runs: its store is
.mlframework and its outputs are in outputs, in the folder where you run it.
A second sweep there, from another terminal, joins the process of the first:
behind it, on the same slots; Ctrl-C leaves it running. That process stays until
it is done; if it ends before, the other terminal goes on.
--master SOCKET, or the variable ` + masterVariable + `, names a master on this
machine instead.

PARAMETER=VALUE stands for the line PARAMETER: VALUE of the parameters file:
lr=0.1,0.01 is a list, epoch='[1,5)' an interval. See docs/parameters.md.

` + cli.ExitCodes

const commandHelp = `{{.HelpName}} - {{.Usage}}

USAGE:
   run-tasks {{.Name}} [options]{{if .ArgsUsage}} {{.ArgsUsage}}{{end}}
{{if .Description}}
{{.Description}}
{{end}}
OPTIONS:{{range .VisibleFlags}}
   {{.}}{{end}}

` + cli.ExitCodes

func (c *command) app() *cliv2.App {
	app := cli.App("run-tasks", "runs every combination of a project's parameters", appHelp, c.stdout, c.stderr,
		append([]cliv2.Flag{
			flagProject(),
			flagDryRun(), flagAll(), flagPriority(),
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "as-pushed", Usage: "on a cluster: run the files that were brought last"},
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "missing", Usage: "only what has not succeeded with this command and code"},
		}, append(overrideFlags(), runFlags()...)...)...)
	app.Action, app.Commands = c.runName, c.commands()
	return app
}

func (c *command) commands() []*cliv2.Command {
	sweepOrTask, one := "[SWEEP | SWEEP/INDEX]", "[SWEEP]"
	return []*cliv2.Command{
		{Name: "ls", Usage: "lists the sweeps", Flags: append(locationFlags(), flagJSON()), Action: c.list},
		{Name: "show", Usage: "shows a sweep, or one task with its attempts", ArgsUsage: sweepOrTask,
			Description: "With --json a sweep has what failed in it, too, alike failures together.",
			Flags:       append(locationFlags(), flagJSON()), Action: c.show},
		{Name: "follow", Usage: "shows a sweep that another terminal runs", ArgsUsage: one, Action: c.follow,
			Description: "It ends with the sweep, and with the sweep's exit code. Ctrl-C leaves the\nsweep running.",
			Flags:       append(locationFlags(), flagNoOutput(), flagJSON())},
		{Name: "logs", Usage: "prints what a task printed", ArgsUsage: "[SWEEP | SWEEP/INDEX]", Action: c.logs,
			Description: "What went to its standard error goes to standard error. A sweep of one task\nneeds no INDEX.",
			Flags: append(locationFlags(),
				&cliv2.IntFlag{Name: "attempt", DefaultText: "the newest", Usage: "of attempt `N`"},
				&cliv2.BoolFlag{DisableDefaultText: true, Name: "follow", Aliases: []string{"f"}, Usage: "go on until the task has ended"})},
		{Name: "results", Usage: "prints the table of results", ArgsUsage: one, Action: c.results,
			Description: "EXPR compares columns and calculates with them: host in [gpu1, gpu2],\n" +
				"not (state=failed or loss=nan), batchsize * unit <= 1000, log10(lr) > -3,\nname ~ '^a.*z$'. docs/expressions.md describes it.\n\n" +
				"--group-by prints one line for each combination of the columns, with mean,\nstandard deviation and 95 % interval of the mean over its tasks, the best mean\n" +
				"first. It is the default where parameters.yml has repeat, also of --csv and\n" +
				"--json; --group-by none is for single tasks. A name with a comma stands in\n" +
				"backquotes: --group-by '`a,b`,lr'.",
			Flags: append(locationFlags(),
				&cliv2.BoolFlag{DisableDefaultText: true, Name: "csv", Usage: "as CSV, every column"}, flagJSON(),
				&cliv2.StringFlag{Name: "group-by", Usage: "means of tasks alike in `COLS`: lr,unit; none: no groups"},
				&cliv2.StringFlag{Name: "metrics", DefaultText: "the objective's", Usage: "of groups: means of `NAMES`"},
				&cliv2.BoolFlag{DisableDefaultText: true, Name: "failures", Usage: "what failed instead, alike failures together"},
				&cliv2.StringFlag{Name: "sort", Usage: "by `COLUMN`; by -COLUMN: the greatest first"},
				&cliv2.StringFlag{Name: "where", Usage: "only tasks for which `EXPR` holds: 'lr<=0.1 and accuracy>0.9'"},
				&cliv2.IntFlag{Name: "top", DefaultText: "all", Usage: "only the first `N`"},
				&cliv2.BoolFlag{DisableDefaultText: true, Name: "reread", Usage: "first read all metrics again, by the current tasks.yml"},
				&cliv2.StringFlag{Name: "d", DefaultText: "as before", Usage: "with --reread: the project's `FOLDER`"})},
		c.fetchCommand(),
		{Name: "cancel", Usage: "cancels a sweep or a task", ArgsUsage: sweepOrTask, Flags: locationFlags(), Action: c.cancel},
		{Name: "pause", Usage: "lets what runs finish and begins nothing more", ArgsUsage: one, Action: c.pause, Flags: append(locationFlags(),
			&cliv2.BoolFlag{DisableDefaultText: true, Name: "stop", Usage: "stop what runs too; it runs again after resume"})},
		{Name: "resume", Usage: "goes on with a sweep that was interrupted or paused", ArgsUsage: one,
			Flags: append(runFlags(), updateFlags()...), Action: c.resume},
		{Name: "retry", Usage: "runs again what failed or was cancelled", ArgsUsage: "[SWEEP | SWEEP/INDEX...]",
			Flags: append(runFlags(), updateFlags()...), Action: c.retry},
		{Name: "extend", Usage: "adds to a sweep what its parameters file has more now", ArgsUsage: "[SWEEP] [PARAMETER=VALUE...]", Action: c.extend,
			Description: "The combinations that it has keep their numbers and results. What is new is run\n" +
				"behind them, with the command, rules and code of the sweep. What is not in the\nfile any more stays in the sweep." +
				"\nPARAMETER=VALUE and the options beside it change the file as for a new sweep;\n" +
				"what the sweep was submitted with counts for everything else. --limit 0 lifts\nits limit.",
			Flags: append(append(runFlags(), overrideFlags()...), flagDryRun(), flagAll(),
				&cliv2.BoolFlag{DisableDefaultText: true, Name: "updated", Usage: "use the current code, and tasks.yml as far as it can change"},
				&cliv2.StringFlag{Name: "d", DefaultText: "as before", Usage: "the project's `FOLDER`"})},
		{Name: "priority", Usage: "lets a sweep go before others", ArgsUsage: "[SWEEP] N", Action: c.priority,
			Description: "Sweeps of a higher priority go first; those of one share the slots in turn, or\n" +
				"on this machine follow each other. It is 0 unless somebody says otherwise, and\nmay be negative. What runs goes on.",
			Flags: locationFlags()},
		{Name: "workers", Usage: "lists the workers of a master, or changes one", ArgsUsage: "[drain|resume|slots|restart|forget WORKER [N]]",
			Description: "drain WORKER     it finishes what runs and takes nothing new\n" +
				"resume WORKER    undoes drain\n" +
				"slots WORKER N   it runs N tasks at a time; 0: as many as it was started with\n" +
				"restart WORKER   it finishes what runs and ends; its supervisor starts it again\n" +
				"forget WORKER    it is away for good: its name and its queue are dropped",
			Flags: append(locationFlags(), flagJSON(),
				&cliv2.BoolFlag{DisableDefaultText: true, Name: "now", Usage: "with restart: stop what runs; it runs again, uncharged"}), Action: c.workers},
		c.brokerCommand(),
		{Name: "test-metrics", Usage: "tests metric patterns on a task's output or on stdin", ArgsUsage: "NAME [SWEEP/INDEX | < FILE]",
			Description: "Uses the patterns in the current tasks.yml. For a task, stdout and stderr of\nthe attempts that count for its results are searched.",
			Flags:       append(locationFlags(), flagProject(), flagJSON()), Action: c.testMetrics},
		{Name: "init", Usage: "writes a commented example project into a new or empty folder", ArgsUsage: "FOLDER", Action: c.init},
	}
}

// reserved are the names that no definition may have.
func (c *command) reserved() (names []string) {
	for _, sub := range c.commands() {
		names = append(names, sub.Name)
	}
	return append(names, "help")
}
