package infra_test

import (
	"os"
	"path/filepath"
	"testing"

	"mlframework/infra"
	"mlframework/infra/layout"
	"mlframework/infra/remote"
)

// A host that is off or cannot be written to is left: the others get the files, also where the home
// folder of the master's host is another's, too.
func TestAPushThatFailsOnOneHost(t *testing.T) {
	t.Parallel()
	for name, share := range map[string]bool{"homes of their own": false, "one home": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newHosts(t, "gpu1", "gpu2", "gpu3")
			if share {
				f.hosts["gpu2"].home = f.hosts["gpu1"].home
			}
			dir := t.TempDir()
			r := f.request("gpu1", "gpu2", "gpu3")
			r.Files = f.project(dir, "one")
			r.Project.Revision = r.Files.Revision()
			if _, err := f.up(r); err != nil {
				t.Fatal(err)
			}
			inForce := func(want string, push func(*infra.Cluster)) {
				t.Helper()
				c, err := infra.Open(t.Context(), infra.Location{Name: "c",
					Folder: "ml/c", Master: "gpu1", Targets: map[string]remote.Target{
						"gpu1": {Name: "gpu1"}}}, f.options())
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				push(c)
				if err := c.Refresh(t.Context()); err != nil || c.CurrentRevision() != want {
					t.Errorf("%s is in force, not %s (%v)", c.CurrentRevision(), want, err)
				}
			}
			manifests := filepath.Join(string(f.root("gpu3")), layout.Manifests)
			must := func(err error) {
				t.Helper()
				if err != nil {
					t.Fatal(err)
				}
			}
			must(os.Rename(manifests, manifests+".aside"))
			must(os.WriteFile(manifests, nil, 0o600))
			two := f.project(dir, "two")
			inForce(two.Revision(), func(c *infra.Cluster) {
				pushed, left, err := c.Push(t.Context(), two, nil)
				if err != nil || len(pushed) != 2 || len(left) != 1 || left[0].Host != "gpu3" {
					t.Errorf("%+v, left %v, %v", pushed, left, err)
				}
			})
			must(os.Remove(manifests))
			must(os.Rename(manifests+".aside", manifests))
			inForce(two.Revision(), func(c *infra.Cluster) {
				pushed, left, err := c.Push(t.Context(), two, nil)
				if err != nil || len(pushed) != 3 || len(left) > 0 || !pushed[2].Made {
					t.Errorf("%+v, left %v, %v", pushed, left, err)
				}
			})
			f.away["gpu3"] = true
			three := f.project(dir, "three")
			inForce(three.Revision(), func(c *infra.Cluster) {
				pushed, left, err := c.Push(t.Context(), three, nil)
				if err != nil || len(pushed) != 2 || len(left) != 1 || !left[0].Unreached {
					t.Errorf("%+v, left %v, %v", pushed, left, err)
				}
			})
		})
	}
}

// TestCopyRevision copies a revision to a host that was away when the others got it.
func TestCopyRevision(t *testing.T) {
	t.Parallel()
	f := newHosts(t, "gpu1", "gpu2")
	dir := t.TempDir()
	r := f.request("gpu1", "gpu2")
	r.Files = f.project(dir, "one")
	r.Project.Revision = r.Files.Revision()
	if _, err := f.up(r); err != nil {
		t.Fatal(err)
	}
	c, err := infra.Open(t.Context(), infra.Location{Name: "c", Folder: "ml/c", Master: "gpu1",
		Targets: map[string]remote.Target{"gpu1": {Name: "gpu1"}}}, f.options())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	f.away["gpu2"] = true
	two := f.project(dir, "two")
	if _, left, err := c.Push(t.Context(), two, nil); err != nil || len(left) != 1 {
		t.Fatalf("left %v, %v", left, err)
	}
	if err := c.CopyRevision(t.Context(), "gpu2", two.Revision()); err == nil {
		t.Error("files were copied to a host that is away")
	}
	delete(f.away, "gpu2")
	if err := c.CopyRevision(t.Context(), "gpu2", two.Revision()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Join(f.root("gpu2").Releases(), two.Revision())); err != nil {
		t.Error(err)
	}
	if err := c.CopyRevision(t.Context(), "gpu9", two.Revision()); err == nil {
		t.Error("files were copied to a host that the cluster does not have")
	}
}
