package server_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"mlframework/infra/agent"
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
	id := filesync.Identity{Owner: "anna", Cluster: "c", Who: "anna@laptop"}
	from, to := start(t, server.Options{}), start(t, server.Options{})
	source := agent.Release{Root: unlocked(t), Revision: m.Revision()}
	target := agent.Release{Root: unlocked(t), Revision: m.Revision(), Owner: "anna", Cluster: "c"}
	if all, err := from.Revisions(t.Context(), source.Root); err != nil || len(all) != 0 {
		t.Errorf("%q, %v", all, err)
	}
	conn, err := from.Files(t.Context(), source.Root)
	must(t, err)
	client := filesync.NewClient(conn, id)
	done, err := client.Push(t.Context(), m, filesync.PushOptions{})
	must(t, err)
	if !done.Made || done.Files != 2 {
		t.Errorf("%+v", done)
	}
	must(t, client.Close())

	copies := func() error { return agent.CopyRelease(t.Context(), from, to, source, target) }
	must(t, copies())
	must(t, m.Verify(t.Context(), filepath.Join(target.Root, "releases", m.Revision())))
	if all, err := to.Revisions(t.Context(), target.Root); err != nil ||
		!slices.Equal(all, []string{m.Revision()}) {
		t.Errorf("%q, %v", all, err)
	}
	if _, err := os.Lstat(filepath.Join(target.Root, "current")); err == nil {
		t.Error("what was copied is in force")
	}
	must(t, copies())

	// What was damaged is not passed on, and leaves nothing.
	damaged := filepath.Join(source.Root, "releases", m.Revision(), "data")
	target.Root = unlocked(t)
	for _, size := range []int{3 << 20, 1 << 20} {
		must(t, os.Chmod(damaged, 0o600))
		must(t, os.WriteFile(damaged, make([]byte, size), 0o600))
		taker, end := run(t, server.Options{})
		if err := agent.CopyRelease(t.Context(), from, taker, source, target); err == nil {
			t.Errorf("%d bytes that are not the file's were taken", size)
		}
		end() // what was begun is gone then
		if got := list(t, filepath.Join(target.Root, "releases")); len(got) != 0 {
			t.Errorf("it leaves %q", got)
		}
	}
	must(t, os.WriteFile(damaged, []byte(strings.Repeat("d", 3<<20)), 0o600))
	target.Cluster = "another"
	if err := copies(); err == nil || !strings.Contains(err.Error(), "holds the files of") {
		t.Errorf("%v", err)
	}
	source.Revision = "0123456789abcdef"
	if err := copies(); err == nil || !strings.Contains(err.Error(), "was not pushed") {
		t.Errorf("%v", err)
	}
}
