package main

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mlframework/cmd/internal/cli"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/folder"
)

// How much is shown of what rules leave out. The lines that bring it in are all shown: they go into
// a file.
const excludedShown = 5

// noteExcluded tells what tasks will not see of a project, and keeps it for when tasks fail. What
// lies in outputs they would not see with any ignore rules; such a folder itself would be there,
// and empty.
func (c *command) noteExcluded(m *projects.Manifest, r core.Record) {
	rules := folder.RulesOf(r.Recipe)
	c.excluded, c.excludedIn = slices.DeleteFunc(slices.Clone(m.LeftOut),
		func(l projects.LeftOut) bool {
			return rules.IsOutput(l.Path) && !(l.Folder && !rules.IsOutput(path.Dir(l.Path)))
		}), m.Dir
	c.printExcluded(rules)
	c.warnExcludedArguments(m, r, rules)
}

// printExcluded tells what a .gitignore leaves out, as most who wrote one thought of git only.
func (c *command) printExcluded(rules folder.Rules) {
	var paths, lines []string
	for _, l := range c.excluded {
		if !l.ByGit() || rules.IsOutput(l.Path) {
			continue
		}
		paths = append(paths, pathText(l))
		if !slices.Contains(lines, l.Unless) {
			lines = append(lines, l.Unless)
		}
	}
	if len(paths) == 0 {
		return
	}
	note := fmt.Sprintf("excluded by .gitignore, not visible to tasks: %s; in %s, add ",
		firstOf(paths), c.ownRules())
	if len(lines) == 1 {
		c.print([]string{note + "this line to include it: " + lines[0]})
		return
	}
	c.print([]string{note + "these lines, or those that you need, to include them:"})
	for _, l := range lines { // ready to paste: a space in front would count
		fmt.Fprintln(c.stderr, cli.Visible(l))
	}
}

// ownRules is the file that decides before .gitignore, as it is typed here.
func (c *command) ownRules() string {
	return filepath.Join(nearPath(c.excludedIn), ".mlframeworkignore")
}

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

// lastPrinted is how much of the end of standard error is searched for a path, in bytes.
const lastPrinted = 4 << 10

// explainExcluded says which of the tasks that failed ended for want of something that rules left
// out when the sweep was submitted.
func (c *command) explainExcluded(ctx context.Context, src source, sweepID, workdir string,
	failed []table.Row) error {
	var wanted []string // by whom, one for each file that is wanted
	by := map[string][]string{}
	found := map[string]projects.LeftOut{}
	var said strings.Builder // by the tasks that failed, and of them
	for _, r := range failed {
		fmt.Fprintln(&said, r.Reason)
		t, err := src.Task(ctx, r.Sweep, r.Index)
		if err != nil {
			continue // this only explains
		}
		end, err := endOf(ctx, src, t)
		if err != nil {
			continue // its worker is away
		}
		fmt.Fprintln(&said, end)
		name, l, is := wantedOf(end, r, workdir, c.excluded)
		if !is {
			continue
		}
		if found[name] = l; !slices.Contains(wanted, name) {
			wanted = append(wanted, name)
		}
		by[name] = append(by[name], r.ID)
	}
	then := fmt.Sprintf(", then run %s retry --updated %s", c.self, sweepID)
	for _, name := range wanted {
		l := found[name]
		remedy := c.bringIn(l)
		if !l.ByGit() {
			remedy = fmt.Sprintf("remove the line %s from it", l.Pattern)
		}
		fmt.Fprintln(c.stdout, cli.Visible(fmt.Sprintf("%s: %s not found, because %s excludes "+
			"it; %s%s",
			enumerated(by[name]), name, c.rulesOf(l), remedy, then)))
	}
	explained := slices.Collect(maps.Values(found))
	for _, g := range c.excludedArguments {
		if g.output != "" && g.namedBy(said.String(), workdir) ||
			g.output == "" && !slices.Contains(explained, g.by) {
			fmt.Fprintln(c.stdout, cli.Visible(c.excludedText(g)+then))
		}
	}
	return nil
}

