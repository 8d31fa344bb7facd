package main

import (
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// excludedArgument is something in the project's folder that tasks are told of and that a
// .gitignore leaves out.
type excludedArgument struct {
	where string // who names it: "the parameter data"
	path  string // in the project
	by    projects.LeftOut
}

// warnExcludedArguments warns of files that arguments of tasks name and that tasks will not see,
// and keeps the warnings for when tasks fail. Files that the project's own rules exclude are left
// out on purpose: it does not warn of them.
func (c *command) warnExcludedArguments(r core.Record, rules folder.Rules) {
	left := slices.DeleteFunc(slices.Clone(c.excluded), func(l projects.LeftOut) bool {
		return !l.ByGit() || rules.IsOutput(l.Path)
	})
	c.excludedArguments = findExcludedArguments(r, left, func(path string) bool {
		return exists(filepath.Join(c.excludedIn, filepath.FromSlash(path)))
	})
	for _, g := range c.excludedArguments {
		fmt.Fprintln(c.stderr, cli.Visible("WARNING: "+c.excludedText(g)))
	}
}

// excludedText says what is left out, by which rules, and what to do about it.
func (c *command) excludedText(g excludedArgument) string {
	text := fmt.Sprintf("%s names %s, and tasks do not see it, because %s excludes it; %s", g.where,
		g.path, c.rulesOf(g.by), c.bringIn(g.by))
	if g.by.Folder && g.by.Path == path.Clean(g.path) {
		text += fmt.Sprintf(", or if tasks write it, outputs: [%s] to tasks.yml", g.by.Path)
	}
	return text
}

// findExcludedArguments finds what the command, the variables and the parameters of a record name,
// each once, in their order. A text with spaces, as a shell's, is none of an argument: what it
// names it may only look for.
func findExcludedArguments(r core.Record, left []projects.LeftOut,
	exists func(path string) bool) (all []excludedArgument) {
	look := func(where, text string) {
		for _, word := range pathsGiven(text) {
			at := path.Join(r.Recipe.Workdir, word)
			by := slices.IndexFunc(left, func(l projects.LeftOut) bool {
				return at == l.Path || l.Folder && strings.HasPrefix(at, l.Path+"/")
			})
			named := func(g excludedArgument) bool { return g.path == at }
			if by >= 0 && !linked(r.Recipe, at) && exists(at) && !slices.ContainsFunc(all, named) {
				all = append(all, excludedArgument{where, at, left[by]})
			}
		}
	}
	for _, word := range r.Recipe.Command {
		look("the command", word)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Recipe.Env)) {
		look("the variable "+name, r.Recipe.Env[name])
	}
	for _, p := range r.Space.Parameters() {
		for i := range min(p.Len(), mostTypes) {
			if v := p.Value(i); v.Kind != space.Switch {
				look("the parameter "+p.Name(), v.Value)
			}
		}
	}
	return all
}

// linked reports whether a path is a link out of the project, or below one.
func linked(r task.Recipe, at string) bool {
	for link := range r.Links {
		if at == link || strings.HasPrefix(at, link+"/") {
			return true
		}
	}
	return false
}

// pathsGiven lists what of an argument may be a path in the project: all of it, what stands behind
// =, and the parts of a list.
func pathsGiven(text string) (paths []string) {
	if strings.ContainsAny(text, " \t\n") {
		return nil
	}
	for _, part := range strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune("=,:;[]'\"", r)
	}) {
		if !path.IsAbs(part) {
			paths = append(paths, part)
		}
	}
	return paths
}
