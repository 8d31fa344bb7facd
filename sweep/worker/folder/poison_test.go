package folder_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mlframework/sweep/worker/folder"
)

// watchedProject returns a project that is large enough to be watched, with a program and a module.
func watchedProject() map[string]string {
	files := map[string]string{"train.py": "import net", "net/layers.py": "depth = 3",
		"net/other.py": ""}
	for n := range 80 {
		files[fmt.Sprintf("d%d/f%02d.txt", n%4, n)] = fmt.Sprint("content ", n)
	}
	return files
}

// TestNextTaskSeesTheProject has a task do what its folder's copy must not pass on to the next task
// in it.
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

// TestCompiledModulesGoAlong: what Python compiled of the project's own modules serves the next
// task.
func TestCompiledModulesGoAlong(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", watchedProject())
	p := s.project("r1", folder.Rules{})
	c := s.enter(p, 0)
	must(t, os.Mkdir(c.Dir+"/net/__pycache__", 0o755))
	must(t, os.WriteFile(c.Dir+"/net/__pycache__/layers.cpython-311.pyc", []byte("compiled"),
		0o644))
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

// TestCopiesStayInTheirSweep has a task leave a compiled module and keep a file of the project
// open: a task of another sweep gets neither.
func TestCopiesStayInTheirSweep(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", watchedProject())
	own := s.project("r1", folder.Rules{Sweep: "train-1"})
	c := s.enter(own, 0)
	must(t, os.Mkdir(c.Dir+"/net/__pycache__", 0o755))
	must(t, os.WriteFile(c.Dir+"/net/__pycache__/layers.cpython-311.pyc", []byte("hostile"), 0o644))
	before := tree(t, c.Dir)
	kept, err := os.OpenFile(c.Dir+"/net/layers.py", os.O_RDWR, 0)
	must(t, err)
	defer kept.Close()
	must(t, c.Leave())
	c = s.enter(s.project("r1", folder.Rules{Sweep: "train-2"}), 1)
	_, err = kept.WriteAt([]byte("hostile"), 0)
	must(t, err)
	delete(before, "net/__pycache__")
	delete(before, "net/__pycache__/layers.cpython-311.pyc")
	differs(t, before, tree(t, c.Dir))
	must(t, c.Leave())
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

// TestFolderAttributesAreTheTasks has a task give a folder of the project an attribute: the next
// task's has none.
func TestFolderAttributesAreTheTasks(t *testing.T) {
	t.Parallel()
	for _, files := range []map[string]string{{"data/x": "x"}, watchedProject()} {
		s := newStand(t)
		s.snapshot("r1", files)
		p := s.project("r1", folder.Rules{})
		first := filepath.Dir(slices.Min(slices.Collect(maps.Keys(files))))
		c := s.enter(p, 0)
		if err := unix.Setxattr(filepath.Join(c.Dir, first), "user.lr", []byte("0.1"),
			0); err == unix.ENOTSUP {
			t.Skip("the file system of temporary folders has no attributes of users")
		} else if err != nil {
			t.Fatal(err)
		}
		must(t, c.Leave())
		c = s.enter(p, 1)
		if n, err := unix.Getxattr(filepath.Join(c.Dir, first), "user.lr",
			nil); err != unix.ENODATA {
			t.Errorf("%s of the next task has an attribute of %d bytes, %v", first, n, err)
		}
		must(t, c.Leave())
	}
}

// TestOutputsAreThereWhileAnAttemptEnds reads what a task made while its copy is taken out of its
// folder.
func TestOutputsAreThereWhileAnAttemptEnds(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"a/x": "x", "b/x": "x", "c/x": "x", "d": "d", "e": "e"})
	p := s.project("r1", folder.Rules{})
	for n := range 200 {
		c := s.enter(p, n)
		made := c.Dir + "/stdout.log"
		must(t, os.WriteFile(made, []byte(fmt.Sprint("of task ", n)), 0o644))
		done, gone := make(chan struct{}), make(chan error, 1)
		go func() {
			defer close(gone)
			for {
				if text, err := os.ReadFile(made); err != nil ||
					string(text) != fmt.Sprint("of task ", n) {
					gone <- fmt.Errorf("task %d: %q, %w", n, text, err)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		}()
		must(t, c.Leave())
		close(done)
		if err := <-gone; err != nil {
			t.Fatal(err)
		}
		if left := tree(t, c.Dir); len(left) != 1 {
			t.Fatal("left:", left)
		}
	}
}
