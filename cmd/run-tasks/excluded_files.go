package main

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
		lines = append(lines, noteLines(note)...)
	}
	lines = append(lines, excludedNotes(m.Dir, left)...)
	lines = append(lines, prefixedLines("WARNING: ", excludedArguments(m, r, rules, left))...)
	return lines, len(left) > 0
}

// excludedRemarks are those of a sweep that is continued, if its project is on this machine.
func (p currentProject) excludedRemarks(ctx context.Context, self string) []string {
	if !p.found() {
		return nil
	}
	m, err := projects.List(ctx, p.dir)
	if err != nil {
		return nil // taking the snapshot reports the error
	}
	s := p.sweep
	lines, found := excludedRemarks(m, p.record(s.Record))
	if found && !p.updated {
		lines = append(lines, noteLines(fmt.Sprintf("%s uses the files it was submitted with; to "+
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
		return noteLines(note + "this line to include it: " + lines[0])
	}
	// the lines are ready to paste: a space in front would count
	return append(noteLines(note+"these lines, or those that you need, to include them:"), lines...)
}

// ownRules is the file of a project that decides before .gitignore, as it is typed here.
func ownRules(dir string) string { return filepath.Join(nearPath(dir), ".mlframeworkignore") }

func pathText(l projects.LeftOut) string {
	if l.Folder {
		return l.Path + "/"
	}
	return l.Path
}
