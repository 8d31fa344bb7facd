package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker/folder"
)

// stand is a store with its snapshots and outputs.
type stand struct {
	t     testing.TB
	base  string
	store *folder.Store
}

func newStand(t testing.TB) *stand {
	t.Helper()
	base := t.TempDir()
	t.Cleanup(func() { // snapshots are read-only
		_ = filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.IsDir() {
				_ = os.Chmod(path, 0o755)
			}
			return nil
		})
	})
	s := &stand{t: t, base: base}
	must(t, os.MkdirAll(s.path("outputs/train-1"), 0o755))
	s.store = s.open()
	return s
}

func (s *stand) open() *folder.Store {
	return folder.NewStore(folder.Options{Home: s.path("outputs/.prepared-w1"),
		Revision: func(r string) (string, error) { return s.path("revisions/" + r), nil }})
}

func (s *stand) path(name string) string { return filepath.Join(s.base, name) }

// snapshot makes a read-only snapshot: a name that ends with / is a folder, a text that begins with
// -> a link.
func (s *stand) snapshot(revision string, files map[string]string) {
	s.t.Helper()
	root := s.path("revisions/" + revision)
	must(s.t, os.MkdirAll(root, 0o755))
	long := time.Date(2026, 1, 2, 3, 4, 5, 678901234, time.UTC)
	for _, name := range slices.Sorted(mapKeys(files)) {
		at := filepath.Join(root, name)
		must(s.t, os.MkdirAll(filepath.Dir(at), 0o755))
		target, link := strings.CutPrefix(files[name], "->")
		switch {
		case strings.HasSuffix(name, "/"):
			must(s.t, os.MkdirAll(at, 0o755))
		case link:
			must(s.t, os.Symlink(target, at))
		default:
			mode := fs.FileMode(0o444)
			if strings.HasSuffix(name, ".sh") {
				mode = 0o555
			}
			must(s.t, os.WriteFile(at, []byte(files[name]), mode))
			must(s.t, os.Chtimes(at, long, long))
		}
	}
	must(s.t, filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			return os.Chmod(path, 0o555)
		}
		return err
	}))
}

func mapKeys(m map[string]string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func (s *stand) project(revision string, rules folder.Rules) *folder.Project {
	s.t.Helper()
	p, err := s.store.Project(revision, rules)
	must(s.t, err)
	return p
}

func (s *stand) enter(p *folder.Project, task int) *folder.Workspace {
	s.t.Helper()
	c, err := p.Enter(context.Background(), s.path(fmt.Sprintf("outputs/train-1/%d", task)))
	must(s.t, err)
	return c
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tree returns what a folder holds: of files the text, an x where they can be executed, of links
// where they lead, of folders "/".
func tree(t testing.TB, root string) map[string]string {
	t.Helper()
	all := map[string]string{}
	must(t, filepath.WalkDir(root, func(full string, d fs.DirEntry, err error) error {
		if err != nil || full == root {
			return err
		}
		name, _ := filepath.Rel(root, full)
		switch {
		case d.IsDir():
			all[name] = "/"
		case d.Type() == fs.ModeSymlink:
			target, err := os.Readlink(full)
			all[name] = "->" + target
			return err
		default:
			info, err := d.Info()
			if err != nil {
				return err
			}
			text, err := os.ReadFile(full)
			if all[name] = string(text); info.Mode()&0o100 != 0 {
				all[name] += "x"
			}
			return err
		}
		return nil
	}))
	return all
}

// TestWorkingCopyKeepsOnlyChanges changes copies in arbitrary ways: touched entries stay, and the
// next task gets an unchanged copy of the project.
func TestWorkingCopyKeepsOnlyChanges(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			s := newStand(t)
			s.snapshot("r1", randomProject(r))
			rules := folder.Rules{}
			if r.IntN(3) == 0 {
				rules.Outputs = []string{"f0", "d1"}
			}
			p := s.project("r1", rules)
			original := tree(t, s.path("revisions/r1"))
			var project map[string]string
			before := map[string]string{} // of the task that runs again
			for task := range 12 {
				again := task%4 == 3
				if again {
					task = 0
				}
				c := s.enter(p, task)
				start := tree(t, c.Dir)
				switch {
				case project == nil:
					project = start
				case again:
					if diff := cmp.Diff(restored(project, before), start); diff != "" {
						t.Fatalf("task %d again: %s", task, diff)
					}
				default:
					if diff := cmp.Diff(project, start); diff != "" {
						t.Fatalf("task %d: %s", task, diff)
					}
					sameTimes(t, s.path("revisions/r1"), c.Dir)
				}
				if c.Resumed != (again && len(before) > 0) {
					t.Errorf("task %d resumed: %v", task, c.Resumed)
				}
				waitTick(t, c.Dir)
				touched := map[string]bool{}
				for range r.IntN(6) {
					change(t, r, c.Dir, touched)
				}
				if again {
					for name, text := range before {
						touched[name] = touched[name] || text != "/" || project[name] != "/"
					}
				}
				want := leftOver(start, tree(t, c.Dir), touched)
				must(t, c.Leave())
				left := tree(t, c.Dir)
				if diff := cmp.Diff(want, left); diff != "" {
					t.Fatalf("left of task %d: %s", task, diff)
				}
				if task == 0 {
					before = left
				}
			}
			if diff := cmp.Diff(original, tree(t, s.path("revisions/r1"))); diff != "" {
				t.Error("the snapshot:", diff)
			}
			must(t, s.store.Close())
			if _, err := os.Lstat(s.path("outputs/.prepared-w1")); !errors.Is(err, fs.ErrNotExist) {
				t.Error("copies are left", err)
			}
		})
	}
}

