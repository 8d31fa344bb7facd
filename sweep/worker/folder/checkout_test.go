package folder_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
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
	return folder.NewStore(folder.Options{Home: s.path("outputs/.prepared-w1"), Idle: 4,
		Revision: func(r string) (string, error) { return s.path("revisions/" + r), nil }})
}

func (s *stand) path(name string) string { return filepath.Join(s.base, name) }

// snapshot makes a read-only snapshot: a name that ends with / is a folder, a text that begins with -> a link.
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

func (s *stand) enter(p *folder.Project, task int) *folder.Checkout {
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

// tree is what a folder holds: of files the text, an x where they can be executed, of links where they lead, of folders "/".
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

// randomProject is some files in some folders.
func randomProject(r *rand.Rand) map[string]string {
	files := map[string]string{}
	folders := []string{""}
	for i := range r.IntN(6) {
		folders = append(folders, path.Join(folders[r.IntN(len(folders))], fmt.Sprintf("d%d", i))+"/")
		files[folders[len(folders)-1]] = ""
	}
	for i := range r.IntN(20) {
		name := fmt.Sprintf("%sf%d%s", folders[r.IntN(len(folders))], i, []string{"", ".py", ".sh", " ü"}[r.IntN(4)])
		files[name] = strings.Repeat(fmt.Sprint(i), r.IntN(30))
		if r.IntN(10) == 0 {
			files[name] = fmt.Sprintf("->f%d", i)
		}
	}
	return files
}

// change does something to a task's folder that a program might do. In one that is only watched no file gets another name: see
// TestAnotherNameOfAFileIsSeen.
func change(t testing.TB, r *rand.Rand, root string, watched bool) {
	t.Helper()
	var files, folders []string
	for name, text := range tree(t, root) {
		if text == "/" {
			folders = append(folders, name)
		} else {
			files = append(files, name)
		}
	}
	slices.Sort(files)
	slices.Sort(folders)
	folders = append(folders, ".")
	in := filepath.Join(root, folders[r.IntN(len(folders))])
	fresh := filepath.Join(in, fmt.Sprintf("new%d", r.IntN(1000)))
	if len(files) == 0 {
		must(t, os.WriteFile(fresh, []byte("new"), 0o644))
		return
	}
	old := filepath.Join(root, files[r.IntN(len(files))])
	info, err := os.Lstat(old)
	must(t, err)
	plain := info.Mode().IsRegular()
	switch n := r.IntN(14); {
	case n == 0:
		must(t, os.WriteFile(fresh, []byte("new"), 0o644))
	case n == 1:
		_ = os.Mkdir(fresh, 0o755)
	case n == 2 && plain: // in place, as long as before
		f, err := os.OpenFile(old, os.O_RDWR, 0)
		must(t, err)
		_, err = f.WriteAt([]byte("X")[:min(1, info.Size())], 0)
		must(t, errors.Join(err, os.Chtimes(old, info.ModTime(), info.ModTime()), f.Close()))
	case n == 3 && plain: // by a rename
		must(t, os.WriteFile(old+".tmp", []byte("saved"), 0o644))
		must(t, os.Rename(old+".tmp", old))
	case n == 4:
		must(t, os.Remove(old))
	case n == 5 && len(folders) > 1:
		must(t, os.RemoveAll(filepath.Join(root, folders[0])))
	case n == 6:
		must(t, os.Rename(old, fresh))
	case n == 7 && plain:
		must(t, os.Chmod(old, info.Mode()^0o111))
	case n == 8:
		must(t, os.Remove(old))
		must(t, os.Symlink("elsewhere", old))
	case n == 9 && plain:
		must(t, os.Chtimes(old, time.Now(), time.Now()))
	case n == 10 && plain && !watched:
		_ = os.Link(old, fresh)
	case n == 11 && plain: // the same again
		text, err := os.ReadFile(old)
		must(t, errors.Join(err, os.Remove(old), os.WriteFile(old, text, info.Mode())))
	case n == 12 && in != root:
		_ = os.Rename(in, in+"-moved")
	case n == 13:
		must(t, os.MkdirAll(filepath.Join(in, "__pycache__"), 0o755))
		must(t, os.WriteFile(filepath.Join(in, "__pycache__/x.pyc"), []byte("compiled"), 0o644))
	}
}

// inCache reports whether a path is a cache of compiled programs or in one, and what folder that is in.
func inCache(name string) (above string, cached bool) {
	before, _, cached := strings.Cut("/"+name+"/", "/__pycache__/")
	return strings.TrimPrefix(before, "/"), cached
}

// leftOver is what is to be left of a folder: without what is as in the project, and without caches of compiled programs in
// its folders.
func leftOver(project, now map[string]string) map[string]string {
	left := map[string]string{}
	for name, text := range now {
		if above, cached := inCache(name); cached && (above == "" || project[above] == "/") {
			continue
		}
		if own, have := project[name]; have && own == text {
			continue
		}
		left[name] = text
	}
	for name := range left { // folders that hold something stay
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			left[above] = "/"
		}
	}
	return left
}

