package main

import (
	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
)

// Arguments as usage lines show them.
const (
	oneSweep    = "[SWEEP]"
	sweepOrTask = "[SWEEP | SWEEP/INDEX]"
)

func (c *command) listCommand() *cliv2.Command {
	return &cliv2.Command{Name: "ls", Usage: "list sweeps", Action: c.list,
		Flags: append(locationFlags(), flagJSON()),
		Description: `EXAMPLES:
   run-tasks ls
   # the sweeps of this machine, as JSON
   run-tasks ls --local --json`}
}

func (c *command) showCommand() *cliv2.Command {
	return &cliv2.Command{Name: "show", ArgsUsage: sweepOrTask, Action: c.show,
		Usage: "show a sweep, or a task with its attempts",
		Flags: append(locationFlags(), flagJSON()),
		Description: `The JSON of a sweep also lists its failures, similar ones grouped.

EXAMPLES:
   # the newest sweep
   run-tasks show
   # one task: its command, attempts and metrics
   run-tasks show run_training-1/7`}
}

func (c *command) followCommand() *cliv2.Command {
	return &cliv2.Command{Name: "follow", ArgsUsage: oneSweep, Action: c.follow,
		Usage: "follow a sweep until it ends",
		Flags: append(locationFlags(), flagNoOutput(), flagJSON()),
		Description: `The exit code is that of the sweep. Ctrl-C leaves the sweep running.

EXAMPLES:
   run-tasks follow
   # progress only, without the output of tasks
   run-tasks follow run_training-1 --no-output`}
}

func (c *command) logsCommand() *cliv2.Command {
	return &cliv2.Command{Name: "logs", ArgsUsage: sweepOrTask, Action: c.logs,
		Usage: "print the output of a task, or of all tasks of a sweep",
		Flags: append(locationFlags(),
			&cliv2.IntFlag{Name: "attempt", DefaultText: "the newest",
				Usage: "show the output of attempt `N`"},
			cli.Switch("follow", "keep printing until it ends", "f")),
		Description: `The standard error of a task goes to standard error. Lines of a sweep begin with
their task. If the output is not a terminal, progress bars are printed as they
were at the end of their line.

EXAMPLES:
   run-tasks logs run_training-1/7
   # keep printing while the task runs
   run-tasks logs -f run_training-1/7
   run-tasks logs run_training-1 | grep loss`}
}

func (c *command) resultsCommand() *cliv2.Command {
	return &cliv2.Command{Name: "results", ArgsUsage: oneSweep, Action: c.results,
		Usage: "print the results of a sweep as a table",
		Flags: append(locationFlags(),
			cli.Switch("csv", "print CSV, with every column"), flagJSON(),
			&cliv2.StringFlag{Name: "group-by",
				Usage: "print means over tasks that agree in `COLUMNS`: lr,unit; none: " +
					"single tasks"},
			&cliv2.StringFlag{Name: "metrics", DefaultText: "the objective's",
				Usage: "with groups: print means of the metrics `NAMES`"},
			cli.Switch("failures", "print what failed instead, similar failures grouped"),
			&cliv2.StringFlag{Name: "sort",
				Usage: "sort by `COLUMN`; by -COLUMN: in descending order"},
			&cliv2.StringFlag{Name: "where",
				Usage: "print only tasks that match `EXPR`: 'lr<=0.1 and accuracy>0.9'"},
			&cliv2.IntFlag{Name: "top", DefaultText: "all", Usage: "print only the first `N` rows"},
			cli.Switch("reread", "first extract all metrics again, as tasks.yml defines them now"),
			metricFlag("of a command run after --: "),
			&cliv2.StringFlag{Name: "objective", Usage: "of a command run after --: rank tasks by " +
				"an `OBJECTIVE` such as \"maximize accuracy\""},
			&cliv2.StringFlag{Name: "d", DefaultText: "as at submission",
				Usage: "with --reread: project `FOLDER`"}),
		Description: `EXPR compares columns and calculates with them: host in [gpu1, gpu2],
not (state=failed or loss=nan), batchsize * unit <= 1000, log10(lr) > -3,
name ~ '^a.*z$'. See docs/expressions.md.

--group-by prints one row for each combination of the columns: mean, standard
deviation and 95 % confidence interval over its tasks, best mean first. It is
the default, also for --csv and --json, if parameters.yml has repeat; turn it
off with --group-by none. Quote a name that contains a comma with backquotes:
--group-by '` + "`a,b`" + `,lr'.

EXAMPLES:
   # the best five of the newest sweep
   run-tasks results --top 5
   run-tasks results --where 'lr<=0.1 and state=succeeded' --sort -accuracy
   # why tasks failed
   run-tasks results run_training-1 --failures
   # for a spreadsheet
   run-tasks results --csv > results.csv`}
}

