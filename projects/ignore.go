package projects

import (
	"bytes"
	"slices"
	"strings"
)

// The files whose lines say what does not belong to a project.
const (
	gitRules = ".gitignore"
	ownRules = ".mlframeworkignore"
)

// A rule is one line of a rules file.
type rule struct {
	text    string // as it is written
	glob    glob
	negated bool // "!": brings back
	folders bool // ends in "/": only folders
	byName  bool // no other "/": looks at the last component, at any depth
}

// A ruleSet is a rules file; its patterns are relative to the folder that holds it. That folder is
// in the project or above it.
type ruleSet struct {
	file string // in the project, "../.gitignore" for the folder above it
	// in the project, without a slash at the end; "" for the top and for folders above it
	folder string
	// from a folder above the project, the path to the project, with a slash at the end
	below string
	rules []rule
}

// A scope is the rules in force in a folder, from those of the folders above to its own. The zero
// scope leaves nothing out.
type scope struct {
	own, git []ruleSet
	// tracks reports whether git tracks a path or something in it; nil outside of repositories
	tracks func(path string) bool
	// onlyTracked is how rules of git left out the folder, in which only tracked files count
	onlyTracked *LeftOut
}

// with adds a rules file.
func (s scope) with(name string, added ruleSet) scope {
	if name == ownRules {
		s.own = append(slices.Clip(s.own), added)
	} else {
		s.git = append(slices.Clip(s.git), added)
	}
	return s
}

// ignores returns how the rules leave out the path, whose folder they have not left out; false when
// they do not. It does not ask what git tracks.
func (s scope) ignores(path string, folder bool) (LeftOut, bool) {
	for _, sets := range [][]ruleSet{s.own, s.git} {
		for _, set := range slices.Backward(sets) {
			if r, found := set.last(path, folder); found {
				return LeftOut{Path: path, Folder: folder, File: set.file,
					Unless: set.unless(r, path)}, !r.negated
			}
		}
		if left := s.onlyTracked; left != nil {
			return LeftOut{Path: path, Folder: folder, File: left.File, Unless: left.Unless}, true
		}
	}
	return LeftOut{}, false
}

// unless returns the line for a rules file at the top that reverts a rule: for all paths that the
// rule names, or only for this path if the same pattern would not name them at the top, or names
// everything.
func (s ruleSet) unless(r rule, path string) string {
	everything := strings.Trim(r.text, "/*") == ""
	if !everything && (r.byName || s.folder == "" && s.below == "") {
		return "!" + r.text
	}
	return "!" + ignoreLine(path)
}

// last finds the last rule that matches: it decides.
func (s ruleSet) last(path string, folder bool) (rule, bool) {
	relative := s.below + path
	if s.folder != "" {
		relative = path[len(s.folder)+1:]
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	for _, r := range slices.Backward(s.rules) {
		text := relative
		if r.byName {
			text = name
		}
		if (folder || !r.folders) && r.glob.match(text) {
			return r, true
		}
	}
	return rule{}, false
}

// parseRules reads a rules file. No content is malformed: as in git, a pattern that makes no sense
// matches nothing.
func parseRules(data []byte) []rule {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	var rules []rule
	for line := range bytes.Lines(data) {
		text := strings.TrimSuffix(string(line), "\n")
		text = strings.TrimSuffix(text, "\r")
		text, _, _ = strings.Cut(text, "\x00")
		if r, ok := parseRule(trimSpaces(text)); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(line string) (rule, bool) {
	if strings.HasPrefix(line, "#") {
		return rule{}, false
	}
	r := rule{text: line}
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.folders = strings.CutSuffix(line, "/")
	r.byName = !strings.Contains(line, "/")
	compiled, ok := compile(strings.TrimPrefix(line, "/"))
	r.glob = compiled
	return r, ok
}

// trimSpaces cuts spaces from the end, but one after a backslash; tabs stay.
func trimSpaces(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == ' ' {
			continue
		}
		if line[i] == '\\' {
			i++
		}
		end = min(i+1, len(line))
	}
	return line[:end]
}

// ignoreLine is the line for a rules file at the top that leaves out exactly this path. What a line
// cannot hold (the end of a line) becomes "?".
func ignoreLine(path string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := range len(path) {
		switch c := path[i]; {
		case c == '\n' || c == '\r':
			b.WriteByte('?')
		case strings.IndexByte(special, c) >= 0, c == ' ' && i == len(path)-1:
			b.WriteByte('\\')
			b.WriteByte(c)
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}
