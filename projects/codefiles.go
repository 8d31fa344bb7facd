package projects

import (
	"path"
	"slices"
	"strings"
)

// A Code selects the files of a project that count as its code, for a key that editing other files
// must not change. The zero value selects all files except tables, documents, pictures and logs.
type Code struct {
	// Only names what counts, in the syntax of gitignore(5), relative to the top: a folder stands
	// for all that is in it, "!" takes out again. Empty: as for the zero value.
	Only []string
	// Named are files and folders that the program reads. Without Only, they always count.
	Named []string
	// Without names files that do not count in any case. One that is not there changes nothing.
	Without []string
}

// Key returns the revision that the project would have if it contained only the files of its code.
func (c Code) Key(m *Manifest) string { return revisionOf(c.of(m)) }

// of lists what counts.
func (c Code) of(m *Manifest) []Entry {
	rules := parseRules([]byte(strings.Join(c.Only, "\n")))
	return slices.DeleteFunc(slices.Clone(m.Entries), func(e Entry) bool {
		same := func(name string) bool { return path.Clean(name) == e.Path }
		switch {
		case e.Kind == Dir || slices.ContainsFunc(c.Without, same):
			return true
		case len(c.Only) > 0:
			return !selects(rules, e.Path)
		}
		return selects(noCode, e.Path) && !slices.ContainsFunc(c.Named, func(name string) bool {
			return e.Path == name || strings.HasPrefix(e.Path, name+"/")
		})
	})
}

// noCode are files that are written for people to read. Editing them does not change results.
var noCode = parseRules([]byte(`
*.csv
*.tsv
*.xlsx
*.md
*.rst
*.html
*.pdf
*.tex
*.bib
*.docx
*.png
*.jpg
*.jpeg
*.gif
*.svg
*.log
*.ipynb
.ipynb_checkpoints/
events.out.tfevents.*
[Rr]eadme
[Rr]eadme.*
README
README.*
[Ll]icense
[Ll]icense.*
LICENSE
LICENSE.*
COPYING
COPYING.*
CHANGELOG
CHANGELOG.*
CHANGES
CHANGES.*
AUTHORS
AUTHORS.*
CITATION.*
.gitignore
.gitattributes
.mlframeworkignore
.github/
`))

// Selection returns a function that reports whether patterns, in the syntax of gitignore(5), name a
// file, or a folder that it is in.
func Selection(patterns []string) func(file string) bool {
	rules := parseRules([]byte(strings.Join(patterns, "\n")))
	return func(file string) bool { return selects(rules, file) }
}

// selects reports whether rules name a file, or else a folder that it is in.
func selects(rules []rule, file string) bool {
	set := ruleSet{rules: rules}
	for at, folder := file, false; at != "."; at, folder = path.Dir(at), true {
		if r, found := set.last(at, folder); found {
			return !r.negated
		}
	}
	return false
}

// Unmatched lists what of Only names nothing that the project has. What takes out again need not be
// there.
func (c Code) Unmatched(m *Manifest) (patterns []string) {
	for _, p := range c.Only {
		rules := parseRules([]byte(p))
		named := func(e Entry) bool { return e.Kind != Dir && selects(rules, e.Path) }
		if !strings.HasPrefix(p, "!") && !slices.ContainsFunc(m.Entries, named) {
			patterns = append(patterns, p)
		}
	}
	return patterns
}

// Changes describes how the code of a project differs from an earlier one: "train.py changed",
// "net.py is new", "old.py is gone".
func (c Code) Changes(now, old *Manifest) (changes []string) {
	before := map[string]Entry{}
	for _, e := range c.of(old) {
		before[e.Path] = e
	}
	said := func(e Entry, what string) { changes = append(changes, shown(e.Path)+" "+what) }
	for _, e := range c.of(now) {
		b, had := before[e.Path]
		delete(before, e.Path)
		switch {
		case !had:
			said(e, "is new")
		case e.Kind != b.Kind || e.Hash != b.Hash || e.Link != b.Link:
			said(e, "changed")
		case e.Executable() && !b.Executable():
			said(e, "became executable")
		case e.Executable() != b.Executable():
			said(e, "is not executable any more")
		}
	}
	for _, e := range old.Entries {
		if _, gone := before[e.Path]; gone {
			said(e, "is gone")
		}
	}
	return changes
}