func (c *command) fetchCommand() *cliv2.Command {
	return &cliv2.Command{Name: "fetch", ArgsUsage: sweepOrTask, Action: c.fetch,
		Usage: "copy the outputs of tasks into a folder",
		Flags: append(locationFlags(),
			&cliv2.StringFlag{Name: "to", Value: "outputs",
				DefaultText: "outputs; required on this machine",
				Usage:       "copy into `FOLDER`"},
			&cliv2.StringSliceFlag{Name: "files", DefaultText: "all",
				Usage: "copy only files that match `PATTERN`; can be repeated"},
			&cliv2.IntFlag{Name: "top", DefaultText: "all",
				Usage: "copy only from the best `N` tasks or combinations"},
			&cliv2.StringFlag{Name: "group-by", DefaultText: "the repeats of the sweep",
				Usage: "with --top: `none` selects single tasks, not combinations"},
			&cliv2.StringFlag{Name: "where",
				Usage: "copy only from tasks that match `EXPR`: 'accuracy>0.9'"},
			cli.Switch("yes", "copy more than 10 GB without asking", "y"), flagJSON()),
		Description: `Copies to FOLDER/SWEEP/INDEX, from all hosts; on this machine, from the folder
outputs. Every file is verified. Run it again to copy what is new or was
interrupted. It never overwrites files that it did not create. From a running
task, it copies what exists so far. Before it copies more than 10 GB, it asks;
holes in files do not count, and stay holes.

PATTERN works as in a .gitignore file, relative to the folder of the task:
'*.pt', /result/best.pt, checkpoints/. Targets of matching links are copied,
too. Without SWEEP, --top uses the newest sweep with an objective; if several
definitions have one, name the definition. If parameters.yml has repeat, --top
selects the N combinations with the best mean, with all their repeats;
--group-by none selects the N best tasks.

EXAMPLES:
   # all outputs of the newest sweep
   run-tasks fetch
   # the checkpoints of the best three
   run-tasks fetch run_training --top 3 --files '*.pt' --to best/`}
}

func (c *command) cancelCommand() *cliv2.Command {
	return &cliv2.Command{Name: "cancel", ArgsUsage: sweepOrTask, Action: c.cancel,
		Usage: "cancel a sweep or a task",
		Flags: append(locationFlags(),
			cli.Switch("yes", "cancel the newest sweep without asking", "y")),
		Description: `Asks if you name no sweep.

EXAMPLES:
   run-tasks cancel run_training-1
   # only one task of it
   run-tasks cancel run_training-1/7`}
}

func (c *command) pauseCommand() *cliv2.Command {
	return &cliv2.Command{Name: "pause", ArgsUsage: oneSweep, Action: c.pause,
		Usage: "pause a sweep: start no more of its tasks",
		Flags: append(locationFlags(),
			cli.Switch("stop", "also stop running tasks; they run again after resume")),
		Description: `Running tasks finish.

EXAMPLES:
   run-tasks pause
   # free its slots at once
   run-tasks pause run_training-1 --stop`}
}

func (c *command) resumeCommand() *cliv2.Command {
	return &cliv2.Command{Name: "resume", ArgsUsage: oneSweep, Action: c.resume,
		Usage: "continue a paused or interrupted sweep",
		Flags: append(runFlags(), updateFlags()...),
		Description: `EXAMPLES:
   run-tasks resume
   # with the current code of the project
   run-tasks resume run_training-1 --updated`}
}

func (c *command) retryCommand() *cliv2.Command {
	return &cliv2.Command{Name: "retry", ArgsUsage: "[SWEEP | SWEEP/INDEX...]", Action: c.retry,
		Usage: "run failed and cancelled tasks again", Flags: append(append(runFlags(),
			updateFlags()...), cli.Switch("fresh", "start tasks in new folders; the folders of "+
			"earlier attempts are renamed to INDEX.attempt-N")),
		Description: `Without --fresh, a task continues in its folder, which contains the files of
earlier attempts.

EXAMPLES:
   # after a fix in the code
   run-tasks retry --updated
   # in new folders, without the files of earlier attempts
   run-tasks retry --updated --fresh
   # only these tasks
   run-tasks retry run_training-1/7 run_training-1/9`}
}

func (c *command) extendCommand() *cliv2.Command {
	return &cliv2.Command{Name: "extend", Action: c.extend,
		ArgsUsage: "[SWEEP] [PARAMETER=VALUE...]",
		Usage:     "add new combinations of parameters to a sweep",
		Flags: append(append(runFlags(), overrideFlags()...), flagDryRun(), flagAll(),
			flagUpdated(),
			&cliv2.StringFlag{Name: "d", DefaultText: "as at submission",
				Usage: "project `FOLDER`"}),
		Description: `Adds the combinations that the parameters file now has and the sweep does not.
Existing tasks keep their numbers and results. New tasks run after them, with
the command, rules and code of the sweep. Values that were removed from the file
stay in the sweep.

PARAMETER=VALUE and the options for parameters change the file as for a new
sweep, on top of those that the sweep was submitted with. Values are set for
this extension only; the options stay for later ones. --limit 0 removes the
limit.

EXAMPLES:
   # after adding values to parameters.yml: what would be added
   run-tasks extend --dry-run
   run-tasks extend run_training-1 lr=0.001`}
}

func (c *command) priorityCommand() *cliv2.Command {
	return &cliv2.Command{Name: "priority", ArgsUsage: "[SWEEP] N", Action: c.priority,
		Usage: "set the priority of a sweep", Flags: locationFlags(),
		Description: `Sweeps of a higher priority run first. Sweeps of the same priority share the
slots in turn; on this machine they run one after the other. The default is 0;
N may be negative. Running tasks are not interrupted.

EXAMPLES:
   # run it before all others
   run-tasks priority run_training-1 10`}
}

func (c *command) testMetricsCommand() *cliv2.Command {
	return &cliv2.Command{Name: "test-metrics", ArgsUsage: "NAME [SWEEP/INDEX | < FILE]",
		Usage:  "try metric patterns on the output of a task",
		Action: c.testMetrics, Flags: append(locationFlags(), flagProject(), flagJSON()),
		Description: `Shows which metrics the patterns in the current tasks.yml extract. For a task,
they search standard output and standard error of the attempts that count for
its results.

EXAMPLES:
   run-tasks test-metrics run_training run_training-1/7
   # any text
   run-tasks test-metrics run_training < train.log`}
}

func (c *command) initCommand() *cliv2.Command {
	return &cliv2.Command{Name: "init", ArgsUsage: "FOLDER", Action: c.init,
		Usage: "create an example project in a new or empty folder",
		Description: `EXAMPLES:
   # then run it: run-tasks -d first run_training
   run-tasks init first`}
}