// withoutCaches leaves out caches of compiled programs, which a copy may have.
func withoutCaches(all map[string]string) map[string]string {
	for name := range all {
		if _, cached := inCache(name); cached {
			delete(all, name)
		}
	}
	return all
}

// TestWhatIsLeftIsWhatChanged lets attempts do anything to their copies: what they did is left, and the next has the project as
// it is.
func TestWhatIsLeftIsWhatChanged(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 1))
			s := newStand(t)
			if seed%2 == 0 {
				s.store.WatchAll()
			}
			if seed%3 == 0 {
				s.store.Inexact()
			}
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
				now := withoutCaches(tree(t, c.Dir))
				switch {
				case project == nil:
					project = now
				case again:
					want := withoutCaches(restored(project, before))
					if diff := cmp.Diff(want, now); diff != "" {
						t.Fatalf("task %d again: %s", task, diff)
					}
				default:
					if diff := cmp.Diff(project, now); diff != "" {
						t.Fatalf("task %d: %s", task, diff)
					}
					sameTimes(t, s.path("revisions/r1"), c.Dir)
				}
				if c.Resumed != (again && len(before) > 0) {
					t.Errorf("task %d resumed: %v", task, c.Resumed)
				}
				for range r.IntN(6) {
					change(t, r, c.Dir, seed%2 == 0)
				}
				want := leftOver(project, tree(t, c.Dir))
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

// restored is a project beside what an earlier attempt left.
func restored(project, before map[string]string) map[string]string {
	all := map[string]string{}
	for name, text := range project {
		hidden := false
		for above := path.Dir(name); above != "."; above = path.Dir(above) {
			own, have := before[above]
			hidden = hidden || have && own != "/"
		}
		if !hidden {
			all[name] = text
		}
	}
	for name, text := range before {
		all[name] = text
	}
	return all
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

// TestAnotherNameOfAFileIsSeen writes to a file of the project through another name that stands in a new place.
func TestAnotherNameOfAFileIsSeen(t *testing.T) {
	t.Parallel()
	for _, place := range []string{"sub/other", "new/other", "other"} {
		s := newStand(t)
		s.store.WatchAll()
		s.snapshot("r1", map[string]string{"data/x": "x", "sub/y": "y"})
		p := s.project("r1", folder.Rules{})
		c := s.enter(p, 0)
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(c.Dir, place)), 0o755))
		must(t, os.Link(c.Dir+"/data/x", filepath.Join(c.Dir, place)))
		must(t, os.WriteFile(filepath.Join(c.Dir, place), []byte("z"), 0o644))
		must(t, c.Leave())
		if left := tree(t, c.Dir); left["data/x"] != "z" || left[place] != "z" {
			t.Errorf("%s: left %v", place, left)
		}
		c = s.enter(p, 1)
		if got := tree(t, c.Dir)["data/x"]; got != "x" {
			t.Errorf("%s: the next has %q", place, got)
		}
		must(t, errors.Join(c.Leave(), s.store.Close()))
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
	self, err := os.Open(os.Args[0])
	must(t, err)
	defer self.Close()
	program, err := os.OpenFile(base+"/test", os.O_WRONLY|os.O_CREATE, 0o755)
	must(t, err)
	_, err = io.Copy(program, self)
	must(t, errors.Join(err, program.Close()))
	cmd := exec.Command(base+"/test", "-test.run=^Test", "-test.skip=Plan")
	cmd.Env = append(os.Environ(), "TMPDIR="+base+"/tmp")
	cmd.Dir = base
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v:\n%s", err, out)
	}
}
