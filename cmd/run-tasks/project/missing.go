package project

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
)

// CodeOf is which files of a project are code to a definition with parameters of some spaces: not
// those that describe the sweep.
func CodeOf(t definition.Task, spaces ...*space.Space) projects.Code {
	c := projects.Code{Only: t.Code, Without: []string{definition.FileName, t.Parameters}}
	words := slices.Clone(t.Command)
	for _, v := range t.Env {
		words = append(words, v.Value)
	}
	for _, s := range spaces {
		for _, p := range s.Parameters() {
			for i := range min(p.Len(), mostTypes) {
				words = append(words, p.Value(i).Value)
			}
		}
	}
	for _, text := range words {
		for _, word := range strings.Fields(text) {
			for _, name := range pathsGiven(word) {
				c.Named = append(c.Named, path.Join(t.Workdir, name))
			}
		}
	}
	return c
}

// compared returns a note about what --missing compares.
func (g Gap) compared() string {
	const compared = "compared the command and its code: "
	if len(g.code.Only) > 0 {
		return compared + human.List(g.code.Only) + " (set by code: in tasks.yml)"
	}
	text := compared + "all files except tables, documents, pictures and logs that the command " +
		"does not name"
	if g.typed {
		return text
	}
	return text + " (set code: in tasks.yml to change this)"
}

// unmatchedCode says which patterns of a definition's code name nothing that the project has.
func unmatchedCode(m *projects.Manifest, t definition.Task) []string {
	var notes []string
	for _, p := range CodeOf(t).Unmatched(m) {
		notes = append(notes, fmt.Sprintf("tasks.%s.code in tasks.yml: %q names no file of the "+
			"project", t.Name, p))
	}
	return notes
}

// History answers which points of a record have not succeeded yet.
type History interface {
	Missing(ctx context.Context, r core.Record, code string, same ...string) (api.Missing, error)
}

// Gap is a query for the points that have not succeeded yet.
type Gap struct {
	files *projects.Manifest // nil: not known, as they were brought before
	code  projects.Code
	key   string
	limit int64 // how many of the points run; 0: all
	typed bool  // the command is not in tasks.yml
	// the files of a revision, where they are still there
	old func(context.Context, string) (*projects.Manifest, error)
}

// NewGap is the gap of a project's definition, whose files workers are given in the folder
// revisions; "": they cannot be read here.
func NewGap(files *projects.Manifest, key string, p *Project, revisions string) Gap {
	g := Gap{files: files, code: CodeOf(p.Task, p.Space), key: key, limit: p.limit,
		typed: p.Typed}
	g.old = func(ctx context.Context, revision string) (*projects.Manifest, error) {
		if revisions == "" || files == nil {
			return nil, errors.New("the files of other revisions are not here")
		}
		m, err := projects.Scan(ctx, filepath.Join(revisions, revision),
			projects.Options{Snapshot: true})
		if err == nil && m.Revision() != revision {
			err = fmt.Errorf("the files of revision %s are not as they were", revision)
		}
		return m, err
	}
	return g
}

// Narrow leaves only the points of a record in which no task of the same key has succeeded, and
// says why; false when there is none. Others are the sweeps in which the other points succeeded. An
// answer gives the causes of the first points only, so it asks until no further revision turns out
// to have the same code.
func (g Gap) Narrow(ctx context.Context, q History, r *core.Record) (found bool, others,
	notes []string, err error) {
	notes = []string{g.compared()}
	var m api.Missing
	old, same := map[string]*projects.Manifest{}, []string(nil)
	for known := -1; known < len(same); {
		known = len(same)
		if m, err = q.Missing(ctx, *r, g.key, same...); err != nil {
			return false, nil, notes, err
		}
		same = append(same, g.compare(ctx, m.Because, old)...)
	}
	if !m.All && len(m.Ranges) == 0 {
		return false, m.Succeeded, notes, nil
	}
	if !m.All {
		r.Ranges = m.Ranges
	}
	notes = append(notes, g.reasons(m.Because, old, api.Total(*r))...)
	if all := api.Total(*r); g.limit > 0 && g.limit < all {
		notes = append(notes, fmt.Sprintf("--limit: the first %d of %s run", g.limit,
			Combinations(all)))
		r.Ranges = r.Ranges.First(g.limit)
	}
	if len(m.Damaged) > 0 {
		notes = append(notes, "not all of "+human.List(m.Damaged)+" can be read in the store: "+
			"what succeeded there may run again")
	}
	return true, m.Succeeded, notes, nil
}

// compare reads into old the files of revisions that are not there yet and whose code seems to be
// another one; nil: they cannot be read. Same are those of them that have the same code: what
// counts as code may have been something else when they were submitted.
func (g Gap) compare(ctx context.Context, causes []api.Cause,
	old map[string]*projects.Manifest) (same []string) {
	for _, c := range causes {
		if _, have := old[c.Revision]; have || c.What != api.CauseCode {
			continue
		}
		m, err := g.old(ctx, c.Revision)
		if err != nil {
			m = nil // what is left of it says nothing
		}
		if old[c.Revision] = m; m != nil && g.code.Key(m) == g.key {
			same = append(same, c.Revision)
		}
	}
	return same
}

// reasons says why points are missing, of which there are total. The causes are those of the first
// of them.
func (g Gap) reasons(causes []api.Cause, old map[string]*projects.Manifest,
	total int64) (notes []string) {
	least := ""
	for _, c := range causes {
		total -= c.Points
	}
	if total > 0 {
		least = "at least "
	}
	var differences []difference
	for _, c := range causes {
		what := "the " + c.What + " in tasks.yml changed"
		if g.typed {
			what = "the " + c.What + " changed"
		}
		switch c.What {
		case api.CauseCode:
			what = g.changes(old[c.Revision])
		case api.CauseSpelling:
			what = "the order or spelling of their parameters changed"
		case api.CauseFolder:
			what = "workdir or links in tasks.yml changed"
		case api.CauseImage:
			what = "the image changed"
		}
		i := slices.IndexFunc(differences, func(d difference) bool { return d.what == what })
		switch {
		case c.What == api.CauseNew:
			notes = append(notes, least+Combinations(c.Points)+" to run, as none of these "+
				"parameters has succeeded yet")
			continue
		case i < 0:
			i, differences = len(differences), append(differences, difference{what: what})
		}
		differences[i].points += c.Points
		differences[i].since = append(differences[i].since, c.Sweep)
	}
	for _, d := range slices.Backward(differences) {
		note := fmt.Sprintf("%s to run again, because %s since %s", least+Combinations(d.points),
			d.what, human.ListFirst(d.since))
		notes = slices.Insert(notes, 0, note)
	}
	return notes
}

// difference is what changed since some sweeps.
type difference struct {
	what   string
	since  []string
	points int64
}

// changesShown is how many changed files are named.
const changesShown = 3

func (g Gap) changes(old *projects.Manifest) string {
	if old == nil {
		return "the project's code changed"
	}
	changes := g.code.Changes(g.files, old)
	if rest := len(changes) - changesShown; rest > 0 {
		return fmt.Sprintf("%s, and %s changed", strings.Join(changes[:changesShown], ", "),
			human.Plural(int64(rest), "more file"))
	}
	return human.List(changes)
}
