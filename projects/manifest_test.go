package projects_test

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/projects"
)

var sample = tree{
	"train.py": "print()", "tasks.yml": "tasks:", "parameters.yml": "lr: 1", "data/x": "1",
	"data/y z": "2", "none/": "", "l": "->data/x",
	"q'\"": "", "two\nlines": "", "umlaut-ä": "", "bytes-\xff\xfe": "",
}

func TestRevisionIgnoresTimesModesAndPlace(t *testing.T) {
	t.Parallel()
	first := plant(t, sample)
	second := plant(t, sample)
	check(t, filepath.WalkDir(second, func(path string, item os.DirEntry, err error) error {
		if err == nil && item.Type()&os.ModeSymlink == 0 {
			age(t, path, time.Hour)
			err = os.Chmod(path, map[bool]os.FileMode{true: 0o700, false: 0o600}[item.IsDir()])
		}
		return err
	}))
	if a, b := scan(t, first).Revision(), scan(t, second).Revision(); a != b {
		t.Errorf("revisions %s and %s of the same content", a, b)
	}
}

func TestRevisionSeesContent(t *testing.T) {
	t.Parallel()
	edits := map[string]func(t *testing.T, dir string){
		"none":    func(*testing.T, string) {},
		"content": func(t *testing.T, dir string) { plantIn(t, dir, tree{"data/x": "3"}) },
		"name": func(t *testing.T, dir string) {
			check(t, os.Rename(dir+"/data/x",
				dir+"/data/w"))
		},
		"swapped": func(t *testing.T, dir string) {
			plantIn(t, dir, tree{"data/x": "2",
				"data/y z": "1"})
		},
		"executable": func(t *testing.T, dir string) { check(t, os.Chmod(dir+"/train.py", 0o744)) },
		"new folder": func(t *testing.T, dir string) { check(t, os.Mkdir(dir+"/more", 0o755)) },
		"target": func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/l"))
			check(t, os.Symlink("data/w", dir+"/l"))
		},
		"kind": func(t *testing.T, dir string) {
			check(t, os.Remove(dir+"/none"))
			plantIn(t, dir, tree{"none": ""})
		},
	}
	seen := map[string]string{}
	for name, edit := range edits {
		dir := plant(t, sample)
		edit(t, dir)
		revision := scan(t, dir).Revision()
		if other, twice := seen[revision]; twice {
			t.Errorf("%s and %s have one revision", name, other)
		}
		seen[revision] = name
	}
}

// TestRevisionIsUnambiguous moves bytes between neighbouring fields.
func TestRevisionIsUnambiguous(t *testing.T) {
	t.Parallel()
	revisions := map[string]bool{}
	lists := [][]projects.Entry{
		{{Path: "ab", Kind: projects.Symlink, Link: "c"}},
		{{Path: "a", Kind: projects.Symlink, Link: "bc"}},
		{{Path: "a", Kind: projects.File, Hash: "bc"}},
		{{Path: "a", Kind: projects.Dir}, {Path: "b", Kind: projects.Dir}},
		{{Path: "a\x00b", Kind: projects.Dir}},
	}
	for _, entries := range lists {
		revisions[(&projects.Manifest{Entries: entries}).Revision()] = true
	}
	if len(revisions) != len(lists) {
		t.Errorf("%d revisions for %d lists", len(revisions), len(lists))
	}
}

// TestRevisionIsFixed: a revision outlives a release, because results are compared by it.
func TestRevisionIsFixed(t *testing.T) {
	t.Parallel()
	if got, want := scan(t, plant(t, sample)).Revision(), "6e7b87e46cb730e1"; got != want {
		t.Errorf("revision %s, want %s: a new format needs a new first line in Code and a line "+
			"in CHANGELOG.md", got, want)
	}
}

func TestCode(t *testing.T) {
	t.Parallel()
	dir := plant(t, sample)
	before := scan(t, dir)
	plantIn(t, dir, tree{"parameters.yml": "lr: 2", "tasks.yml": "tasks: {}"})
	after := scan(t, dir)
	if before.Revision() == after.Revision() {
		t.Error("the revision did not change")
	}
	a := projects.Code{Without: []string{"tasks.yml", "./parameters.yml"}}.Key(before)
	b := projects.Code{Without: []string{"parameters.yml", "tasks.yml", "no.yml"}}.Key(after)
	if a != b {
		t.Errorf("code %s became %s", a, b)
	}
}

// TestScanOrder: any order of making files gives the same sorted list.
func TestScanOrder(t *testing.T) {
	t.Parallel()
	names := []string{"a", "a-b", "a.b/c", "ab", "b/a", "b/a-", "b-", "é", "z"}
	var want []string
	for range 5 {
		dir := t.TempDir()
		rand.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
		for _, name := range names {
			plantIn(t, dir, tree{name: ""})
		}
		got := paths(scan(t, dir))
		if want == nil {
			want = got
		}
		if diff := cmp.Diff(want, got); diff != "" || !slices.IsSorted(got) {
			t.Errorf("%q: %s", got, diff)
		}
	}
}
