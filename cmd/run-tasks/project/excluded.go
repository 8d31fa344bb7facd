package project

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/worker/folder"
)

// excludedRemarks say what a .gitignore excludes from a project, as most who wrote one thought of
// git only, with warnings where tasks are told of it. Tasks would not see files in outputs with any
// rules. Found reports whether any file is excluded.
func excludedRemarks(m *projects.Manifest, r core.Record) (lines []string, found bool) {
	rules := folder.RulesOf(r.Recipe)
	left := slices.DeleteFunc(slices.Clone(m.LeftOut), func(l projects.LeftOut) bool {
		return !l.ByGit() || rules.IsOutput(l.Path)
	})
	if note := m.SkippedNote(); note != "" {
		lines = append(lines, notes(note)...)
	}
	lines = append(lines, excludedNotes(m.Dir, left)...)
	lines = append(lines, warnings(excludedArguments(m, r, rules, left))...)
	return lines, len(left) > 0
}

// Remarks say which of the project's files tasks do not get when the sweep is continued, if the
// project is on this machine. Self is how hints begin.
func (p Current) Remarks(ctx context.Context, self string) []string {
	if !p.found() {
		return nil
	}
	m, err := projects.List(ctx, p.Dir)
	if err != nil {
		return nil // taking the snapshot reports the error
	}
	s := p.Sweep
	lines, found := excludedRemarks(m, p.Record(s.Record))
	if found && !p.Updated {
		lines = append(lines, notes(fmt.Sprintf("%s uses the files it was submitted with; to "+
			"use the current files: %s retry --updated %s", s.ID, self, s.ID))...)
	}
	return lines
}

func excludedNotes(dir string, left []projects.LeftOut) []string {
	var paths, lines []string
	for _, l := range left {
		paths = append(paths, pathText(l))
		if !slices.Contains(lines, l.Unless) {
			lines = append(lines, l.Unless)
		}
	}
	if len(paths) == 0 {
		return nil
	}
	note := fmt.Sprintf("excluded by .gitignore, not visible to tasks: %s; in %s, add ",
		human.ListFirst(paths), ownRules(dir))
	if len(lines) == 1 {
		return notes(note + "this line to include it: " + lines[0])
	}
	// the lines are ready to paste: a space in front would count
	return append(notes(note+"these lines, or those that you need, to include them:"), lines...)
}

// ownRules is the file of a project that decides before .gitignore, as it is typed here.
func ownRules(dir string) string { return filepath.Join(NearPath(dir), ".mlframeworkignore") }

func pathText(l projects.LeftOut) string {
	if l.Folder {
		return l.Path + "/"
	}
	return l.Path
}

// Remarks say which of the project's files tasks do not get, or not as they may expect.
func (p *Project) Remarks(m *projects.Manifest) []string {
	r := p.Record("")
	lines, _ := excludedRemarks(m, r)
	lines = append(lines, notes(ownFileNote(m, r.Recipe)...)...)
	return append(lines, notes(unmatchedCode(m, p.Task)...)...)
}

// notes are texts as they are printed.
func notes(texts ...string) []string { return prefixed("note: ", texts) }

func warnings(texts []string) []string { return prefixed("WARNING: ", texts) }

func prefixed(prefix string, texts []string) (lines []string) {
	for _, text := range texts {
		lines = append(lines, prefix+text)
	}
	return lines
}
