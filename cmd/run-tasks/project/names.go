package project

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/space"
)

// TasksFileFaults adds to the faults of tasks.yml those of the parameters. Which file a broken
// definition names is not known, so it is the usual one. Where there is no tasks.yml, a command may
// have been meant.
func TasksFileFaults(dir, name string, change space.Change, err error) error {
	if _, none := os.Stat(filepath.Join(dir, definition.FileName)); errors.Is(none,
		fs.ErrNotExist) {
		if near := NearestCommand(name); near != "" && dir == "." {
			return cli.Wrong("did you mean `run-tasks "+near+"`?",
				"unknown command %q, and there is no %s here", name, definition.FileName)
		}
		return err
	}
	faults, ok := errors.AsType[fault.List](err)
	path := filepath.Join(dir, usualParameters)
	data, none := os.ReadFile(path)
	if !ok || none != nil {
		return err
	}
	_, _, wrong := space.Read(path, data, change)
	more, _ := errors.AsType[fault.List](wrong)
	return append(slices.Clip(faults), more...)
}

// unknownTask names subcommands too: who mistypes one is told that there is no such definition.
func unknownTask(err error) error {
	unknown, ok := errors.AsType[*definition.UnknownTask](err)
	if !ok {
		return err
	}
	e := &cli.Error{Code: cli.Usage, Err: err}
	if near := NearestCommand(unknown.Name); near != "" && unknown.Nearest == "" {
		e.Remedy = "did you mean the command `run-tasks " + near + "`?"
	} else if info, err := os.Stat(unknown.Name); err == nil && info.Mode().IsRegular() {
		words := []string{unknown.Name}
		if filepath.Ext(unknown.Name) == ".py" {
			words = []string{"python3", unknown.Name}
		}
		e.Remedy = "to run the script: run-tasks -- " + Words(words)
	}
	return e
}

// synonyms are what other programs call commands of this one.
var synonyms = map[string]string{"list": "ls", "ps": "ls", "status": "show", "stop": "cancel",
	"kill": "cancel", "attach": "follow", "watch": "follow", "tail": "logs -f", "output": "logs",
	"delete": "rm", "remove": "rm", "shell": "exec", "ssh": "exec", "download": "fetch",
	"best": "results", "dashboard": "monitor", "ui": "monitor", "rerun": "retry", "abort": "cancel",
	"info": "show", "describe": "show", "export": "results --csv", "clean": "prune", "gc": "prune",
	"version": "--version"}

// NearestCommand returns the command that a name may mean; "" if there is none.
func NearestCommand(name string) string { return NearestOf(name, site.Reserved()) }

// NearestOf is NearestCommand among some commands.
func NearestOf(name string, commands []string) string {
	if meant, known := synonyms[name]; known {
		return meant
	}
	return fault.Nearest(name, commands)
}
