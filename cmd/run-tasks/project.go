package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// usualParameters is what a parameters file is called in the examples.
const usualParameters = "parameters.yml"

// project is a definition of a project, read and checked.
type project struct {
	dir    string // absolute
	named  string // dir as the user wrote it
	file   *definition.File
	task   definition.Task
	space  *space.Space
	change space.Change // of the command line to the parameters file
	limit  int64        // of the missing points, those that run; 0: all
	config []byte       // the file that takes the parameters
	notify *task.Notify // nil: no notifications
	notes  []string     // for the user to read before anything runs
	files  *projects.Manifest
	typed  bool // a command line, without a tasks.yml
}

// tasksFile returns tasks.yml; nil for a command, which any worker can run.
func (p *project) tasksFile() *definition.File {
	if p.typed {
		return nil
	}
	return p.file
}

// list lists the project's files, once.
func (p *project) list(ctx context.Context) (*projects.Manifest, error) {
	if p.files == nil {
		files, err := projects.List(ctx, p.dir)
		if err != nil {
			return nil, projectError(err)
		}
		p.files = files
	}
	return p.files, nil
}

// projectOptions say what of a project a new sweep runs.
type projectOptions struct {
	dir    string // as the user wrote it
	name   string // of the definition
	change space.Change
	place  location // where its tasks run
	needs  needOptions

	missing  bool // only what has not succeeded
	asPushed bool // with the files that a cluster was brought last
	dryRun   bool // nothing runs

	argv      []string // a command in place of a definition; nil: none
	as        string   // how it takes its parameters; "": as usual
	metrics   []string // NAME=REGEX
	objective string
}

// readProject reads tasks.yml, the definition of a name, and its parameters as a command line
// changes them. Every fault of both files is reported.
func readProject(dir, name string, change space.Change) (*project, error) {
	file, notes, err := definition.Load(dir, site.Reserved())
	if err != nil {
		return nil, tasksFileFaults(dir, name, change, err)
	}
	p := &project{named: dir, file: file, space: new(space.Space), change: change}
	if p.dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if p.task, err = file.Task(name); err != nil {
		return nil, unknownTask(err)
	}
	for _, n := range notes {
		p.notes = append(p.notes, n.String())
	}
	if err := p.readParameters(dir); err != nil {
		return p, err
	}
	return p, p.checkInputs()
}

// read reads a project as readProject does, for a new sweep.
func (o projectOptions) read(ctx context.Context) (p *project, err error) {
	limit := int64(0)
	if o.missing {
		limit, o.change.Limit = o.change.Limit, 0
	}
	if o.argv != nil {
		p, err = o.readCommand()
	} else {
		p, err = readProject(o.dir, o.name, o.change)
	}
	if err != nil {
		return p, err
	}
	p.limit = limit
	if err := p.readNotify(o.place); err != nil {
		return p, err
	}
	p.noteObjective()
	p.noteSwitches()
	p.noteDashes()
	if err = o.needs.change(&p.task.Needs); err == nil && !o.asPushed {
		err = p.checkProgram(o.place)
		if w, found := p.missingProgram(o.place); o.dryRun && found {
			p.notes, err = append(p.notes, w.Text+"; "+w.Remedy), nil
		}
	}
	problem, remedy := p.file.GPUVariable(p.task)
	if err == nil && problem != "" && p.task.GPUs.Count > 0 {
		return p, cli.Wrong(remedy, "--gpus %s: %s", o.needs.amounts["gpus"], problem)
	}
	return p, err
}

// noteObjective notes an objective that no metric is declared for: a slip in its name would show at
// the end only.
func (p *project) noteObjective() {
	name := p.task.Objective.Metric
	if name == "" || slices.ContainsFunc(p.task.Metrics,
		func(m metric.Rule) bool { return m.Name == name }) {
		return
	}
	declared := make([]string, len(p.task.Metrics))
	for i, m := range p.task.Metrics {
		declared[i] = m.Name
	}
	meant := ""
	if near := fault.Nearest(name, declared); near != "" {
		meant = "; did you mean " + near + "? If not"
	}
	declare := "it is added to metrics in tasks.yml"
	if p.typed {
		declare = "--metric " + name + "=REGEX finds it"
	}
	p.notes = append(p.notes, fmt.Sprintf("no metric %s is declared for the objective%s: tasks "+
		"must print it as {\"metrics\": {%q: 0.5}}, or %s", name, meant, name, declare))
}

