package projects_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"mlframework/projects"
)

// tree is files by path. A path that ends in "/" is an empty folder, a content that begins with
// "->" a link's target.
type tree map[string]string

// plant writes a tree into a new folder.
func plant(t testing.TB, files tree) string {
	t.Helper()
	dir := t.TempDir()
	plantIn(t, dir, files)
	return dir
}

func plantIn(t testing.TB, dir string, files tree) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(files)) {
		content, path := files[name], filepath.Join(dir, name)
		folder := filepath.Dir(path)
		if strings.HasSuffix(name, "/") {
			folder = path
		}
		check(t, os.MkdirAll(folder, 0o755))
		switch target, link := strings.CutPrefix(content, "->"); {
		case link:
			check(t, os.Symlink(target, path))
		case !strings.HasSuffix(name, "/"):
			check(t, os.WriteFile(path, []byte(content), 0o644))
		}
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func scan(t testing.TB, dir string) *projects.Manifest {
	t.Helper()
	m, err := projects.Scan(context.Background(), dir, projects.Options{})
	check(t, err)
	return m
}

func paths(m *projects.Manifest) []string {
	var all []string
	for _, e := range m.Entries {
		all = append(all, e.Path)
	}
	return all
}

// age sets a file's time back, so that it can be changed without its size or content telling.
func age(t testing.TB, path string, by time.Duration) {
	t.Helper()
	then := time.Now().Add(-by)
	check(t, os.Chtimes(path, then, then))
}

// sparse makes a file of so many bytes that takes no space.
func sparse(t testing.TB, path string, size int64) {
	t.Helper()
	check(t, os.WriteFile(path, []byte("start"), 0o644))
	check(t, os.Truncate(path, size))
}

// makeRemovable lets t.TempDir delete snapshots.
func makeRemovable(t testing.TB, dir string) string {
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, item fs.DirEntry, _ error) error {
			if item != nil && item.IsDir() {
				_ = os.Chmod(path, 0o755)
			}
			return nil
		})
	})
	return dir
}

func replaceAll(s string,
	oldnew ...string) string {
	return strings.NewReplacer(oldnew...).Replace(s)
}
