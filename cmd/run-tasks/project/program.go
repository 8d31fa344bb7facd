package project

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/argv"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// checkProgram refuses a new sweep whose program or script does not exist: all of its tasks would
// fail. Programs of other machines are not checked.
func (p *Project) checkProgram(at Location) error {
	w, found := p.missingProgram(at)
	switch {
	case !found && p.Task.OnEnd == nil:
		return nil
	case !found:
		return p.checkOnEnd(at)
	case p.Typed:
		return cli.Wrong(w.Remedy, "%s", w.Text)
	}
	return fault.List{p.placed(w)}
}

// checkOnEnd refuses a new sweep if what is to run at its end does not exist.
func (p *Project) checkOnEnd(at Location) error {
	end := *p
	end.Task.Command = p.Task.OnEnd.Run
	if w, found := end.missingProgram(at); found {
		return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("%s: tasks.%s.on-end: %s",
			definition.FileName, p.Task.Name, w.Text), Remedy: w.Remedy}
	}
	return nil
}

// missingProgram returns what is wrong with the command if its program or its script does not
// exist.
func (p *Project) missingProgram(at Location) (w argv.Problem, found bool) {
	command := p.Task.Command
	name := command[0]
	switch {
	case task.HasPlaceholders(name):
	case strings.Contains(name, "/"):
		if w, found = p.missingFile(at, 0); found {
			return w, true
		}
	case at == Here && !p.setsPath():
		if _, err := exec.LookPath(name); err != nil && !errors.Is(err, exec.ErrDot) {
			w = argv.Problem{At: "command[0]", Text: "there is no program " + Words([]string{name}) +
				" in PATH", Remedy: "check its spelling, or name it with its path"}
			if words := strings.Fields(name); len(words) > 1 {
				w.Remedy = "write each word apart: command: [" + strings.Join(words, ", ") + "]"
				if p.Typed {
					w.Remedy = "write each word apart: run-tasks -- " + Words(words)
				}
			} else if near := fault.Nearest(name, programs()); near != "" && len(name) > 3 {
				w.Remedy = "did you mean " + near + "?"
			} else if info, err := os.Stat(filepath.Join(p.Dir, p.Task.Workdir, name)); err == nil {
				w.Remedy = "for the file in the project write ./" + name
				if path.Ext(name) == ".py" && info.Mode()&0o111 == 0 {
					w.Remedy = "to run the script: python3 " + name
				}
			}
			return w, true
		}
	}
	if i := definition.ScriptIndex(command); i > 0 {
		return p.missingFile(at, i)
	}
	return argv.Problem{}, false
}

// setsPath reports whether tasks get a PATH of tasks.yml.
func (p *Project) setsPath() bool {
	return slices.ContainsFunc(slices.Concat(p.File.Env, p.Task.Env),
		func(v definition.Variable) bool { return v.Name == "PATH" })
}

// missingFile returns what is wrong with a word of the command that names a file, if there is none.
func (p *Project) missingFile(at Location, i int) (w argv.Problem, found bool) {
	name := p.Task.Command[i]
	w = argv.Problem{At: fmt.Sprintf("command[%d]", i)}
	if filepath.IsAbs(name) {
		w.Text, w.Remedy = "there is no "+name, "check its spelling"
		return w, at == Here && !exists(name)
	}
	inProject := path.Join(p.Task.Workdir, name)
	if strings.HasPrefix(inProject, "../") {
		w.Text = name + " is outside the project's folder, and tasks do not get it"
		w.Remedy = "run it from the folder that holds it, or name that with -d"
		return w, true
	}
	file := filepath.Join(p.Dir, filepath.FromSlash(inProject))
	if exists(file) || linked(p.Record("").Recipe, inProject) {
		return w, false
	}
	w.Text = "there is no " + inProject + " in the project"
	w.Remedy = "check its spelling; paths are relative to the project's folder"
	if p.Typed {
		w.Text = "there is no " + inProject + " in this folder"
		if p.named != "." {
			w.Text = "there is no " + inProject + " in " + cli.Visible(p.named)
		}
		w.Remedy = "go to its project's folder, or name that with -d"
	} else if p.Task.Workdir != "" && exists(filepath.Join(p.Dir, filepath.FromSlash(name))) {
		w.Remedy = "the command runs in workdir: " + p.Task.Workdir
	}
	if near := fault.Nearest(path.Base(name), filesIn(filepath.Dir(file))); near != "" {
		w.Remedy = "did you mean " + path.Join(path.Dir(name), near) + "?"
	}
	return w, true
}

// programs lists the names in PATH.
func programs() (names []string) {
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		names = append(names, filesIn(dir)...)
	}
	return names
}

// filesIn lists the names of files in a folder; those of one that cannot be read are none.
func filesIn(dir string) (names []string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	for _, e := range entries {
		if !e.IsDir() {
			names = append(names, e.Name())
		}
	}
	return names
}
