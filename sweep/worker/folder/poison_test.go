package folder_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker/folder"
)

// watchedProject is a project that is large enough to be watched, with a program and a module.
func watchedProject() map[string]string {
	files := map[string]string{"train.py": "import net", "net/layers.py": "depth = 3", "net/other.py": ""}
	for n := range 80 {
		files[fmt.Sprintf("d%d/f%02d.txt", n%4, n)] = fmt.Sprint("content ", n)
	}
	return files
}

// TestNextTaskSeesTheProject has a task do what its folder's copy must not pass on to the next task in it.
func TestNextTaskSeesTheProject(t *testing.T) {
	t.Parallel()
	write := func(path, text string) error {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		return os.WriteFile(path, []byte(text), 0o644)
	}
	for name, do := range map[string]func(dir string) error{
		"a write through a hard link in the folder": func(dir string) error {
			if err := os.Link(dir+"/d1/f01.txt", dir+"/tmp.lnk"); err != nil {
				return err
			}
			if err := os.WriteFile(dir+"/tmp.lnk", []byte("poison"), 0); err != nil {
				return err
			}
			return os.Remove(dir + "/tmp.lnk")
		},
		"a write through a hard link elsewhere": func(dir string) error {
			other := dir + "-link"
			if err := os.Link(dir+"/d1/f01.txt", other); err != nil {
				return err
			}
			return os.WriteFile(other, []byte("poison"), 0)
		},
		"a compiled module that the task wrote": func(dir string) error {
			if err := write(dir+"/generated.py", "lr = 0.1"); err != nil {
				return err
			}
			return write(dir+"/__pycache__/generated.cpython-311.pyc", "compiled")
		},
		"a module in a folder of modules": func(dir string) error {
			if err := write(dir+"/net/config.py", "lr = 0.1"); err != nil {
				return err
			}
			return write(dir+"/net/__pycache__/config.cpython-311.pyc", "compiled")
		},
		"something else among compiled modules": func(dir string) error {
			return write(dir+"/net/__pycache__/mine.json", "{}")
		},
		"a module put in the place of another": func(dir string) error {
			if err := write(dir+"/net/layers.py", "depth = 4"); err != nil {
				return err
			}
			return write(dir+"/net/__pycache__/layers.cpython-311.pyc", "compiled")
		},
		"another folder in the place of its own": func(dir string) error {
			victim := dir + "-victim"
			if err := os.Rename(dir, victim); err != nil {
				return err
			}
			return os.Symlink(filepath.Base(victim), dir)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.store.WatchAll()
			s.snapshot("r1", watchedProject())
			p := s.project("r1", folder.Rules{})
			s.enter(p, 0).Leave() // from now on the copy is used again, and watched
			c := s.enter(p, 1)
			must(t, do(c.Dir))
			if err := c.Leave(); err != nil {
				t.Fatal(err)
			}
			c = s.enter(p, 2)
			differs(t, tree(t, s.path("revisions/r1")), tree(t, c.Dir))
			if err := c.Leave(); err != nil {
				t.Fatal(err)
			}
			if victim := s.path("outputs/train-1/1-victim"); exists(victim) {
				differs(t, tree(t, s.path("revisions/r1")), tree(t, victim))
			}
		})
	}
}

// TestCompiledModulesGoAlong: what Python compiled of the project's own modules serves the next task.
func TestCompiledModulesGoAlong(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", watchedProject())
	p := s.project("r1", folder.Rules{})
	c := s.enter(p, 0)
	must(t, os.Mkdir(c.Dir+"/net/__pycache__", 0o755))
	must(t, os.WriteFile(c.Dir+"/net/__pycache__/layers.cpython-311.pyc", []byte("compiled"), 0o644))
	must(t, c.Leave())
	c = s.enter(p, 1)
	if !exists(c.Dir + "/net/__pycache__/layers.cpython-311.pyc") {
		t.Error("the compiled module is not there")
	}
	must(t, c.Leave())
	if exists(s.path("outputs/train-1/0/net")) || exists(s.path("outputs/train-1/1/net")) {
		t.Error("it is left in an output")
	}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

func differs(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
