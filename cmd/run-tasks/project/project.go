// Package project reads a project and decides what of it is submitted: a definition of tasks.yml or
// a command line becomes the record of a sweep, with what is wrong with it and what its user should
// know. It also compares a sweep with what its project says now.
//
// It reads files of the project and of the user, and asks and prints nothing.
package project

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	slashpath "path"
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

// Location says where the tasks of a project run.
type Location int

// Where tasks run.
const (
	Here      Location = iota // on this machine, without containers
	AtSocket                  // at a master whose socket is named
	InCluster                 // in the containers of a cluster that infrainit set up
)

// Project is a definition of a project, read and checked.
type Project struct {
	Dir    string // absolute
	File   *definition.File
	Task   definition.Task
	Space  *space.Space
	Config []byte   // the file that takes the parameters
	Notes  []string // for the user to read before anything runs
	Typed  bool     // a command line, without a tasks.yml

	named  string       // Dir as the user wrote it
	change space.Change // of the command line to the parameters file
	limit  int64        // of the missing points, those that run; 0: all
	notify *task.Notify // nil: no notifications
	files  *projects.Manifest
}

// TasksFile returns tasks.yml; nil for a command, which any worker can run.
func (p *Project) TasksFile() *definition.File {
	if p.Typed {
		return nil
	}
	return p.File
}

// List lists the project's files, once.
func (p *Project) List(ctx context.Context) (*projects.Manifest, error) {
	if p.files == nil {
		files, err := projects.List(ctx, p.Dir)
		if err != nil {
			return nil, FilesError(err)
		}
		p.files = files
	}
	return p.files, nil
}

// Options say what of a project a new sweep runs.
type Options struct {
	Dir    string // of the project, as the user wrote it
	Name   string // of the definition
	Change space.Change
	Place  Location
	Needs  Needs

	Missing  bool // only what has not succeeded
	AsPushed bool // with the files that a cluster was brought last
	DryRun   bool // nothing runs

	Argv      []string // a command in place of a definition; nil: none
	As        string   // how it takes its parameters; "": as usual
	Metrics   []string // NAME=REGEX
	Objective string
}

// Read reads tasks.yml, the definition of a name, and its parameters as a command line
// changes them. Every fault of both files is reported.
func Read(dir, name string, change space.Change) (*Project, error) {
	file, notes, err := definition.Load(dir, site.Reserved())
	if err != nil {
		return nil, TasksFileFaults(dir, name, change, err)
	}
	p := &Project{named: dir, File: file, Space: new(space.Space), change: change}
	if p.Dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	if p.Task, err = file.Task(name); err != nil {
		return nil, unknownTask(err)
	}
	for _, n := range notes {
		p.Notes = append(p.Notes, n.String())
	}
	if err := p.readParameters(dir); err != nil {
		return p, err
	}
	return p, p.checkInputs()
}

// Read reads the project of a new sweep.
func (o Options) Read() (p *Project, err error) {
	limit := int64(0)
	if o.Missing {
		limit, o.Change.Limit = o.Change.Limit, 0
	}
	if o.Argv != nil {
		p, err = o.readCommand()
	} else {
		p, err = Read(o.Dir, o.Name, o.Change)
	}
	if err != nil {
		return p, err
	}
	p.limit = limit
	if err := p.readNotify(o.Place); err != nil {
		return p, err
	}
	p.noteObjective()
	p.noteSwitches()
	p.noteDashes()
	if err = o.Needs.Change(&p.Task.Needs); err == nil && !o.AsPushed {
		err = p.checkProgram(o.Place)
		if w, found := p.missingProgram(o.Place); o.DryRun && found {
			p.Notes, err = append(p.Notes, w.Text+"; "+w.Remedy), nil
		}
	}
	problem, remedy := p.File.GPUVariable(p.Task)
	if err == nil && problem != "" && p.Task.GPUs.Count > 0 {
		return p, cli.Wrong(remedy, "--gpus %s: %s", o.Needs.Amounts["gpus"], problem)
	}
	return p, err
}

// noteObjective notes an objective that no metric is declared for: a slip in its name would show at
// the end only.
func (p *Project) noteObjective() {
	name := p.Task.Objective.Metric
	if name == "" || slices.ContainsFunc(p.Task.Metrics,
		func(m metric.Rule) bool { return m.Name == name }) {
		return
	}
	declared := make([]string, len(p.Task.Metrics))
	for i, m := range p.Task.Metrics {
		declared[i] = m.Name
	}
	meant := ""
	near := fault.Nearest(name, declared)
	if i := slices.IndexFunc(declared, func(d string) bool {
		return strings.HasPrefix(d, name) || strings.HasPrefix(name, d)
	}); near == "" && i >= 0 {
		near = declared[i]
	}
	if near != "" {
		meant = "; did you mean " + near + "? If not"
	}
	declare := "it is added to metrics in tasks.yml"
	if p.Typed {
		declare = "--metric " + name + "=REGEX finds it"
	}
	p.Notes = append(p.Notes, fmt.Sprintf("no metric %s is declared for the objective%s: tasks "+
		"must print it as {\"metrics\": {%q: 0.5}}, or %s", name, meant, name, declare))
}

