package definition_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/definition"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, "tasks.yml", "tasks: {a: {command: [x], flags: space}}")
	f, warnings, err := definition.Load(dir, reserved)
	if err != nil || f.Tasks[0].Name != "a" || len(warnings) != 1 {
		t.Fatal(f, warnings, err)
	}
	write(t, dir, "tasks.yml", "tasks: {init: {command: [x]}}")
	_, _, err = definition.Load(dir, reserved)
	want := filepath.Join(dir, "tasks.yml") +
		`:1:9: tasks.init: "init" is a subcommand of run-tasks; give the task another name`
	if err == nil || err.Error() != want {
		t.Error(err)
	}
}

// DIR in a message stands for the folder.
func TestLoadFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		make func(t *testing.T, dir string)
		want string
	}{
		{"no folder", func(t *testing.T, dir string) { remove(t, dir) },
			"DIR: there is no such folder; name a project's folder with -d, or make one: " +
				"run-tasks init DIR"},
		{"a file", func(t *testing.T, dir string) {
			remove(t, dir)
			write(t, filepath.Dir(dir), filepath.Base(dir), "")
		}, "DIR: is a file, not a folder; name the folder that holds tasks.yml"},
		{"empty folder", func(*testing.T, string) {},
			"DIR: has no tasks.yml; name another folder with -d, or create an example: " +
				"run-tasks init DIR"},
		{"old system", func(t *testing.T, dir string) { write(t, dir, "tasks.py", "") },
			"DIR: has no tasks.yml, but a tasks.py of the old system; docs/migration.md shows " +
				"how it becomes a tasks.yml"},
		{"yaml", func(t *testing.T, dir string) { write(t, dir, "tasks.yaml", "") },
			"DIR: has no tasks.yml, but a tasks.yaml; rename it to tasks.yml"},
		{"a folder", func(t *testing.T, dir string) {
			if err := os.Mkdir(filepath.Join(dir, "tasks.yml"), 0o755); err != nil {
				t.Fatal(err)
			}
		}, "DIR/tasks.yml: is a folder, not a file"},
		{"a pipe", func(t *testing.T, dir string) {
			if err := syscall.Mkfifo(filepath.Join(dir, "tasks.yml"), 0o600); err != nil {
				t.Fatal(err)
			}
		}, "DIR/tasks.yml: is a device, pipe or socket, not a file"},
		{"no permission", func(t *testing.T, dir string) {
			if os.Getuid() == 0 {
				t.Skip("SKIPPED: root reads every file, so that this needs another user")
			}
			write(t, dir, "tasks.yml", "")
			if err := os.Chmod(filepath.Join(dir, "tasks.yml"), 0); err != nil {
				t.Fatal(err)
			}
		}, "DIR/tasks.yml: cannot be read: permission denied; check its permissions"},
		{"long", func(t *testing.T, dir string) {
			write(t, dir, "tasks.yml", strings.Repeat("#", 2<<20))
		},
			"DIR/tasks.yml: is longer than 1048576 bytes; keep data and scripts in files of " +
				"their own"},
		{"loop", func(t *testing.T, dir string) {
			if err := os.Symlink("tasks.yml", filepath.Join(dir, "tasks.yml")); err != nil {
				t.Fatal(err)
			}
		}, "DIR/tasks.yml: cannot be read: too many levels of symbolic links; check its " +
			"permissions"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c.make(t, dir)
			_, _, err := definition.Load(dir, nil)
			if err == nil {
				t.Fatal("no fault")
			}
			if diff := cmp.Diff(c.want, strings.ReplaceAll(err.Error(), dir, "DIR")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func remove(t *testing.T, dir string) {
	t.Helper()
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
}
