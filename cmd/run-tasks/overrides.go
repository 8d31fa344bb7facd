package main

import (
	"os/exec"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// changeOf splits the arguments of a command into a name and NAME=VALUE, and reads the options
// beside these.
func changeOf(ctx *cliv2.Context) (name string, change space.Change, err error) {
	args := ctx.Args().Slice()
	for i, arg := range args {
		switch {
		case strings.Contains(arg, "="):
			change.Set = append(change.Set, arg)
		case apart(args, i):
			return "", change, cli.Wrong("write a parameter and its values without spaces, or in "+
				"quotes: lr=0.1,0.01", "unexpected argument %q", arg)
		case i > len(change.Set) && strings.Contains(args[i-1], "="):
			return "", change, cli.Wrong("write the values of a parameter with commas: "+
				project.Words([]string{args[i-1] + "," + arg}), "unexpected argument %q", arg)
		case i > len(change.Set):
			return "", change, strayAfter(ctx, name, arg)
		default:
			name = arg
		}
	}
	if t, ok := ctx.Generic("repeat").(*texts); ok {
		change.Repeat = slices.Clone(*t)
	}
	var faults fault.List
	change.Sample, change.Seed = number(ctx, "sample", &faults), number(ctx, "sample-seed", &faults)
	if limit := number(ctx, "limit", &faults); limit != nil {
		change.Limit = *limit
	}
	if len(faults) > 0 {
		return "", change, &cli.Error{Code: cli.Usage, Err: append(faults, change.Check()...).Err()}
	}
	return name, change, nil
}

// runVerbs are words that other programs need before what they run.
var runVerbs = []string{"run", "start", "submit", "launch"}

// strayAfter refuses an argument behind the name of a definition, which may have been meant as a
// command or an option.
func strayAfter(ctx *cliv2.Context, name, arg string) error {
	if ctx.App.Command(ctx.Command.Name) != nil {
		return stray(arg)
	}
	if file, _, err := definition.Load(projectFolder(ctx), nil); err == nil {
		if _, unknown := file.Task(name); unknown == nil {
			return stray(arg)
		}
		if _, unknown := file.Task(arg); unknown != nil && slices.Contains(runVerbs, name) {
			return cli.Wrong("to run a command: run-tasks -- "+project.Words(ctx.Args().Tail()),
				"unknown command %q", name)
		}
	}
	meant := ""
	var commands []string
	for _, c := range ctx.App.Commands {
		commands = append(commands, c.Name)
	}
	isOption := func(f cliv2.Flag) bool {
		_, boolean := f.(*cliv2.BoolFlag)
		return boolean && slices.Contains(f.Names(), name)
	}
	if slices.Contains(runVerbs, name) {
		meant = project.Words([]string{arg})
	} else if slices.ContainsFunc(ctx.App.Flags, isOption) {
		meant = project.Words([]string{arg, "--" + name})
	} else if near := project.NearestOf(name, commands); near != "" {
		meant = near + " " + project.Words([]string{arg})
	} else {
		if _, err := exec.LookPath(name); err == nil {
			return cli.Wrong("to run a command: run-tasks -- "+name+" "+arg+" ...",
				"unexpected argument %q", arg)
		}
		return stray(arg)
	}
	return cli.Wrong("did you mean `run-tasks "+meant+"`?", "unknown command %q", name)
}

// noOverrides refuses NAME=VALUE where a sweep goes on with the points that it has.
func noOverrides(ctx *cliv2.Context) error {
	for _, arg := range ctx.Args().Slice() {
		if strings.Contains(arg, "=") {
			remedy := "run-tasks extend SWEEP " + project.Words([]string{arg}) + " adds combinations to it"
			return cli.Wrong(remedy,
				"%s runs the combinations that a sweep has: %s cannot change them",
				ctx.Command.Name, arg)
		}
	}
	return nil
}

// apart reports whether spaces set an argument apart from = or a comma beside it.
func apart(args []string, i int) bool {
	before := i > 0 && (strings.HasSuffix(args[i-1], "=") || strings.HasSuffix(args[i-1], ","))
	return before || i > 0 && i+1 < len(args) && strings.HasPrefix(args[i+1], "=")
}
