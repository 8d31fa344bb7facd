package project

import (
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mlframework/projects"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// excludedArgument is something in the project's folder that tasks are told of and do not see: a
// .gitignore leaves it out, or it is in an output.
type excludedArgument struct {
	where  string // who names it: "the parameter data"
	path   string // in the project
	by     projects.LeftOut
	output string // "": by leaves it out
	input  bool   // it is named where tasks read it, as far as that can be told
}

// excludedArguments are warnings about files that arguments of tasks name and that tasks will not
// see. There are none about files that the project's own rules exclude on purpose.
func excludedArguments(m *projects.Manifest, r core.Record, rules folder.Rules,
	left []projects.LeftOut) (warnings []string) {
	hidden := map[string]string{} // files in outputs, and in which
	for _, e := range m.Entries {
		if output := rules.OutputOf(e.Path); output != "" && e.Kind != projects.Dir {
			hidden[e.Path] = output // a folder of outputs may be named by who writes there
		}
	}
	for _, g := range findExcludedArguments(r, func(at string) (g excludedArgument, is bool) {
		by := slices.IndexFunc(left, func(l projects.LeftOut) bool {
			return at == l.Path || l.Folder && strings.HasPrefix(at, l.Path+"/")
		})
		if by >= 0 && exists(filepath.Join(m.Dir, filepath.FromSlash(at))) {
			return excludedArgument{by: left[by]}, true
		}
		return excludedArgument{output: hidden[at]}, hidden[at] != ""
	}) {
		if g.output == "" || g.input {
			warnings = append(warnings, g.text(m))
		}
	}
	return warnings
}

// text says what is left out of a project, by which rules, and what to do about it.
func (g excludedArgument) text(m *projects.Manifest) string {
	text := fmt.Sprintf("%s names %s, and tasks do not see it, because ", g.where, g.path)
	switch {
	case g.output == g.path:
		return text + "a file of this name is taken for an output; if tasks need it, " +
			"rename it, or " + copyLine(g.path)
	case g.output != "":
		return text + fmt.Sprintf("%s/ is taken for outputs and starts empty; if tasks need it, "+
			"%s, or copy: [%s] for all of the folder", g.output, copyLine(g.path),
			path.Dir(g.path))
	}
	info, err := os.Stat(filepath.Join(m.Dir, filepath.FromSlash(g.path)))
	lines, word := m.Include(g.by, g.path, err == nil && info.IsDir()), "line"
	if len(lines) > 1 {
		word = "lines"
	}
	text += fmt.Sprintf("%s excludes it; add the %s %s to %s",
		filepath.Join(NearPath(m.Dir), g.by.File), word, human.List(lines), ownRules(m.Dir))
	if g.by.Folder && g.by.Path == path.Clean(g.path) {
		text += fmt.Sprintf(", or if tasks write it, outputs: [%s] to tasks.yml", g.by.Path)
	}
	return text
}

// findExcludedArguments finds what arguments of a record name and find takes, each path once.
func findExcludedArguments(r core.Record, find func(path string) (excludedArgument, bool),
) (all []excludedArgument) {
	eachArgument(r, func(where, at string, input bool) {
		seen := slices.IndexFunc(all, func(g excludedArgument) bool { return g.path == at })
		if seen >= 0 {
			all[seen].input = all[seen].input || input
		} else if g, is := find(at); is {
			g.where, g.path, g.input = where, at, input
			all = append(all, g)
		}
	})
	return all
}

// eachArgument calls each with the paths in the project that the command, the variables and the
// parameters of a record may name, in their order, but for links out of it. A text with spaces, as
// a shell's, is none of an argument: what it names it may only look for. Inputs are the program,
// its script, modules, and what a name that is none of outputs stands before.
func eachArgument(r core.Record, each func(where, path string, input bool)) {
	look := func(where string, words []string, input bool) {
		for _, word := range words {
			if at := path.Join(r.Recipe.Workdir, word); !linked(r.Recipe, at) {
				each(where, at, input)
			}
		}
	}
	for i, word := range r.Recipe.Command {
		name := optionOf(r.Recipe.Command, i)
		look("the command", pathsGiven(word), name == "" && i <= 1 ||
			name != "" && !outputName.MatchString(name))
		if i > 0 && r.Recipe.Command[i-1] == "-m" {
			look("the command", moduleFiles(word), true)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(r.Recipe.Env)) {
		look("the variable "+name, pathsGiven(r.Recipe.Env[name]),
			!outputName.MatchString(name))
	}
	for _, p := range r.Space.Parameters() {
		for i := range min(p.Len(), mostTypes) {
			if v := p.Value(i); v.Kind != space.Switch {
				look("the parameter "+p.Name(), pathsGiven(v.Value),
					!outputName.MatchString(p.Name()))
			}
		}
	}
}

// outputName matches the names of options, parameters and variables whose values tasks write to.
var outputName = regexp.MustCompile(`(?i)(^|[-_.])` +
	`(o|to|out|output|save|log|logging|write|dest|dump|export|result)s?` +
	`(to|dir|directory|file|path|folder)?([-_.]|$)`)

// optionOf returns the name of the option whose value a word of a command is or has; "": of none.
func optionOf(command []string, i int) string {
	if name, _, has := strings.Cut(command[i], "="); has {
		return strings.TrimLeft(name, "-")
	}
	if i > 0 && strings.HasPrefix(command[i-1], "-") && !strings.Contains(command[i-1], "=") {
		return strings.TrimLeft(command[i-1], "-")
	}
	return ""
}

// moduleFiles lists the files that `python -m` may run of a module.
func moduleFiles(name string) []string {
	at := strings.ReplaceAll(name, ".", "/")
	return []string{at + ".py", at + "/__main__.py"}
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
