package main

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/worker/folder"
)

// How much is shown of what rules leave out. The lines that bring it in are all shown: they go into
// a file.
const excludedShown = 5

// noteExcluded tells what a .gitignore leaves out of a project, as most who wrote one thought of
// git only, and warns where tasks are told of it. What lies in outputs tasks would not see with any
// rules. It reports whether any file is excluded.
func (c *command) noteExcluded(m *projects.Manifest, r core.Record) bool {
	rules := folder.RulesOf(r.Recipe)
	left := slices.DeleteFunc(slices.Clone(m.LeftOut), func(l projects.LeftOut) bool {
		return !l.ByGit() || rules.IsOutput(l.Path)
	})
	if note := m.SkippedNote(); note != "" {
		c.print([]string{note})
	}
	c.printExcluded(m.Dir, left)
	c.warnExcludedArguments(m, r, rules, left)
	return len(left) > 0
}

// noteExcludedNow is noteExcluded for a sweep that is continued, if its project is on this machine.
func (c *command) noteExcludedNow(ctx context.Context, p currentProject) {
	if !p.found() {
		return
	}
	m, err := projects.List(ctx, p.dir)
	if err != nil {
		return // taking the snapshot reports the error
	}
	if s := p.sweep; c.noteExcluded(m, p.record(s.Record)) && !p.updated {
		c.print([]string{fmt.Sprintf("%s uses the files it was submitted with; to use the current "+
			"files: %s retry --updated %s", s.ID, c.self, s.ID)})
	}
}

func (c *command) printExcluded(dir string, left []projects.LeftOut) {
	var paths, lines []string
	for _, l := range left {
		paths = append(paths, pathText(l))
		if !slices.Contains(lines, l.Unless) {
			lines = append(lines, l.Unless)
		}
	}
	if len(paths) == 0 {
		return
	}
	note := fmt.Sprintf("excluded by .gitignore, not visible to tasks: %s; in %s, add ",
		firstOf(paths), ownRules(dir))
	if len(lines) == 1 {
		c.print([]string{note + "this line to include it: " + lines[0]})
		return
	}
	c.print([]string{note + "these lines, or those that you need, to include them:"})
	for _, l := range lines { // ready to paste: a space in front would count
		fmt.Fprintln(c.stderr, cli.Visible(l))
	}
}

// ownRules is the file of a project that decides before .gitignore, as it is typed here.
func ownRules(dir string) string { return filepath.Join(nearPath(dir), ".mlframeworkignore") }

func pathText(l projects.LeftOut) string {
	if l.Folder {
		return l.Path + "/"
	}
	return l.Path
}

// firstOf lists some, and how many there are more.
func firstOf(texts []string) string {
	text := strings.Join(texts[:min(excludedShown, len(texts))], ", ")
	if rest := len(texts) - excludedShown; rest > 0 {
		text += fmt.Sprintf(" and %d more", rest)
	}
	return text
}