// waitTick returns once a new change gets a later time than the entries of a folder: the clocks of
// file systems advance in ticks of some milliseconds.
func waitTick(t *testing.T, dir string) {
	t.Helper()
	stamp := func() time.Time {
		at := dir + "-tick"
		must(t, os.WriteFile(at, nil, 0o644))
		info, err := os.Stat(at)
		must(t, errors.Join(err, os.Remove(at)))
		return info.ModTime()
	}
	for first := stamp(); stamp().Equal(first); {
	}
}

// sameTimes holds files of a copy to the times that they have in the snapshot.
func sameTimes(t *testing.T, snapshot, dir string) {
	t.Helper()
	must(t, filepath.WalkDir(dir, func(full string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(dir, full)
		there, none := os.Lstat(filepath.Join(snapshot, name))
		if err != nil || none != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err == nil && (!info.ModTime().Equal(there.ModTime()) || info.Mode()&0o200 == 0) {
			t.Errorf("%s: %v, %v", name, info.ModTime(), info.Mode())
		}
		return err
	}))
}

// TestFilesWithEqualContentStay writes files whose content equals that of the project's files.
func TestFilesWithEqualContentStay(t *testing.T) {
	t.Parallel()
	write := func(path, text string) error { return os.WriteFile(path, []byte(text), 0o644) }
	for name, do := range map[string]func(path string) error{
		"rewritten":     func(path string) error { return write(path, "weights") },
		"removed first": func(path string) error { return errors.Join(os.Remove(path), write(path, "weights")) },
		"replaced": func(path string) error {
			return errors.Join(write(path+".tmp", "weights"), os.Rename(path+".tmp", path))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.snapshot("r1", map[string]string{"out/model.pt": "weights", "out/x": "x"})
			p := s.project("r1", folder.Rules{})
			for range 2 { // the second attempt finds the file of the first
				c := s.enter(p, 0)
				waitTick(t, c.Dir)
				must(t, do(c.Dir+"/out/model.pt"))
				must(t, c.Leave())
				differs(t, map[string]string{"out": "/", "out/model.pt": "weights"}, tree(t, c.Dir))
			}
		})
	}
}

// TestLinksInPlaceOfFoldersAreNotFollowed moves folders of a copy elsewhere and replaces them by
// links: the moved files stay.
func TestLinksInPlaceOfFoldersAreNotFollowed(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"", "/data"} {
		s := newStand(t)
		s.snapshot("r1", map[string]string{"data/x": "x", "train.py": "p"})
		c := s.enter(s.project("r1", folder.Rules{}), 0)
		elsewhere := s.path("elsewhere")
		must(t, os.Rename(c.Dir+name, elsewhere))
		must(t, os.Symlink(elsewhere, c.Dir+name))
		must(t, errors.Join(c.Leave(), s.store.Close()))
		if _, err := os.Stat(elsewhere + strings.TrimPrefix("/data/x", name)); err != nil {
			t.Error(err)
		}
	}
}

