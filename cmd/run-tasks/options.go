package main

import (
	"errors"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/core"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// Arguments as usage lines show them.
const (
	oneSweep    = "[SWEEP]"
	sweepOrTask = "[SWEEP | [SWEEP/]INDEX]"
)

// Options that several commands have.
func flagLocal() cliv2.Flag { return cli.Switch("local", "use this machine") }

func flagMaster() cliv2.Flag {
	return &cliv2.StringFlag{Name: "master", DefaultText: "as in cluster.yml",
		Usage: "use the master at this `SOCKET`"}
}

// locationFlags returns the options that say whose sweeps a command is about.
func locationFlags() []cliv2.Flag {
	return []cliv2.Flag{flagLocal(), flagFolder(), flagStore(), cli.ConfigFlag(), flagMaster()}
}

// flagFolder names the folder of a project and, on this machine, of its sweeps.
func flagFolder() cliv2.Flag {
	return &cliv2.StringFlag{Name: "d", DefaultText: "current folder, or the nearest above it",
		Usage: "project `FOLDER`"}
}

func flagJSON() cliv2.Flag { return cli.Switch("json", "print JSON, one object per line") }

func flagDryRun() cliv2.Flag {
	return cli.Switch("dry-run", "show what would run and what rules remove; run nothing")
}

func flagAll() cliv2.Flag { return cli.Switch("all", "with --dry-run: show every task") }

func flagNoOutput() cliv2.Flag { return cli.Switch("no-output", "do not show the output of tasks") }

func flagVerbose() cliv2.Flag {
	return cli.Switch("verbose", "on a terminal: show the output of tasks (default: only if the "+
		"sweep has one task)", "v")
}

func flagUpdated() cliv2.Flag {
	return cli.Switch("updated", "use the current code, and tasks.yml except for settings that "+
		"cannot change")
}

// runFlags returns the options of every command that runs tasks.
func runFlags() []cliv2.Flag {
	flags := append([]cliv2.Flag{cli.Switch("local", "run on this machine")},
		locationFlags()[1:]...)
	return append(append(flags, runnerFlags()...),
		cli.Switch("detach", "return once the sweep has started; it keeps running"),
		cli.Switch("keep-going", "do not pause the sweep if its first tasks all "+
			"fail for the same reason"),
		flagNoOutput(), flagVerbose(),
		cli.Switch("quiet", "print only the ID of the sweep", "q"),
		flagJSON(),
		cli.Switch("cancel-on-interrupt", "on a cluster: Ctrl-C cancels the sweep"))
}

// argument returns the only positional argument, or "" when there is none.
func argument(ctx *cliv2.Context) (string, error) {
	if ctx.NArg() > 1 {
		first, second := ctx.Args().First(), ctx.Args().Get(1)
		if _, err := task.ParseID(first + "/" + second); err == nil {
			return "", cli.Wrong("a task is written "+first+"/"+second, "unexpected argument %q",
				second)
		}
		return "", stray(second)
	}
	return ctx.Args().First(), nil
}

func stray(arg string) error {
	return cli.Wrong("", "unexpected argument %q", arg)
}

// displayOptions reads it from a command's options.
func displayOptions(ctx *cliv2.Context) display.Options {
	return display.Options{Quiet: ctx.Bool("quiet"), JSON: ctx.Bool("json"),
		Output: !ctx.Bool("no-output"), Verbose: ctx.Bool("verbose"), OneMachine: locationOf(ctx) == project.Here}
}

// overrideFlags returns the options that change the parameters file for one sweep, beside
// NAME=VALUE.
func overrideFlags() []cliv2.Flag {
	return []cliv2.Flag{
		&cliv2.GenericFlag{Name: "repeat", Value: new(texts), DefaultText: "as in the file",
			Usage: "average over the parameter `NAME`, or NAME=VALUE,...; a number N runs each " +
				"combination N times; can be given more than once"},
		&cliv2.GenericFlag{Name: "sample", Value: new(whole), DefaultText: "as in the file",
			Usage: "run only `N` combinations, chosen at random"},
		&cliv2.GenericFlag{Name: "sample-seed", Value: new(whole),
			DefaultText: "as in the file, or 0", Usage: "choose the sample with the random seed `N`"},
		&cliv2.GenericFlag{Name: "limit", Value: new(whole), DefaultText: "0, no limit",
			Usage: "run only the first `N` tasks"},
	}
}

// texts are the values of an option that is given again and again.
type texts []string

func (t *texts) Set(text string) error { *t = append(*t, text); return nil }

func (t *texts) String() string { return strings.Join(*t, " ") }

// whole is the text of an option that has a whole number: see number.
type whole string

func (w *whole) Set(text string) error { *w = whole(text); return nil }

func (w *whole) String() string { return string(*w) }

// number is the value of an option; nil if it is not given. What is no whole number is a fault.
func number(ctx *cliv2.Context, name string, faults *fault.List) *int64 {
	if !ctx.IsSet(name) {
		return nil
	}
	text := ctx.String(name)
	n, err := strconv.ParseInt(text, 10, 64)
	if err == nil {
		return &n
	}
	problem := "it is not a whole number"
	if errors.Is(err, strconv.ErrRange) {
		problem = "it is out of range"
	}
	faults.Add(fault.Fault{File: "--" + name + " " + text, Problem: problem,
		Remedy: "write one, such as 20"})
	return nil
}

// flagPriority is how a submission names its priority.
func flagPriority() cliv2.Flag {
	return &cliv2.IntFlag{Name: "priority", DefaultText: "0",
		Usage: "priority `N` of the sweep; higher ones run first"}
}

// checkPriority refuses a priority that no sweep can have.
func checkPriority(ctx *cliv2.Context) error {
	if !ctx.IsSet("priority") {
		return nil
	}
	return fitsPriority(ctx.Int("priority"))
}

func fitsPriority(n int) error {
	if n < -core.MaxPriority || n > core.MaxPriority {
		return cli.Wrong("", "a priority is a whole number from -%d to %[1]d", core.MaxPriority)
	}
	return nil
}

// runOptions are the options of every command that runs tasks.
type runOptions struct {
	at        project.Location
	local     bool // --local is given
	look      display.Options
	detach    bool
	attached  bool
	keepGoing bool
	slots     int      // 0: as many as cores
	busy      string   // --gpu-busy or --gpu-busy-above, if one is given
	idleGPU   int64    // up to how much memory of a GPU others may use
	runner    []string // the options of a runner that the command starts
}

// readRunOptions refuses options that do not go together.
func readRunOptions(ctx *cliv2.Context) (o runOptions, err error) {
	o = runOptions{at: locationOf(ctx), local: ctx.Bool("local"), look: displayOptions(ctx),
		detach: ctx.Bool("detach"), attached: ctx.Bool("cancel-on-interrupt"),
		keepGoing: ctx.Bool("keep-going"), slots: ctx.Int("slots"), busy: cli.GPUBusyGiven(ctx),
		runner: runnerOptions(ctx)}
	away := o.at != project.Here
	switch {
	case ctx.IsSet("slots") && o.slots < 1:
		return o, cli.Wrong("", "--slots must be at least 1")
	case away && ctx.IsSet("slots"):
		return o, cli.Wrong("run-tasks workers slots WORKER N changes those of a worker",
			"--slots applies only to this machine")
	case away && o.busy != "":
		return o, cli.Wrong("gpu-busy and gpu-busy-above in cluster.yml are those of hosts",
			"%s applies only to this machine", o.busy)
	case o.at != project.InCluster && ctx.Bool("no-upload"):
		return o, cli.Wrong("", "--no-upload applies only to a cluster of cluster.yml")
	case !away && o.attached:
		return o, cli.Wrong("on this machine Ctrl-C stops what runs anyway",
			"--cancel-on-interrupt applies only to a master")
	case o.attached && o.detach:
		return o, cli.Wrong("", "--cancel-on-interrupt and --detach exclude each other")
	}
	busy, err := cli.GPUBusyOf(ctx)
	o.idleGPU = busy.Above
	return o, err
}
