package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/cmd/run-tasks/local"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

// currentProject is what a sweep's project says now.
type currentProject struct {
	sweep    api.Sweep
	dir      string           // of the project
	updated  bool             // the sweep is to go on with it
	file     *definition.File // tasks.yml; nil: it cannot be read, or the sweep is of a command
	settings *core.Settings   // of the definition; nil: there is none of its name any more
	changes  []core.Change    // what the definition says differently
	unread   error            // why there are no settings
}

// project compares a sweep with its definition in the project that -d names, or that it
// was submitted from. Only --updated depends on it; else a project that is not here, or cannot be
// read, is as one that did not change.
func (o updateOptions) project(s api.Sweep) (currentProject, error) {
	p := currentProject{sweep: s, dir: o.dir, updated: o.updated}
	if p.dir == "" {
		p.dir = s.Project
	}
	if s.Record.CommandLine {
		settings := s.Record.Settings()
		p.settings = &settings
		return p, nil
	}
	file, _, err := definition.Load(p.dir, site.Reserved())
	if err != nil && p.updated {
		return p, err
	}
	if err != nil {
		p.unread = err
		return p, nil
	}
	p.file = file
	t, err := file.Task(s.Definition)
	if _, gone := errors.AsType[*definition.UnknownTask](err); gone {
		p.unread = &cli.Error{Code: cli.Usage, Err: fmt.Errorf("%s: %w", p.dir, err),
			Remedy: s.ID + " was submitted from " + s.Project +
				"; -d names its project where it is now"}
		return p, nil
	}
	now := (&project{dir: p.dir, file: file, task: t}).record(s.Revision)
	settings := now.Settings()
	p.settings, p.changes = &settings, s.Record.Changes(now)
	if p.updated {
		err = checkInputsOf(s.ID, p.dir, p.record(s.Record), append([]*space.Space{s.Record.Space},
			s.Record.Extensions...)...)
	}
	return p, err
}

// found reports whether the project can be read.
func (p currentProject) found() bool { return p.file != nil || p.sweep.Record.CommandLine }

// definition returns the sweep's definition as it is now, or, if there is none of its name any more,
// what the record has of it.
func (p currentProject) definition() definition.Task {
	r := p.sweep.Record
	if r.CommandLine {
		return definition.Task{Command: r.Recipe.Command}
	}
	if t, err := p.file.Task(r.Recipe.Definition); err == nil {
		return t
	}
	return definition.Task{Parameters: r.ParametersFile}
}

// unreadable is why the parameters of a sweep cannot be read: where their file is gone, the project
// may have no definition of its name any more, or one that names another file.
func (p currentProject) unreadable(err error) error {
	was := p.sweep.Record.ParametersFile
	if _, none := os.Stat(filepath.Join(p.dir, filepath.FromSlash(was))); none == nil {
		return err
	}
	if p.unread != nil {
		return p.unread
	}
	t, gone := p.file.Task(p.sweep.Definition)
	if gone != nil || t.Parameters == was {
		return err
	}
	return &cli.Error{Code: cli.Usage, Err: fmt.Errorf("%s was submitted with %s, and tasks.yml "+
		"names %s now", p.sweep.ID, was, cmp.Or(t.Parameters, "no parameters file")),
		Remedy: "a new sweep uses it: run-tasks --missing " + p.sweep.Definition}
}

// record is a sweep's as it goes on.
func (p currentProject) record(r core.Record) core.Record {
	if p.updated && p.settings != nil {
		r.Recipe.Env, r.Recipe.EnvBraces = p.settings.Env, p.settings.EnvBraces
	}
	return r
}

// notes tell what of the definition is used, and what is not.
func (p currentProject) notes() (all []string) {
	var taken, left, names, another []string
	for _, d := range p.changes {
		if d.OnlyAnother {
			left, another = append(left, d.String()), append(another, d.Key)
		} else {
			taken, names = append(taken, d.String()), append(names, d.Key)
		}
	}
	newSweep := fmt.Sprintf("a new sweep uses %s: run-tasks %s", strings.Join(another, ", "),
		p.sweep.Definition)
	switch {
	case p.file != nil && p.settings == nil && p.updated:
		return []string{fmt.Sprintf("tasks.yml has no task %s any more: %s keeps its settings",
			p.sweep.Definition, p.sweep.ID)}
	case p.updated:
		if len(taken) > 0 {
			all = append(all, p.sweep.ID+" adopts from tasks.yml: "+strings.Join(taken, "; "))
		}
		if len(left) > 0 {
			all = append(all, fmt.Sprintf("%s cannot adopt these changes in tasks.yml: %s; %s",
				p.sweep.ID, strings.Join(left, "; "), newSweep))
		}
	case len(p.changes) > 0:
		text := fmt.Sprintf("%s keeps the settings it was submitted with; tasks.yml differs: %s",
			p.sweep.ID, strings.Join(append(taken, left...), "; "))
		if len(names) > 0 {
			text += "; --updated adopts " + strings.Join(names, ", ")
		}
		if len(another) > 0 {
			text += "; " + newSweep
		}
		all = append(all, text)
	}
	return all
}

// comparedSize bounds the projects whose files are compared one by one, in bytes: those of the
// sweep's revision are read for that.
const comparedSize = 1 << 30

// edited says what of the project changed since the revision that a sweep goes on with; nothing
// where it takes the files as they are now. Where those of the revision cannot be read it says
// only that something did. What tasks.yml and the parameters file say is told apart, by notes.
func (p currentProject) edited(ctx context.Context, src source) []string {
	if p.updated || !p.found() {
		return nil
	}
	scan := local.Scan
	if _, is := src.(*remote); is {
		scan = func(ctx context.Context, dir string) (*projects.Manifest, error) {
			return projects.Scan(ctx, dir, projects.Options{Cache: site.HashCache(dir)})
		}
	}
	s := p.sweep
	now, err := scan(ctx, p.dir)
	if err != nil || now.Revision() == s.Record.Recipe.Revision {
		return nil
	}
	revisions, err := revisionsOf(ctx, src)
	if err != nil || now.Bytes() > comparedSize {
		revisions = ""
	}
	g := newGap(now, "", &project{task: p.definition(), space: s.Record.Space}, revisions)
	old, err := g.old(ctx, s.Record.Recipe.Revision)
	if err != nil {
		old = nil
	} else if len(g.code.Changes(now, old)) == 0 {
		return nil
	}
	return []string{fmt.Sprintf(
		"%s runs its files as they were; since then %s; --updated runs the "+
			"present ones", s.ID, g.changes(old))}
}

// bring has attempts find the project as it is now, when --updated asks for it, and returns how the
// sweep goes on.
func (p currentProject) bring(work context.Context, at backend) (g api.ResumeRequest, err error) {
	if !p.updated {
		return g, nil
	}
	m, err := at.take(work, p.dir)
	if err != nil {
		return g, err
	}
	g.Revision, g.Settings = m.Revision(), p.settings
	g.Code = codeOf(p.definition(), p.sweep.Record.Spaces()...).Key(m)
	return g, nil
}