// TestReadOnlyFoldersAreEmptied has a program make folders of its copy read-only.
func TestReadOnlyFoldersAreEmptied(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"data/deep/x": "x", "train.py": "p"})
	c := s.enter(s.project("r1", folder.Rules{}), 0)
	must(t, os.WriteFile(c.Dir+"/result", nil, 0o644))
	for _, name := range []string{"/data/deep", "/data", ""} {
		must(t, os.Chmod(c.Dir+name, 0o555))
	}
	must(t, errors.Join(c.Leave(), s.store.Close()))
	differs(t, map[string]string{"result": ""}, tree(t, c.Dir))
}

// TestCompiledModulesAreRemoved creates folders of compiled modules as Python does.
func TestCompiledModulesAreRemoved(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"train.py": "p", "net/layers.py": "p", "data/x": "x"})
	c := s.enter(s.project("r1", folder.Rules{}), 0)
	for _, in := range []string{"", "net/", "data/"} {
		must(t, os.Mkdir(c.Dir+"/"+in+"__pycache__", 0o755))
		must(t, os.WriteFile(c.Dir+"/"+in+"__pycache__/a.cpython-311.pyc", nil, 0o644))
	}
	must(t, c.Leave())
	differs(t, map[string]string{"data": "/", "data/__pycache__": "/",
		"data/__pycache__/a.cpython-311.pyc": ""}, tree(t, c.Dir))
}

func differs(t *testing.T, want, got map[string]string) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestAsAnOrdinaryUser runs the tests of this package without root's powers.
func TestAsAnOrdinaryUser(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("they run so anyway")
	}
	base, err := os.MkdirTemp("", "ordinary-")
	must(t, err)
	t.Cleanup(func() { must(t, os.RemoveAll(base)) })
	must(t, os.Mkdir(base+"/tmp", 0o755))
	must(t, os.Chmod(base, 0o755))
	must(t, os.Chown(base+"/tmp", 65534, 65534))
	// by another process: a file that this one wrote may still be open in a process that it starts
	must(t, exec.Command("cp", os.Args[0], base+"/test").Run())
	must(t, os.Chmod(base+"/test", 0o755))
	cmd := exec.Command(base+"/test", "-test.run=^Test", "-test.skip=Plan")
	cmd.Env = append(os.Environ(), "TMPDIR="+base+"/tmp")
	cmd.Dir = base
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}

// What a task has left is as large before the copies of its project's files are removed as after.
func TestSize(t *testing.T) {
	t.Parallel()
	s := newStand(t)
	s.snapshot("r1", map[string]string{"train.py": "0123456789", "lib/a.py": "01234", "data": "012"})
	p, err := s.store.Project("r1", folder.Rules{})
	must(t, err)
	ws, err := p.Enter(t.Context(), s.path("outputs/train-1/0"))
	must(t, err)
	must(t, os.Mkdir(ws.Dir+"/result", 0o700))
	must(t, os.WriteFile(ws.Dir+"/result/best", make([]byte, 1000), 0o600))
	must(t, os.WriteFile(ws.Dir+"/data", make([]byte, 200), 0o600)) // of the project, and changed
	must(t, os.Symlink("/usr/bin/env", ws.Dir+"/link"))
	before := ws.Size()
	must(t, ws.Leave())
	if after := ws.Size(); before != 1200 || after != 1200 {
		t.Errorf("%d bytes, then %d", before, after)
	}
}

// What stands for a task's folder and is none, such as a link, is removed alone.
func TestRemoveALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	must(t, os.MkdirAll(dir+"/elsewhere/data", 0o700))
	must(t, os.Symlink(dir+"/elsewhere", dir+"/0"))
	must(t, os.MkdirAll(dir+"/1/data", 0o700))
	for _, name := range []string{"0", "1", "2"} {
		must(t, folder.Remove(t.Context(), dir+"/"+name))
		if _, err := os.Lstat(dir + "/" + name); err == nil {
			t.Errorf("%s is still there", name)
		}
	}
	if _, err := os.Stat(dir + "/elsewhere/data"); err != nil {
		t.Error(err)
	}
}
