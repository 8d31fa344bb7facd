package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mlframework/infra/agent/server"
	"mlframework/infra/filesync"
	"mlframework/projects"
)

// unlocked lets a test's folder be removed though releases are read-only.
func unlocked(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				return os.Chmod(path, 0o700)
			}
			return err
		})
	})
	return filepath.Join(dir, "root")
}

// TestReleases brings a project to one host, through the agent, and from there to another.
func TestReleases(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{"tasks.yml": "a", "same": "a", "empty": "",
		"data": strings.Repeat("d", 3<<20)} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	m, err := projects.Scan(t.Context(), dir, projects.Options{})
	must(t, err)
	hosts := func(t *testing.T, root, cluster string) *filesync.Client {
		return filesync.NewClient(start(t, server.Options{}), root,
			filesync.Identity{Owner: "anna", Cluster: cluster, Who: "anna@laptop"})
	}
	source, target := unlocked(t), unlocked(t)
	from, to := hosts(t, source, "c"), hosts(t, target, "c")
	if all, err := from.Revisions(t.Context()); err != nil || len(all) != 0 {
		t.Errorf("%q, %v", all, err)
	}
	done, err := from.Push(t.Context(), m, filesync.PushOptions{})
	must(t, err)
	if !done.Made || done.Files != 2 {
		t.Errorf("%+v", done)
	}

	copies := func(to *filesync.Client) error {
		return filesync.Copy(t.Context(), from, to, m.Revision())
	}
	must(t, copies(to))
	must(t, m.Verify(t.Context(), filepath.Join(target, "releases", m.Revision())))
	if all, err := to.Revisions(t.Context()); err != nil ||
		!slices.Equal(all, []string{m.Revision()}) {
		t.Errorf("%q, %v", all, err)
	}
	if _, err := os.Lstat(filepath.Join(target, "current")); err == nil {
		t.Error("what was copied is in force")
	}
	must(t, copies(to))

	// What was damaged is not passed on, and nothing of it is a release. What came of a large file
	// stays for the next time, as of a push that was cut off.
	damaged := filepath.Join(source, "releases", m.Revision(), "data")
	target = unlocked(t)
	for size, left := range map[int]int{3 << 20: 0, 1 << 20: 1} {
		must(t, os.RemoveAll(target))
		must(t, os.Chmod(damaged, 0o600))
		must(t, os.WriteFile(damaged, make([]byte, size), 0o600))
		a, end := run(t, server.Options{})
		taker := filesync.NewClient(a, target, filesync.Identity{Owner: "anna", Cluster: "c"})
		if err := copies(taker); err == nil {
			t.Errorf("%d bytes that are not the file's were taken", size)
		}
		end() // what was begun is gone then
		got := list(t, filepath.Join(target, "releases"))
		if len(got) != left || left == 1 && !strings.HasPrefix(got[0], ".part-") {
			t.Errorf("it leaves %q", got)
		}
	}
	must(t, os.WriteFile(damaged, []byte(strings.Repeat("d", 3<<20)), 0o600))
	err = copies(hosts(t, target, "another"))
	if err == nil || !strings.Contains(err.Error(), "holds the files of") {
		t.Errorf("%v", err)
	}
	err = filesync.Copy(t.Context(), from, to, "0123456789abcdef")
	if err == nil || !strings.Contains(err.Error(), "was not pushed") {
		t.Errorf("%v", err)
	}
}