// tasksFileFaults adds to the faults of tasks.yml those of the parameters. Which file a broken
// definition names is not known, so it is the usual one. Where there is no tasks.yml, a command may
// have been meant.
func tasksFileFaults(dir, name string, change space.Change, err error) error {
	if _, none := os.Stat(filepath.Join(dir, definition.FileName)); errors.Is(none,
		fs.ErrNotExist) {
		if near := nearestCommand(name); near != "" && dir == "." {
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
	if near := nearestCommand(unknown.Name); near != "" && unknown.Nearest == "" {
		e.Remedy = "did you mean the command `run-tasks " + near + "`?"
	}
	return e
}

// synonyms are what other programs call commands of this one.
var synonyms = map[string]string{"list": "ls", "ps": "ls", "status": "show", "stop": "cancel",
	"kill": "cancel", "attach": "follow", "watch": "follow", "tail": "logs -f", "output": "logs",
	"delete": "rm", "remove": "rm", "shell": "exec", "ssh": "exec", "download": "fetch",
	"best": "results", "dashboard": "monitor", "ui": "monitor", "rerun": "retry"}

// nearestCommand returns the command that a name may mean; "" if there is none.
func nearestCommand(name string) string { return nearestOf(name, site.Reserved()) }

func nearestOf(name string, commands []string) string {
	if meant, known := synonyms[name]; known {
		return meant
	}
	return fault.Nearest(name, commands)
}

// readParameters reads the space; dir is the project's folder as the user wrote it.
func (p *project) readParameters(dir string) error {
	name := p.task.Parameters
	words := p.change.Arguments()
	if name == "" && len(words) > 0 && !p.task.EachWorker && p.change.OnlyRepeats() {
		s, _, err := space.Read(usualParameters, nil, p.change)
		if err == nil {
			p.space = s
		}
		return err
	}
	if name == "" && len(words) > 0 {
		return p.unchangeable(words)
	}
	if name == "" {
		if !p.task.EachWorker {
			p.notes = append(p.notes, p.task.Name+" names no parameters file: one task without "+
				"flags")
		}
		return nil
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return fault.List{{File: path, Problem: "does not exist, and " + p.task.Name +
			" in tasks.yml names it",
			Remedy: "write it, or take the line `parameters: " + name + "` out"}}
	}
	if err != nil {
		return fault.List{{File: path, Problem: human.Cause(err), Remedy: p.task.Name +
			" in tasks.yml names it as its parameters file"}}
	}
	s, notes, err := space.Read(path, data, p.change)
	if err != nil {
		return unreadParameters(path, err)
	}
	p.space = s
	for _, n := range notes {
		p.notes = append(p.notes, n.String())
	}
	return nil
}

// unchangeable refuses overrides of a definition that has no parameters file.
func (p *project) unchangeable(words []string) error {
	if p.task.EachWorker {
		return cli.Wrong("run it without "+typed(words)+"; a definition without each: worker, "+
			"with parameters: "+usualParameters+
			", runs combinations", "%s runs once on every worker (each: worker), without "+
			"parameters: %s has nothing to change", p.task.Name, words[0])
	}
	return cli.Wrong("name one in tasks.yml, such as parameters: "+usualParameters+"; --repeat 10 "+
		"alone needs none",
		"%s has no parameters file that %s could change", p.task.Name, words[0])
}

// record is what a sweep of the project is from now on, at a revision.
func (p *project) record(revision string) core.Record {
	t := p.task
	r := core.Record{
		Version: task.Version, Space: p.space, Style: styleOf(t),
		CommandLine: p.typed, EachWorker: t.EachWorker,
		Retry: t.Retry, MaxFailures: int64(t.MaxFailures), KeepGoing: t.KeepGoing,
		Objective: t.Objective, Project: p.dir, ParametersFile: t.Parameters, Notify: p.notify,
		OnEnd: t.OnEnd,
		Recipe: task.Recipe{
			Definition: t.Name, Command: t.Command, Secrets: p.file.Secrets, Revision: revision,
			File: t.File, Outputs: p.file.Outputs, Link: p.file.Link, Copy: p.file.Copy,
			Workdir: t.Workdir, Timeout: t.Timeout, Grace: t.Grace, Idle: t.Idle,
			Needs:         t.Needs,
			CountsRepeats: p.space.Counted(),
		},
	}
	p.setInputs(&r.Recipe)
	for _, l := range p.file.Links {
		if r.Recipe.Links == nil {
			r.Recipe.Links = map[string]string{}
		}
		r.Recipe.Links[l.Path] = l.Target
	}
	r.Recipe.Metrics = append(r.Recipe.Metrics, t.Metrics...)
	if !p.change.IsZero() {
		r.Overrides = &p.change
	}
	return r
}

// secretsSet reports the secrets that a sweep needs and that are not in the environment.
func secretsSet(names []string) error {
	unset := slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return os.Getenv(name) != ""
	})
	if len(unset) == 0 {
		return nil
	}
	return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("tasks.yml names secrets that are not "+
		"set here: %s", strings.Join(unset, ", ")),
		Remedy: "set them in the environment: export " + unset[0] + "=..."}
}

// noteShortSecrets notes the secrets that are too short to be looked for in what tasks print.
func (p *project) noteShortSecrets() {
	for _, name := range p.file.Secrets {
		if len(os.Getenv(name)) < worker.ShortestSecret {
			p.notes = append(p.notes, fmt.Sprintf("the secret %s has fewer than %d characters: "+
				"it is not hidden when a task prints it", name, worker.ShortestSecret))
		}
	}
}

// noteUnused notes what tasks.yml says that a run does not use there.
func (p *project) noteUnused(at location) {
	var unused []string
	for _, key := range []struct {
		name string
		used bool
	}{
		{"image", p.file.Image != ""}, {"build", p.file.Build != ""}, {"volumes",
			len(p.file.Volumes) > 0},
		{"container", p.file.Container != (definition.Container{})},
	} {
		if key.used {
			unused = append(unused, key.name)
		}
	}
	if problem, remedy := p.file.GPUVariable(p.task); problem != "" && at != inFolder {
		p.notes = append(p.notes, p.task.Name+" has no gpus, and such tasks see none on a host, "+
			"whatever env says: write gpus: 1, and "+remedy)
	}
	text := strings.Join(unused, ", ") + " in tasks.yml: "
	switch {
	case len(unused) == 0 || at == inCluster: // infrainit gave the workers all of it
	case at == inFolder:
		p.notes = append(p.notes, text+"not used on this machine, where tasks run without a "+
			"container")
	default:
		p.notes = append(p.notes, text+"not used here: the workers of this master run as they "+
			"were started")
	}
}
