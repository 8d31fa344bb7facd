package project

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
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/space"
)

// Update says whether a sweep goes on with the current code.
type Update struct {
	Updated bool
	Dir     string // of the project; "": as at submission
}

// Current is what a sweep's project says now.
type Current struct {
	Sweep    api.Sweep
	Dir      string           // of the project
	Updated  bool             // the sweep is to go on with it
	File     *definition.File // tasks.yml; nil: it cannot be read, or the sweep is of a command
	settings *core.Settings   // of the definition; nil: there is none of its name any more
	changes  []core.Change    // what the definition says differently
	unread   error            // why there are no settings
}

// Current compares a sweep with its definition in the project that -d names, or that it
// was submitted from. Only --updated depends on it; else a project that is not here, or cannot be
// read, is as one that did not change.
func (o Update) Current(s api.Sweep) (Current, error) {
	p := Current{Sweep: s, Dir: o.Dir, Updated: o.Updated}
	if p.Dir == "" {
		p.Dir = s.Project
	}
	if s.Record.CommandLine {
		settings := s.Record.Settings()
		p.settings = &settings
		return p, nil
	}
	file, _, err := definition.Load(p.Dir, site.Reserved())
	if err != nil && p.Updated {
		return p, err
	}
	if err != nil {
		p.unread = err
		return p, nil
	}
	p.File = file
	t, err := file.Task(s.Definition)
	if _, gone := errors.AsType[*definition.UnknownTask](err); gone {
		p.unread = &cli.Error{Code: cli.Usage, Err: fmt.Errorf("%s: %w", p.Dir, err),
			Remedy: s.ID + " was submitted from " + s.Project +
				"; -d names its project where it is now"}
		return p, nil
	}
	now := (&Project{Dir: p.Dir, File: file, Task: t}).Record(s.Revision)
	settings := now.Settings()
	p.settings, p.changes = &settings, s.Record.Changes(now)
	if p.Updated {
		err = checkInputsOf(s.ID, p.Dir, p.Record(s.Record), append([]*space.Space{s.Record.Space},
			s.Record.Extensions...)...)
	}
	return p, err
}

// found reports whether the project can be read.
func (p Current) found() bool { return p.File != nil || p.Sweep.Record.CommandLine }

// definition returns the sweep's definition as it is now, or, if there is none of its name any more,
// what the record has of it.
func (p Current) definition() definition.Task {
	r := p.Sweep.Record
	if r.CommandLine {
		return definition.Task{Command: r.Recipe.Command}
	}
	if t, err := p.File.Task(r.Recipe.Definition); err == nil {
		return t
	}
	return definition.Task{Parameters: r.ParametersFile}
}

// unreadable is why the parameters of a sweep cannot be read: where their file is gone, the project
// may have no definition of its name any more, or one that names another file.
func (p Current) unreadable(err error) error {
	was := p.Sweep.Record.ParametersFile
	if _, none := os.Stat(filepath.Join(p.Dir, filepath.FromSlash(was))); none == nil {
		return err
	}
	if p.unread != nil {
		return p.unread
	}
	t, gone := p.File.Task(p.Sweep.Definition)
	if gone != nil || t.Parameters == was {
		return err
	}
	return &cli.Error{Code: cli.Usage, Err: fmt.Errorf("%s was submitted with %s, and tasks.yml "+
		"names %s now", p.Sweep.ID, was, cmp.Or(t.Parameters, "no parameters file")),
		Remedy: "a new sweep uses it: run-tasks --missing " + p.Sweep.Definition}
}

// Record is a sweep's as it goes on.
func (p Current) Record(r core.Record) core.Record {
	if p.Updated && p.settings != nil {
		r.Recipe.Env, r.Recipe.EnvBraces = p.settings.Env, p.settings.EnvBraces
	}
	return r
}

// Notes tell what of the definition is used, and what is not.
func (p Current) Notes() (all []string) {
	var taken, left, names, another []string
	for _, d := range p.changes {
		if d.OnlyAnother {
			left, another = append(left, d.String()), append(another, d.Key)
		} else {
			taken, names = append(taken, d.String()), append(names, d.Key)
		}
	}
	newSweep := fmt.Sprintf("a new sweep uses %s: run-tasks %s", strings.Join(another, ", "),
		p.Sweep.Definition)
	switch {
	case p.File != nil && p.settings == nil && p.Updated:
		return []string{fmt.Sprintf("tasks.yml has no definition %s any more: %s keeps its settings",
			p.Sweep.Definition, p.Sweep.ID)}
	case p.Updated:
		if len(taken) > 0 {
			all = append(all, p.Sweep.ID+" adopts from tasks.yml: "+strings.Join(taken, "; "))
		}
		if len(left) > 0 {
			all = append(all, fmt.Sprintf("%s cannot adopt these changes in tasks.yml: %s; %s",
				p.Sweep.ID, strings.Join(left, "; "), newSweep))
		}
	case len(p.changes) > 0:
		text := fmt.Sprintf("%s keeps the settings it was submitted with; tasks.yml differs: %s",
			p.Sweep.ID, strings.Join(append(taken, left...), "; "))
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

// Edited says what of the project changed since the revision that a sweep goes on with; nothing if
// the sweep takes the files as they are now. Scan scans the project's folder. Revisions is the
// folder with the files of revisions; if those of the sweep cannot be read there, it says only that
// something changed. What tasks.yml and the parameters file say is told apart, by Notes.
func (p Current) Edited(ctx context.Context, scan Scan, revisions string) []string {
	if p.Updated || !p.found() {
		return nil
	}
	s := p.Sweep
	now, err := scan(ctx, p.Dir)
	if err != nil || now.Revision() == s.Record.Recipe.Revision {
		return nil
	}
	if now.Bytes() > comparedSize {
		revisions = ""
	}
	g := NewGap(now, "", &Project{Task: p.definition(), Space: s.Record.Space}, revisions)
	old, err := g.old(ctx, s.Record.Recipe.Revision)
	if err != nil {
		old = nil
	} else if len(g.code.Changes(now, old)) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("%s runs its files as they were; since then %s; --updated runs the "+
		"present ones", s.ID, g.changes(old))}
}

// Scan reads the files of a project's folder, or brings them to where attempts find them.
type Scan func(ctx context.Context, dir string) (*projects.Manifest, error)

// Bring lets attempts find the project as it is now if --updated is given, and returns how the
// sweep goes on.
func (p Current) Bring(ctx context.Context, take Scan) (g api.ResumeRequest, err error) {
	if !p.Updated {
		return g, nil
	}
	m, err := take(ctx, p.Dir)
	if err != nil {
		return g, err
	}
	g.Revision, g.Settings = m.Revision(), p.settings
	g.Code = CodeOf(p.definition(), p.Sweep.Record.Spaces()...).Key(m)
	return g, nil
}
