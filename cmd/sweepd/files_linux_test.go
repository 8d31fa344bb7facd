package main_test

import (
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// TestFiles talks to the program as infrainit does.
func TestFiles(t *testing.T) {
	t.Parallel()
	root, dir := filepath.Join(t.TempDir(), "root"), filepath.Join("..", "..", "projects", "echo")
	far := exec.CommandContext(t.Context(), program, "files", "--root", root)
	in, err1 := far.StdinPipe()
	out, err2 := far.StdoutPipe()
	m, err3 := projects.Scan(t.Context(), dir, projects.Options{})
	for _, err := range []error{err1, err2, err3, far.Start()} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c := filesync.NewClient(struct {
		io.Reader
		io.WriteCloser
	}{out, in}, filesync.Identity{Owner: "anna", Cluster: "ml"})
	if _, err := c.Push(t.Context(), m, filesync.PushOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	if err := far.Wait(); err != nil {
		t.Errorf("it did not end well with its input: %v", err)
	}
	said, err := exec.CommandContext(t.Context(), program, "files", "--root", root, "--verify", m.Revision()).Output()
	if err != nil || !strings.Contains(string(said), m.Revision()+" is whole") {
		t.Errorf("%s %v", said, err)
	}
	if err := projects.Remove(filepath.Join(root, "releases"), m.Revision()); err != nil {
		t.Fatal(err)
	}
	if said, err := exec.CommandContext(t.Context(), program, "files", "--root", root, "--verify", m.Revision()).CombinedOutput(); err == nil {
		t.Errorf("whole though it is gone: %s", said)
	}
}