// rulesOf is the file with the rule that leaves something out, as it is typed here.
func (c *command) rulesOf(l projects.LeftOut) string {
	return filepath.Join(nearPath(c.excludedIn), l.File)
}

// bringIn says how something that was left out becomes a part of the project.
func (c *command) bringIn(l projects.LeftOut) string {
	return fmt.Sprintf("add the line %s to %s", l.Unless, c.ownRules())
}

// endOf is the end of what a task's newest attempt printed to standard error.
func endOf(ctx context.Context, src source, t api.Task) (string, error) {
	id, err := task.ParseID(t.Row.ID)
	last := len(t.Attempts) - 1
	if err != nil || last < 0 || t.Attempts[last].Stderr == nil ||
		t.Attempts[last].Stderr.Truncated {
		return "", err
	}
	var end bytes.Buffer
	err = src.logs(ctx, outputQuery{id: id, stderr: &end, from: max(0,
		t.Attempts[last].Stderr.Bytes-lastPrinted)})
	return end.String(), err
}

// missingWords tell that a line speaks of a file that is not there.
var missingWords = []string{"no such file", "not found", "cannot find", "can't find",
	"could not find", "does not exist", "doesn't exist", "cannot open",
	"can't open", "could not open", "unable to open"}

func speaksOfMissing(text string) bool {
	low := strings.ToLower(text)
	return slices.ContainsFunc(missingWords, func(w string) bool {
		return strings.Contains(low, w)
	})
}

// linesSearched is how many of the last lines may name the file: after a traceback some programs
// say more.
const linesSearched = 5

// wantedOf finds in the end of a failed task's standard error a file or module that was left out,
// and the rule. Paths are as from the task's working directory.
func wantedOf(stderr string, r table.Row, workdir string, left []projects.LeftOut) (name string,
	by projects.LeftOut, found bool) {
	lines := strings.FieldsFunc(stderr, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range slices.Backward(lines[max(0, len(lines)-linesSearched):]) {
		if m := missingModule.FindStringSubmatch(line); m != nil {
			if l, is := excludedModule(m[1], r, workdir, left); is {
				return "module " + m[1], l, true
			}
			continue
		}
		if !speaksOfMissing(line) {
			continue
		}
		for _, word := range pathsIn(line) {
			at := path.Join(workdir, word)
			if _, inFolder, absolute := strings.Cut(word, fmt.Sprintf("/%s/%d/", r.Sweep,
				r.Index)); absolute {
				word, at = inFolder, path.Clean(inFolder)
			} else if path.IsAbs(word) {
				continue
			}
			for _, l := range left {
				if at == l.Path || l.Folder && strings.HasPrefix(at, l.Path+"/") {
					return path.Clean(word), l, true
				}
			}
		}
	}
	return "", by, false
}

// missingModule is how Python says that it finds no module.
var missingModule = regexp.MustCompile(`ModuleNotFoundError: No module named '?([\w.]+)'?`)

// excludedModule finds a module where Python looks for it: beside the script, and in the working
// directory.
func excludedModule(module string, r table.Row, workdir string,
	left []projects.LeftOut) (by projects.LeftOut, found bool) {
	places := []string{workdir, ""}
	for _, word := range r.Argv {
		if strings.HasSuffix(word, ".py") {
			places = append(places, path.Join(workdir, path.Dir(word)))
		}
	}
	for _, place := range places {
		at := path.Join(place, strings.ReplaceAll(module, ".", "/"))
		for _, l := range left {
			if at+".py" == l.Path || l.Folder && (at == l.Path || strings.HasPrefix(at,
				l.Path+"/")) {
				return l, true
			}
		}
	}
	return by, false
}

// pathsIn lists what in a line may be a path: what stands in quotes, unless that says itself that
// something is missing, and words.
func pathsIn(line string) []string {
	var paths []string
	for _, quote := range []string{"'", `"`, "`"} {
		for i, part := range strings.Split(line, quote) {
			if i%2 == 1 && !speaksOfMissing(part) {
				paths = append(paths, part)
			}
		}
	}
	for _, word := range strings.Fields(line) {
		paths = append(paths, strings.Trim(word, "'\"`:;,()[]<>"))
	}
	return paths
}
