package server_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
	"mlframework/infra/layout"
)

// folders is a cluster's in a folder of its own.
func folders(t *testing.T) agent.Folders {
	root := filepath.Join(t.TempDir(), "ml", "c")
	return agent.Folders{Root: root, Owner: "anna", Cluster: "c", UID: -1, GID: -1,
		Names: []string{filepath.Join(root, "master"), filepath.Join(root, "hosts/gpu1/outputs")}}
}

func TestFolders(t *testing.T) {
	t.Parallel()
	c, f := start(t, server.Options{}), folders(t)
	must(t, c.MakeFolders(t.Context(), f))
	for _, name := range append(f.Names, f.Root) {
		if info, err := os.Stat(name); err != nil || info.Mode() != os.ModeDir|0o700 {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	marker := filepath.Join(f.Root, layout.MarkerFile)
	text, err := os.ReadFile(marker)
	if m, wrong := layout.ParseMarker(text); err != nil || wrong != nil || m.Owner != "anna" {
		t.Errorf("%s, %v, %v", text, err, wrong)
	}
	must(t, os.WriteFile(marker, []byte("kept"), 0o600))
	must(t, c.MakeFolders(t.Context(), f))
	if text, err := os.ReadFile(marker); err != nil || string(text) != "kept" {
		t.Errorf("%s, %v", text, err)
	}
	if err := c.RemoveRoot(t.Context(), f); err == nil || !strings.Contains(err.Error(), "marker") {
		t.Errorf("a folder with another's marker: %v", err)
	}
	must(t, os.WriteFile(marker, text, 0o600))
	must(t, os.WriteFile(layout.Root(f.Root).Lock(), nil, 0o600))
	must(t, os.Chmod(f.Names[1], 0o500))
	must(t, c.RemoveRoot(t.Context(), f))
	if _, err := os.Stat(filepath.Dir(f.Root)); err == nil {
		t.Error("it is there")
	}
	must(t, c.RemoveRoot(t.Context(), f))
	f.Names[0] = filepath.Join(f.Root, "..", "d")
	if err := c.MakeFolders(t.Context(), f); err == nil || !strings.Contains(err.Error(),
		"not in the folder") {
		t.Errorf("%v", err)
	}
}

// No link in the cluster's folder leads out of it.
func TestPathsStayInTheRoot(t *testing.T) {
	t.Parallel()
	c, f, elsewhere := start(t, server.Options{}), folders(t), t.TempDir()
	must(t, os.MkdirAll(f.Root, 0o700))
	must(t, os.Symlink(elsewhere, filepath.Join(f.Root, "master")))
	must(t, os.WriteFile(filepath.Join(elsewhere, "secrets.json"), []byte("theirs"), 0o600))
	files := agent.PrivateFiles{Root: f.Root, Dir: filepath.Join(f.Root, "master"), UID: -1,
		Files: []agent.PrivateFile{{Name: "secrets.json"}}}
	_, reads := c.ReadText(t.Context(), f.Root, "master/secrets.json")
	_, above := c.ReadText(t.Context(), f.Root, "../x")
	for what, err := range map[string]error{
		"folders": c.MakeFolders(t.Context(), f), "files": c.PutPrivate(t.Context(), files),
		"reading": reads, "above": above,
		"writing": c.WriteText(t.Context(), agent.Text{Root: f.Root, Name: "master/x"}),
		"program": c.CopyProgram(t.Context(), agent.ProgramCopy{Root: f.Root, To: "/tmp/x"}),
	} {
		if err == nil {
			t.Errorf("%s leave the root", what)
		}
	}
	text, err := os.ReadFile(filepath.Join(elsewhere, "secrets.json"))
	if err != nil || string(text) != "theirs" || len(list(t, elsewhere)) != 1 {
		t.Errorf("%s, %v", text, err)
	}
}

func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	items, err := os.ReadDir(dir)
	must(t, err)
	for _, i := range items {
		names = append(names, i.Name())
	}
	return names
}