// readParameters reads the space; dir is the project's folder as the user wrote it.
func (p *Project) readParameters(dir string) error {
	name := p.Task.Parameters
	words := p.change.Arguments()
	if name == "" && len(words) > 0 && !p.Task.EachWorker && p.change.OnlyRepeats() {
		s, _, err := space.Read(usualParameters, nil, p.change)
		if err == nil {
			p.Space = s
		}
		return err
	}
	if name == "" && len(words) > 0 {
		return p.unchangeable(words)
	}
	if name == "" {
		if !p.Task.EachWorker {
			note := p.Task.Name + " names no parameters file: one task without flags"
			if _, err := os.Stat(filepath.Join(dir, usualParameters)); err == nil {
				note += "; to use " + usualParameters + ", write `parameters: " + usualParameters +
					"` in tasks.yml"
			}
			p.Notes = append(p.Notes, note)
		}
		return nil
	}
	path := filepath.Join(dir, filepath.FromSlash(name))
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		remedy := "write it, or take the line `parameters: " + name + "` out"
		if near := fault.Nearest(filepath.Base(path), filesIn(filepath.Dir(path))); near != "" {
			remedy = "did you mean " + near + "? write `parameters: " +
				slashpath.Join(slashpath.Dir(name), near) + "`"
		}
		return fault.List{{File: path, Problem: "does not exist, and " + p.Task.Name +
			" in tasks.yml names it", Remedy: remedy}}
	}
	if err != nil {
		return fault.List{{File: path, Problem: human.Cause(err), Remedy: p.Task.Name +
			" in tasks.yml names it as its parameters file"}}
	}
	s, notes, err := space.Read(path, data, p.change)
	if err != nil {
		return unreadParameters(path, err)
	}
	p.Space = s
	for _, n := range notes {
		p.Notes = append(p.Notes, n.String())
	}
	return nil
}

// unchangeable refuses overrides of a definition that has no parameters file.
func (p *Project) unchangeable(words []string) error {
	if p.Task.EachWorker {
		return cli.Wrong("run it without "+Words(words)+"; a definition without each: worker, "+
			"with parameters: "+usualParameters+
			", runs combinations", "%s runs once on every worker (each: worker), without "+
			"parameters: %s has nothing to change", p.Task.Name, words[0])
	}
	return cli.Wrong("name one in tasks.yml, such as parameters: "+usualParameters+"; --repeat 10 "+
		"alone needs none",
		"%s has no parameters file that %s could change", p.Task.Name, words[0])
}

// Record is what a sweep of the project is from now on, at a revision.
func (p *Project) Record(revision string) core.Record {
	t := p.Task
	r := core.Record{
		Version: task.Version, Space: p.Space, Style: styleOf(t),
		CommandLine: p.Typed, EachWorker: t.EachWorker,
		Retry: t.Retry, MaxFailures: int64(t.MaxFailures), KeepGoing: t.KeepGoing,
		Objective: t.Objective, Project: p.Dir, ParametersFile: t.Parameters, Notify: p.notify,
		OnEnd: t.OnEnd,
		Recipe: task.Recipe{
			Definition: t.Name, Command: t.Command, Secrets: p.File.Secrets, Revision: revision,
			File: t.File, Outputs: p.File.Outputs, Link: p.File.Link, Copy: p.File.Copy,
			Workdir: t.Workdir, Timeout: t.Timeout, Grace: t.Grace, Idle: t.Idle,
			Needs:         t.Needs,
			CountsRepeats: p.Space.Counted(),
		},
	}
	p.setInputs(&r.Recipe)
	for _, l := range p.File.Links {
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

// NoteShortSecrets notes the secrets that are too short to be looked for in what tasks print.
func (p *Project) NoteShortSecrets() {
	for _, name := range p.File.Secrets {
		if len(os.Getenv(name)) < worker.ShortestSecret {
			p.Notes = append(p.Notes, fmt.Sprintf("the secret %s has fewer than %d characters: "+
				"it is not hidden when a task prints it", name, worker.ShortestSecret))
		}
	}
}

// NoteUnused notes what tasks.yml says that a run does not use there.
func (p *Project) NoteUnused(at Location) {
	var unused []string
	for _, key := range []struct {
		name string
		used bool
	}{
		{"image", p.File.Image != ""}, {"build", p.File.Build != ""}, {"volumes",
			len(p.File.Volumes) > 0},
		{"container", p.File.Container != (definition.Container{})},
	} {
		if key.used {
			unused = append(unused, key.name)
		}
	}
	if problem, remedy := p.File.GPUVariable(p.Task); problem != "" && at != Here {
		p.Notes = append(p.Notes, p.Task.Name+" has no gpus, and such tasks see none on a host, "+
			"whatever env says: write gpus: 1, and "+remedy)
	}
	text := strings.Join(unused, ", ") + " in tasks.yml: "
	switch {
	case len(unused) == 0 || at == InCluster: // infrainit gave the workers all of it
	case at == Here:
		p.Notes = append(p.Notes, text+"not used on this machine, where tasks run without a "+
			"container")
	default:
		p.Notes = append(p.Notes, text+"not used here: the workers of this master run as they "+
			"were started")
	}
}
