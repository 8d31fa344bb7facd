package main

import (
	"os/exec"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
)

// otherOptions are options that other programs have, and what does the same here. Those of a
// command begin with its name.
var otherOptions = map[string]string{
	"seed":           "a parameter is set without dashes: seed=1; --sample-seed chooses the sample",
	"n":              "--dry-run shows what would run; --limit N runs only the first N tasks",
	"V":              "run-tasks --version prints the version",
	"project":        "-d FOLDER names the project's folder",
	"dir":            "-d FOLDER names the project's folder",
	"jobs":           "--slots N runs N tasks at a time",
	"parallel":       "--slots N runs N tasks at a time",
	"workers":        "--slots N runs N tasks at a time",
	"results limit":  "--top N prints the best N tasks",
	"results n":      "--top N prints the best N tasks",
	"ls all":         "run-tasks ls lists all sweeps",
	"ls a":           "run-tasks ls lists all sweeps",
	"show all":       "run-tasks results lists all tasks of a sweep",
	"cancel all":     "run-tasks cancel SWEEP cancels all tasks of a sweep",
	"fetch all":      "run-tasks fetch SWEEP copies the outputs of all its tasks",
	"fetch dry-run":  "run-tasks results lists tasks, also with --where and --top",
	"logs tail":      "run-tasks logs SWEEP/INDEX | tail -n N",
	"logs n":         "run-tasks logs SWEEP/INDEX | tail -n N",
	"logs failed":    "run-tasks results --failures names failed tasks, and the command for each",
	"results failed": "run-tasks results --failures, or --where state=failed",
}

// meantOption says what an option that does not exist was probably meant to do; "" if that is not
// known.
func (c *command) meantOption(o *cli.UnknownOption) string {
	of := strings.TrimPrefix(strings.TrimPrefix(o.Command, "run-tasks"), " ")
	if meant := otherOptions[strings.TrimPrefix(of+" "+o.Name, " ")]; meant != "" {
		return meant
	}
	if of != "" {
		return ""
	}
	at := slices.IndexFunc(c.args, func(arg string) bool {
		name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		return strings.HasPrefix(arg, "-") && name == o.Name
	})
	if at < 1 { // parameters and commands stand before it
		return setWithoutDashes(o.Name, o.Value)
	}
	if _, err := exec.LookPath(c.args[0]); err == nil || at > 1 && isFile(c.args[1]) {
		return "to run a command: run-tasks -- " + project.Words(c.args)
	}
	if next := at + 1; o.Value == "" && next < len(c.args) && isValue(c.args[next]) {
		return setWithoutDashes(o.Name, c.args[next])
	}
	return setWithoutDashes(o.Name, o.Value)
}

func setWithoutDashes(name, value string) string {
	if value == "" {
		return ""
	}
	return "see `run-tasks --help`; a parameter is set without dashes: " +
		project.Words([]string{name + "=" + value})
}

// isValue reports whether an argument behind an option may be its value.
func isValue(arg string) bool {
	return !strings.Contains(arg, "=") && (!strings.HasPrefix(arg, "-") || strings.ContainsAny(arg[1:],
		"0123456789"))
}

// wholeCondition refuses a condition of --where that is a lone name: a shell that reads
// accuracy > 0.8 without quotes passes no more.
func wholeCondition(where string) error {
	if where == "" || strings.ContainsAny(where, "=<>~!() ") {
		return nil
	}
	return cli.Wrong("write all of it in quotes: --where '"+where+" > 0.5'; without them, a shell "+
		"takes > for the name of a file to write", "--where %s: a comparison is missing", where)
}
