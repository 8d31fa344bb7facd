package projects_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/projects"
)

// TestCode: which files count, as seen by which changes change the key.
func TestOnlyCode(t *testing.T) {
	t.Parallel()
	files := tree{"a.py": "1", "lib/b.py": "2", "lib/notes.md": "3", "configs/x.yml": "4",
		"configs/deep/y.yml": "5", "README": "6", "my configs/z": "7", "log.csv": "8",
		"data/x.csv": "9"}
	for only, want := range map[string]string{
		"":           "a.py lib/b.py configs/x.yml configs/deep/y.yml my configs/z data/x.csv",
		"*.py":       "a.py lib/b.py",
		"/*.py":      "a.py",
		"configs":    "configs/x.yml configs/deep/y.yml",
		"configs/":   "configs/x.yml configs/deep/y.yml",
		"lib\n!*.md": "lib/b.py",
		"*\n!README": "a.py lib/b.py lib/notes.md configs/x.yml configs/deep/y.yml " +
			"my configs/z log.csv data/x.csv",
		"configs\n!configs/deep":   "configs/x.yml",
		"configs/deep/*":           "configs/deep/y.yml",
		"my configs\nnothing here": "my configs/z",
		"nothing":                  "",
	} {
		t.Run(only, func(t *testing.T) {
			t.Parallel()
			code := projects.Code{Without: []string{"tasks.yml"}, Named: []string{"data"}}
			if only != "" {
				code.Only = strings.Split(only, "\n")
			}
			dir := plant(t, files)
			before := scan(t, dir)
			var counts []string
			for _, name := range strings.Split(
				"a.py,lib/b.py,lib/notes.md,configs/x.yml,configs/deep/y.yml,README,my configs/z,"+
					"log.csv,data/x.csv", ",") {
				plantIn(t, dir, tree{name: "other", "tasks.yml": name})
				now := scan(t, dir)
				changes := code.Changes(now, before)
				if code.Key(now) != code.Key(before) {
					counts = append(counts, name)
				}
				if (len(changes) > 0) != (code.Key(now) != code.Key(before)) {
					t.Errorf("%s: %q", name, changes)
				}
				plantIn(t, dir, tree{name: files[name]})
			}
			if diff := cmp.Diff(want, strings.Join(counts, " ")); diff != "" {
				t.Error(diff)
			}
			if nothing := code.Unmatched(before); (len(nothing) > 0) != strings.Contains(only,
				"nothing") {
				t.Errorf("unmatched: %q", nothing)
			}
		})
	}
}

func TestCodeChanges(t *testing.T) {
	t.Parallel()
	old := scan(t, plant(t, tree{"a": "1", "b": "2", "c": "3", "same": "", "link": "->a",
		"tasks.yml": "x"}))
	now := scan(t, plant(t, tree{"a": "1", "b": "3", "d e": "", "empty/": "", "same": "",
		"link": "->b", "sub/x": "", "tasks.yml": "y"}))
	want := []string{"b changed", `"d e" is new`, "link changed", "sub/x is new", "c is gone"}
	if diff := cmp.Diff(want, projects.Code{Without: []string{"tasks.yml"}}.Changes(now,
		old)); diff != "" {
		t.Error(diff)
	}
}
