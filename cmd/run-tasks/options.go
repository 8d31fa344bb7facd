package main

import (
	"errors"
	"runtime"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/core"
	"mlframework/sweep/fault"
)

// Options that several commands have.
func flagLocal() cliv2.Flag {
	return &cliv2.BoolFlag{DisableDefaultText: true, Name: "local", Usage: "on this machine, with nothing installed"}
}

func flagMaster() cliv2.Flag {
	return &cliv2.StringFlag{Name: "master", DefaultText: "config.yml's", Usage: "of the master at `SOCKET` here"}
}

// locationFlags returns the options that say whose sweeps a command is about.
func locationFlags() []cliv2.Flag { return []cliv2.Flag{flagLocal(), cli.ConfigFlag(), flagMaster()} }

func flagProject() cliv2.Flag {
	return &cliv2.StringFlag{Name: "d", Value: ".", DefaultText: "the current folder", Usage: "the project's `FOLDER`"}
}

func flagJSON() cliv2.Flag {
	return &cliv2.BoolFlag{DisableDefaultText: true, Name: "json", Usage: "one JSON object per line on standard output"}
}

func flagDryRun() cliv2.Flag {
	return &cliv2.BoolFlag{DisableDefaultText: true, Name: "dry-run", Usage: "show what would run, and what rules remove; run nothing"}
}

func flagAll() cliv2.Flag {
	return &cliv2.BoolFlag{DisableDefaultText: true, Name: "all", Usage: "with --dry-run: show every task"}
}

func flagNoOutput() cliv2.Flag {
	return &cliv2.BoolFlag{DisableDefaultText: true, Name: "no-output", Usage: "do not show what the tasks print"}
}

// runFlags returns the options of every command that runs tasks.
func runFlags() []cliv2.Flag {
	return append(locationFlags(),
		&cliv2.IntFlag{Name: "slots", Value: runtime.NumCPU(), DefaultText: "the number of cores", Usage: "run `N` tasks at a time"},
		flagNoOutput(),
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "quiet", Aliases: []string{"q"}, Usage: "print only the sweep's id"},
		flagJSON(),
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "attached", Usage: "on a cluster: Ctrl-C cancels the sweep"})
}

func updateFlags() []cliv2.Flag {
	return []cliv2.Flag{
		&cliv2.BoolFlag{DisableDefaultText: true, Name: "updated", Usage: "use the current code, and tasks.yml as far as it can change"},
		&cliv2.StringFlag{Name: "d", DefaultText: "as before", Usage: "with --updated: the project's `FOLDER`"},
	}
}

// argument returns the only positional argument, or "" when there is none.
func argument(ctx *cliv2.Context) (string, error) {
	if ctx.NArg() > 1 {
		return "", stray(ctx.Args().Get(1))
	}
	return ctx.Args().First(), nil
}

func stray(arg string) error {
	return cli.Wrong("", "%q is one argument too many", arg)
}

// displayOptions reads it from a command's options.
func displayOptions(ctx *cliv2.Context) display.Options {
	return display.Options{Quiet: ctx.Bool("quiet"), JSON: ctx.Bool("json"), Output: !ctx.Bool("no-output")}
}

// overrideFlags returns the options that change the parameters file for one sweep, beside NAME=VALUE.
func overrideFlags() []cliv2.Flag {
	return []cliv2.Flag{
		&cliv2.GenericFlag{Name: "repeat", Value: new(texts), DefaultText: "file's",
			Usage: "a `NAME`, or NAME=VALUE,... to average over"},
		&cliv2.GenericFlag{Name: "sample", Value: new(whole), DefaultText: "file's",
			Usage: "run only `N` combinations, drawn at random"},
		&cliv2.GenericFlag{Name: "seed", Value: new(whole), DefaultText: "file's, or 0",
			Usage: "draw the sample with the number `N`"},
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
	n, err := strconv.ParseInt(text, 0, 64)
	if err == nil {
		return &n
	}
	problem := "it is not a whole number"
	if errors.Is(err, strconv.ErrRange) {
		problem = "it is beyond what can be counted"
	}
	faults.Add(fault.Fault{File: "--" + name + " " + text, Problem: problem, Remedy: "write one, such as 20"})
	return nil
}

// flagPriority is how a submission names its priority.
func flagPriority() cliv2.Flag {
	return &cliv2.IntFlag{Name: "priority", DefaultText: "0", Usage: "sweeps of a higher `N` go first"}
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

// checkRunning refuses options that do not go together in commands that run tasks.
func checkRunning(ctx *cliv2.Context) error {
	away := locationOf(ctx) != inFolder
	switch {
	case ctx.Int("slots") < 1:
		return cli.Wrong("", "--slots must be at least 1")
	case away && ctx.IsSet("slots"):
		return cli.Wrong("run-tasks workers slots WORKER N changes those of a worker", "--slots is for runs on this machine")
	case !away && ctx.Bool("attached"):
		return cli.Wrong("on this machine Ctrl-C stops what runs anyway", "--attached is for a master")
	}
	return nil
}
