package project

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// plan is what tasks of a recipe see of a project's files. Rules that the project does not fit are
// faults of its tasks.yml.
func plan(m *projects.Manifest, r task.Recipe, clones bool) (*folder.Plan, error) {
	entries := make([]folder.Entry, len(m.Entries))
	for i, e := range m.Entries {
		kind := folder.File
		switch e.Kind {
		case projects.Dir:
			kind = folder.Dir
		case projects.Symlink:
			kind = folder.Symlink
		}
		entries[i] = folder.Entry{Path: e.Path, Kind: kind, Size: e.Size,
			Executable: e.Executable(), ModTime: e.ModTime, Target: e.Link}
	}
	p, problems := folder.NewPlan(entries, folder.RulesOf(r), folder.LimitsOf(clones))
	var faults fault.List
	for _, problem := range problems {
		faults.Add(fault.Fault{File: filepath.Join(m.Dir, definition.FileName),
			Problem: problem.Error(),
			Remedy:  problemRemedy(problem, folder.RulesOf(r))})
	}
	return p, faults.Err()
}

// problemRemedy is what to do about a rule that the project's files do not fit.
func problemRemedy(p folder.Problem, rules folder.Rules) string {
	switch {
	case p.Key == "links": // something above the link is a file
		return "put the link under another path, or remove that file from the project"
	case p.Key == "workdir" && rules.IsOutput(p.Path):
		return copyLine(p.Path) + " for tasks to have it, or name another existing folder"
	}
	return "name an existing path that no ignore file excludes"
}

// copyLine is what to do for tasks to have a path in an output.
func copyLine(path string) string {
	return "add copy: [" + path + "] to tasks.yml"
}

// CheckFolder finds what is wrong with the folders that tasks of a recipe would get, before
// anything is submitted.
func CheckFolder(m *projects.Manifest, r task.Recipe, at Location) error {
	if f := r.File; f != nil && !slices.ContainsFunc(m.Entries, func(e projects.Entry) bool {
		return e.Path == f.From && e.Kind == projects.File
	}) {
		return fault.List{{File: filepath.Join(m.Dir, definition.FileName), Problem: "file: " +
			f.From + " is not among the project's files",
			Remedy: "name a file that no ignore file excludes, and that is no link"}}
	}
	if _, err := plan(m, r, false); err != nil || at != Here {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Links)) {
		target := r.Links[name]
		if _, err := os.Stat(target); err != nil {
			return &cli.Error{Code: cli.Invalid, Err: fmt.Errorf("links in tasks.yml: %s leads "+
				"to %s: %w", name, target, errors.Unwrap(err)),
				Remedy: "make it, or name another path"}
		}
	}
	return nil
}

// FolderLines say what tasks of a recipe get copies of, and what they get links to.
func FolderLines(m *projects.Manifest, r task.Recipe, at Location) ([]string, error) {
	if err := CheckFolder(m, r, at); err != nil {
		return nil, err
	}
	p, err := plan(m, r, at == Here && clonesHere(m))
	if err != nil {
		return nil, err
	}
	lines := describe(p)
	if exposed := m.Exposed(); at == Here && len(exposed) > 0 {
		lines = append(lines, fmt.Sprintf("%s and other files over 16 MiB are your own, "+
			"not copies (over 4 GiB together): tasks must not write to them", exposed[0].Path))
	}
	if r.Workdir != "" {
		lines = append(lines, "runs in "+r.Workdir+"/ of it")
	}
	return lines, nil
}

// clonesHere reports whether copies of a project's files would share their content with them.
func clonesHere(m *projects.Manifest) bool {
	i := slices.IndexFunc(m.Entries, func(e projects.Entry) bool {
		return e.Kind == projects.File && e.Size > 0
	})
	return i >= 0 && folder.CanClone(filepath.Join(m.Dir, filepath.FromSlash(m.Entries[i].Path)),
		".")
}

// mostParts is how many of the things that are linked are named.
const mostParts = 10

// describe says in lines what a plan copies and links.
func describe(p *folder.Plan) (lines []string) {
	lines = append(lines, "each task gets copies of "+amount(p.Copied))
	for i, part := range p.Linked {
		if i == mostParts {
			lines = append(lines, fmt.Sprintf("links %d more", len(p.Linked)-i))
			break
		}
		lines = append(lines, "links "+shownPart(part))
	}
	for _, l := range p.Host {
		lines = append(lines, "links "+l.Path+" to "+l.Target)
	}
	for _, part := range p.Hidden {
		if part.Folder {
			lines = append(lines, "starts empty: "+shownPart(part))
		} else {
			lines = append(lines, "starts without "+shownPart(part))
		}
	}
	return lines
}

func shownPart(p folder.Part) string {
	switch {
	case !p.Folder:
		return p.Path + " (" + human.Size(p.Bytes) + ")"
	case p.Partly && p.Path == "":
		return amount(p.Amount) + " of the project's folder"
	case p.Partly:
		return amount(p.Amount) + " of " + p.Path + "/"
	case p.Whole:
		return p.Path + "/ as a whole (" + amount(p.Amount) + "), read-only"
	}
	return p.Path + "/ (" + amount(p.Amount) + ")"
}

func amount(a folder.Amount) string {
	return human.Thousands(a.Files) + human.Pick(a.Files, " file, ", " files, ") + human.Size(a.Bytes)
}
