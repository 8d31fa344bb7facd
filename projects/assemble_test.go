package projects_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/projects"
)

// An assembly of contents is the snapshot that Snapshot makes of the project.
func TestAssembledIsASnapshot(t *testing.T) {
	t.Parallel()
	dir, revisions := t.TempDir(), t.TempDir()
	for name, content := range map[string]string{"a": "one", "b": "two", "c": "one", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m, err := projects.Scan(t.Context(), dir, projects.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := projects.Assemble(m, revisions)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(a.Lacking()); got != 3 {
		t.Errorf("%d contents, not 3", got)
	}
	for _, e := range a.Lacking() {
		changed := &projects.ChangedError{}
		if e.Size == 0 {
			if err := a.Put(t.Context(), e.Hash, strings.NewReader("")); err != nil {
				t.Error(err)
			}
			continue
		}
		if err := a.Put(t.Context(), e.Hash, strings.NewReader("else")); !errors.As(err,
			&changed) || changed.Path != e.Path {
			t.Errorf("%s took another content: %v", e.Path, err)
		}
		f, err := m.Open(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Put(t.Context(), e.Hash, f); err != nil {
			t.Error(err)
		}
		f.Close()
	}
	path, err := a.Publish(func() error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Discard(); err != nil {
		t.Error(err)
	}
	if err := m.Verify(t.Context(), path); err != nil || !m.Unchanged(path) {
		t.Errorf("it is not what was put in: %v", err)
	}
	snapshot, err := projects.Snapshot(context.Background(), m, revisions)
	if err != nil || snapshot != path {
		t.Errorf("Snapshot made another: %s, %v", snapshot, err)
	}
	if err := projects.Remove(revisions, m.Revision()); err != nil {
		t.Error(err)
	}
}

func TestStays(t *testing.T) {
	t.Parallel()
	links := map[string]string{
		"in": "a/b", "out": "../x", "absolute": "/etc", "d/up": "../in", "d/far": "../../x",
		"self": ".", "trick": "self/self/../..", "through": "out/y", "round": "round",
		"through/round": "../round",
		"ping":          "pong", "pong": "ping/x", "one": ".", "six": "one/one/one/one/one/one",
		"more": "six/six/six/six/six/six",
		"many": "six/six/in", "hops": "more/more/in", "hops out": "more/..",
	}
	for path, want := range map[string]bool{
		"in": true, "d/up": true, "self": true, "round": true, "ping": true, "many": true,
		"hops": false, "hops out": false,
		"out": false, "absolute": false, "d/far": false, "trick": false, "through": false,
	} {
		if got := projects.Stays(path, links); got != want {
			t.Errorf("%s -> %s: %v", path, links[path], got)
		}
	}
}
