package projects_test

import (
	"encoding/hex"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mlframework/projects"
)

// manifestOf reads lines of a kind's letter, a path, and behind an arrow a link's target.
func manifestOf(lines string) (entries []projects.Entry) {
	const most = 24
	for line := range strings.SplitSeq(lines, "\n") {
		if len(line) < 3 || len(entries) == most {
			continue
		}
		e := projects.Entry{Kind: map[byte]projects.Kind{'f': projects.File, 'd': projects.Dir,
			'l': projects.Symlink}[line[0]]}
		e.Path, e.Link, _ = strings.Cut(line[2:], " -> ")
		if e.Kind == projects.File {
			e.Hash = hex.EncodeToString(make([]byte, 32))
		}
		entries = append(entries, e)
	}
	return entries
}

// inOrder is entries as a manifest has them: sorted, each path once, with the folders that they lie
// in.
func inOrder(entries []projects.Entry) (all []projects.Entry) {
	there := map[string]bool{".": true}
	for _, e := range entries {
		for dir := filepath.Dir(e.Path); !there[dir] &&
			projects.IsPath(dir); dir = filepath.Dir(dir) {
			there[dir], all = true, append(all, projects.Entry{Path: dir, Kind: projects.Dir})
		}
		if !there[e.Path] {
			there[e.Path], all = true, append(all, e)
		}
	}
	slices.SortFunc(all, func(a, b projects.Entry) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// planted puts entries into an empty folder as whoever believes a manifest does, links last, and
// fails where that leads out of the folder, or where a link of it does.
func planted(t *testing.T, entries []projects.Entry) {
	t.Helper()
	above := t.TempDir()
	real, err := filepath.EvalSymlinks(above)
	check(t, err)
	dir := filepath.Join(real, "in")
	check(t, os.Mkdir(dir, 0o700))
	for _, links := range []bool{false, true} {
		for _, e := range entries {
			full := filepath.Join(dir, e.Path)
			switch {
			case links != (e.Kind == projects.Symlink):
				continue
			case links:
				err = os.Symlink(e.Link, full)
			case e.Kind == projects.Dir:
				err = os.Mkdir(full, 0o700)
			default:
				err = os.WriteFile(full, nil, 0o600)
			}
			if err != nil && !strings.Contains(err.Error(), "too long") {
				t.Errorf("%q, which the check took: %v", e.Path, err)
			}
		}
	}
	if beside, err := os.ReadDir(above); err != nil || len(beside) != 1 {
		t.Errorf("beside the folder: %v, %v", beside, err)
	}
	root, err := os.OpenRoot(dir)
	check(t, err)
	defer root.Close()
	for _, e := range entries {
		if e.Kind != projects.Symlink {
			continue
		}
		at, err := filepath.EvalSymlinks(filepath.Join(dir, e.Path))
		if err == nil && at != dir && !strings.HasPrefix(at, dir+"/") {
			t.Errorf("%q -> %q leads to %s", e.Path, e.Link, at)
		}
		if _, err := root.Stat(e.Path); err != nil && strings.Contains(err.Error(), "escapes") {
			t.Errorf("%q -> %q: %v", e.Path, e.Link, err)
		}
	}
}

// FuzzManifestCheck holds what Check takes against a real folder.
func FuzzManifestCheck(f *testing.F) {
	for _, seed := range []string{
		"f a\nd b\nf b/c\nl l -> b/c", "l s -> .\nl x -> s/s/..",
		"l in -> a/b\nl out -> ../x\nl d/up -> ../in\nl d/far -> ../../x",
		"l round -> round\nl through/round -> ../round", "l a -> b/../..\nl b -> c/d\nd c/d",
		"f ../x", "l a -> /etc", "f a\nf a/b", "l z -> a\nf z/y",
		"l a -> .\nl b -> a/a/a/a/a/a/a\nl c -> b/b/b/b/b/b/b\nl d -> c/..",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, lines string) {
		given := manifestOf(lines)
		for _, entries := range [][]projects.Entry{given, inOrder(given)} {
			if (&projects.Manifest{Entries: entries}).Check() == nil {
				planted(t, entries)
			}
		}
	})
}
