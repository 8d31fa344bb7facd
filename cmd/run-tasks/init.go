package main

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/guess"
	"mlframework/projects/template"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
)

func initCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "init", ArgsUsage: "[FOLDER|SCRIPT]",
		Flags:  []cliv2.Flag{cli.Switch("full", "write all keys of tasks.yml, with comments")},
		Action: func(ctx *cliv2.Context) error { return initialize(ctx, &c.terminal) },
		Usage:  "write tasks.yml for a script, or an example project",
		Description: `Writes tasks.yml and parameters.yml for the scripts in FOLDER, by default the
current folder. It reads their options (argparse, click, absl), Hydra
configuration or use of sys.argv, and does not run them. If the folder has
several programs, name the SCRIPT to use. Existing files are not
overwritten. In a new or empty folder, init creates an example project.

EXAMPLES:
   # for the scripts in this folder
   run-tasks init
   # for one of them
   run-tasks init evaluate.py
   # create an example, then run it with run-tasks -d first run_training
   run-tasks init first`}
}

// initialize is `run-tasks init`.
func initialize(ctx *cliv2.Context, t *terminal) error {
	named, err := argument(ctx)
	if err != nil {
		return err
	}
	dir, script := cmp.Or(named, "."), ""
	info, err := os.Stat(dir)
	switch {
	case err == nil && info.Mode().IsRegular() && isScript(dir):
		dir, script = scriptFolder(dir)
	case err == nil && !info.IsDir():
		return cli.Wrong("name a folder, or a script that ends with .py or .sh",
			"%s is neither", cli.Visible(dir))
	case err != nil && isScript(dir):
		return cli.Wrong("check its spelling", "there is no script %s", cli.Visible(dir))
	case err != nil || isEmpty(dir):
		return writeExample(t, dir)
	}
	if file := filepath.Join(dir, definition.FileName); exists(file) {
		return fault.List{{File: file, Problem: "already exists, and init overwrites nothing",
			Remedy: "edit it, or remove it first; run-tasks" + folderOption(dir) +
				" --dry-run shows what it runs"}}
	}
	project := os.DirFS(dir)
	programs := guess.Programs(project)
	if script != "" {
		programs = slices.DeleteFunc(programs, func(p guess.Program) bool { return p.Path == script })
		programs = slices.Insert(programs, 0, guess.Read(project, script))
	}
	if len(programs) == 0 {
		return cli.Wrong("name one: run-tasks init SCRIPT; for an example project name a new folder: "+
			"run-tasks init FOLDER", "found no program in %s: no script with argparse, click, absl, "+
			"Hydra, sys.argv or __main__, and no shell script", cli.Visible(dir))
	}
	return writeGuess(t, dir, programs, ctx.Bool("full"))
}

func isScript(name string) bool {
	return slices.Contains([]string{".py", ".sh"}, filepath.Ext(name))
}

// scriptFolder returns the project of a script and the script's path in it. The project is the
// current folder if the script is in it or below.
func scriptFolder(file string) (dir, script string) {
	if filepath.IsLocal(file) {
		return ".", filepath.ToSlash(filepath.Clean(file))
	}
	return filepath.Dir(file), filepath.Base(file)
}

func isEmpty(dir string) bool {
	entries, err := os.ReadDir(dir)
	return err == nil && len(entries) == 0
}

// writeExample writes the example project into a new or empty folder.
func writeExample(t *terminal, dir string) error {
	written, err := template.Write(dir)
	if err != nil {
		return err
	}
	for _, name := range written {
		fmt.Fprintln(t.stdout, name)
	}
	fmt.Fprintf(t.stderr, "run it: run-tasks --local%s run_training\n", folderOption(dir))
	return nil
}

// folderOption is the option that names a project's folder; the current one needs none.
func folderOption(dir string) string {
	if dir == "." {
		return ""
	}
	return " " + human.CommandLine([]string{"-d", dir})
}

// writeGuess writes the files for the first of several programs, and says what they run.
func writeGuess(t *terminal, dir string, programs []guess.Program, full bool) error {
	p := programs[0]
	var names []string
	for _, o := range p.Options {
		names = append(names, o.Name)
	}
	typed, _, err := definition.OfCommand(definition.Command{Argv: p.Command(), Flags: "equals",
		Parameters: names}, site.Reserved())
	if err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	name := typed.Tasks[0].Name
	files := p.Write(name, programs[1:])
	if full {
		example, err := template.Files.ReadFile(definition.FileName)
		if err != nil {
			return err
		}
		files.Tasks = p.WriteFull(name, string(example))
	}
	parameters := filepath.Join(dir, guess.ParametersFile)
	kept := false
	if files.Parameters != "" {
		switch err := create(parameters, files.Parameters); {
		case errors.Is(err, fs.ErrExist):
			kept = true
		case err != nil:
			return err
		}
	}
	tasks := filepath.Join(dir, definition.FileName)
	if err := create(tasks, files.Tasks); err != nil {
		if files.Parameters != "" && !kept {
			_ = os.Remove(parameters)
		}
		return err
	}
	fmt.Fprintln(t.stdout, tasks)
	if files.Parameters != "" && !kept {
		fmt.Fprintln(t.stdout, parameters)
	}
	fmt.Fprintf(t.stderr, "%s runs %s", name, human.CommandLine(p.Command()))
	switch {
	case kept:
		fmt.Fprintf(t.stderr, " with %s, which is kept as it is\n", parameters)
	case files.Parameters == "":
		fmt.Fprintf(t.stderr, " once; add parameters to %s, which tasks.yml then names\n", parameters)
	default:
		fmt.Fprintf(t.stderr, ": %d tasks\n", files.Count)
	}
	if p.Incomplete {
		fmt.Fprintf(t.stderr, "init cannot read the parameters of %s (subcommands, typer, fire, tyro "+
			"or data classes)\n", p.Path)
	}
	if len(files.Fill) > 0 && !kept {
		fmt.Fprintf(t.stderr, "first replace CHANGE-ME in %s: %s needs a value for %s\n", parameters,
			p.Path, strings.Join(files.Fill, ", "))
	}
	in := folderOption(dir)
	fmt.Fprintf(t.stderr, "show its tasks: run-tasks --local%s --dry-run %s\n", in, name)
	fmt.Fprintf(t.stderr, "run it: run-tasks --local%s %s\n", in, name)
	return nil
}

// create writes a new file. An existing one is left alone: the error is [fs.ErrExist].
func create(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}
