package infra_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"mlframework/infra"
)

// makeFolders runs the script that makes the cluster's folders, and returns what it said of its
// failure; "": it did not fail.
func makeFolders(t *testing.T, root, shared string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", infra.MakeFolders, "sh", root, "{}",
		"-1", "-1", strconv.Itoa(os.Getgid()), shared, filepath.Join(root, "master"))
	var said bytes.Buffer
	c.Stderr = &said
	if c.Run() == nil {
		return ""
	}
	return said.String()
}

// The folder of a group lies where every user of a host can make one: what another has put there
// is refused, with the reason and what to do, and is left as it was.
func TestTheGroupsFolderIsOurs(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		put  func(t *testing.T, shared string) error
		want string // in the refusal; "": it is taken
	}{
		{"nothing is there", func(*testing.T, string) error { return nil }, ""},
		{"one that an earlier call made", func(t *testing.T, shared string) error {
			if said := makeFolders(t, filepath.Dir(shared), shared); said != "" {
				t.Error(said)
			}
			return nil
		}, ""},
		{"a link", func(t *testing.T, shared string) error {
			return os.Symlink(t.TempDir(), shared)
		}, "is a link"},
		{"a link to nothing", func(_ *testing.T, shared string) error {
			return os.Symlink(shared+".gone", shared)
		}, "is a link"},
		{"a file", func(_ *testing.T, shared string) error {
			return os.WriteFile(shared, nil, 0o600)
		}, "is not a folder"},
		{"one that others can change", func(_ *testing.T, shared string) error {
			if err := os.Mkdir(shared, 0o700); err != nil {
				return err
			}
			return os.Chmod(shared, 0o707)
		}, "can be changed by others"},
		{"one that a group can change", func(_ *testing.T, shared string) error {
			if err := os.Mkdir(shared, 0o700); err != nil {
				return err
			}
			return os.Chmod(shared, 0o770)
		}, "can be changed by others"},
		{"one of another user", func(t *testing.T, shared string) error {
			if os.Getuid() != 0 {
				t.Skip("NOT TESTED: only root can make a folder of another user")
			}
			if err := os.Mkdir(shared, 0o755); err != nil {
				return err
			}
			return os.Chown(shared, 4242, -1)
		}, "belongs to the user with the number 4242"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			shared := filepath.Join(t.TempDir(), "shared")
			if err := c.put(t, shared); err != nil {
				t.Fatal(err)
			}
			before, _ := os.Lstat(shared)
			said := makeFolders(t, t.TempDir(), shared)
			after, err := os.Lstat(shared)
			if err != nil {
				t.Fatal(err)
			}
			if c.want == "" {
				if mode := os.ModeDir | os.ModeSetgid | 0o750; said != "" || after.Mode() != mode {
					t.Errorf("it has mode %v: %s", after.Mode(), said)
				}
				return
			}
			for _, part := range []string{shared + " " + c.want, "rm -rf " + shared} {
				if !strings.Contains(said, part) {
					t.Errorf("it says %q, without %q", said, part)
				}
			}
			if before.Mode() != after.Mode() {
				t.Errorf("its mode was %v and is %v", before.Mode(), after.Mode())
			}
		})
	}
}
