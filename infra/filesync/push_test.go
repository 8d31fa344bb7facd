package filesync_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/infra/filesync"
	"mlframework/infra/layout"
	"mlframework/projects"
)

// A tree of any names comes out as it went in, with times and executable bits, read-only, and
// current leads to it.
func TestPushedTreeIsTheSame(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			dir, root := t.TempDir(), filepath.Join(writable(t), "a folder", "root")
			randomTree(t, rand.New(rand.NewPCG(seed, 1)), dir)
			m := scan(t, dir)
			done := push(t, root, m)
			if !done.Made || done.Revision != m.Revision() {
				t.Errorf("%+v", done)
			}
			if diff := cmp.Diff(look(t, dir), look(t, filepath.Join(root, "current"))); diff != "" {
				t.Error(diff)
			}
			target, err := os.Readlink(filepath.Join(root, "current"))
			must(t, err)
			if target != "releases/"+m.Revision() {
				t.Error(target)
			}
			for _, e := range m.Entries {
				info, err := os.Lstat(filepath.Join(root, "current", e.Path))
				must(t, err)
				if e.Kind != projects.Symlink && info.Mode()&0o222 != 0 {
					t.Errorf("%q can be written: %v", e.Path, info.Mode())
				}
			}
			must(t, verify(t, root, m.Revision()))
			if again := push(t, root, m); again.Made || again.Files != 0 || again.Bytes != 0 {
				t.Errorf("pushed again: %+v", again)
			}
		})
	}
}

var oddNames = []string{"a b", "it's", `"q"`, "line\nbreak", "tab\t", "ünï", "漢字", "\xff\xfe",
	"$HOME", "*", "-rf", "a\\b", "...", "~", "%s",
	strings.Repeat("l", 255)}

func randomTree(t *testing.T, r *rand.Rand, dir string) {
	folders := []string{""}
	for i := range 60 {
		name := fmt.Sprint(i)
		if i < len(oddNames) {
			name = oddNames[i]
		}
		path := filepath.Join(folders[r.IntN(len(folders))], name)
		full := filepath.Join(dir, path)
		switch r.IntN(6) {
		case 0:
			must(t, os.Mkdir(full, 0o755))
			if len(path) < 1000 {
				folders = append(folders, path)
			}
			continue
		case 1:
			must(t, os.Symlink(oddNames[r.IntN(len(oddNames))], full))
			continue
		case 2:
			// empty, and more than one piece
			must(t, os.WriteFile(full, make([]byte, r.IntN(3)*700_000), 0o755))
		default:
			// some contents are there twice
			must(t, os.WriteFile(full, fmt.Append(nil, r.IntN(10)), 0o640))
		}
		then := time.Unix(r.Int64N(2e9), r.Int64N(1e9))
		must(t, os.Chtimes(full, then, then))
	}
}

// Only what changed is sent, the old release stays as it was, and contents move to other names for
// nothing.
func TestOnlyChangesAreSent(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), writable(t)
	large := strings.Repeat("0123456789abcdef", (projects.LinkSize+16)/16)
	tree(t, dir, map[string]string{"a": "one", "b/c": "two", "b/d": "three", "data.bin": large})
	first := scan(t, dir)
	if done := push(t, root, first); done.Files != 4 {
		t.Errorf("first: %+v", done)
	}
	before := look(t, filepath.Join(root, "releases", first.Revision()))

	tree(t, dir, map[string]string{"b/c": "2"})
	must(t, os.Rename(filepath.Join(dir, "a"), filepath.Join(dir, "moved")))
	second := scan(t, dir)
	done := push(t, root, second)
	want := filesync.Pushed{Revision: second.Revision(), Made: true, Files: 1, Bytes: 1, Reused: 3}
	if done != want {
		t.Errorf("second: %+v", done)
	}
	if diff := cmp.Diff(before, look(t, filepath.Join(root, "releases",
		first.Revision()))); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(look(t, dir), look(t, filepath.Join(root, "current"))); diff != "" {
		t.Error(diff)
	}
	info := func(m *projects.Manifest, name string) os.FileInfo {
		i, err := os.Stat(filepath.Join(root, "releases", m.Revision(), name))
		must(t, err)
		return i
	}
	if !os.SameFile(info(first, "data.bin"), info(second, "data.bin")) {
		t.Error("a large file was copied")
	}
	if os.SameFile(info(first, "b/d"), info(second, "b/d")) {
		t.Error("releases share a small file")
	}
	if back := push(t, root, first); back.Made || back.Files > 0 {
		t.Errorf("back: %+v", back)
	}
	if current := current(t, root); current != first.Revision() {
		t.Error(current)
	}
}

// A release that was written to is made again, and what is damaged in it is sent.
func TestDamagedReleaseIsRepaired(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(file string) error{
		"shorter":     func(file string) error { return os.WriteFile(file, []byte("x"), 0) },
		"other bytes": func(file string) error { return os.WriteFile(file, []byte("eno"), 0) },
		"gone":        os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := t.TempDir(), writable(t)
			tree(t, dir, map[string]string{"a": "one", "b": "two"})
			m := scan(t, dir)
			push(t, root, m)
			release := filepath.Join(root, "releases", m.Revision())
			must(t, os.Chmod(release, 0o755))
			must(t, os.Chmod(release+"/a", 0o644))
			must(t, damage(release+"/a"))
			if err := verify(t, root, m.Revision()); err == nil || !strings.Contains(err.Error(),
				"a: ") {
				t.Errorf("verify: %v", err)
			}
			if done := push(t, root, m); !done.Made || done.Files != 1 || done.Reused != 1 {
				t.Errorf("%+v", done)
			}
			if diff := cmp.Diff(look(t, dir), look(t, release)); diff != "" {
				t.Error(diff)
			}
			must(t, verify(t, root, m.Revision()))
		})
	}
}

// cutter is a connection that ends after so many bytes to the far side.
type cutter struct {
	*process
	left int
	end  func(p *process)
}

func (c *cutter) Write(b []byte) (int, error) {
	if len(b) <= c.left {
		c.left -= len(b)
		return c.process.Write(b)
	}
	n, _ := c.process.Write(b[:c.left])
	c.left = 0
	c.end(c.process)
	return n, errors.New("cut")
}

// A push that is cut anywhere, or whose far side is killed, leaves the old revision in force; the
// next one makes it good and leaves nothing behind.
func TestCutPushLeavesTheOldRevision(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process){
		"cut":    func(p *process) { p.WriteCloser.Close() },
		"killed": func(p *process) { _ = p.cmd.Process.Kill() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := t.TempDir(), writable(t)
			tree(t, dir, map[string]string{"a": "one", "b/c": "two"})
			old := scan(t, dir)
			push(t, root, old)
			tree(t, dir, map[string]string{"b/e": strings.Repeat("e", 400),
				"b/x": strings.Repeat("x", 1_000_000), "new": "-> b", "z": "z"})
			next := scan(t, dir)
			total := pushSize(t, old, next)
			// How many frames of HTTP/2 a push takes differs a little from one to the next, so that
			// the last cut keeps away from the end.
			cuts := []int{0, 1, 5, 100, total - 700_000, total - 20_000}
			for n := range 24 {
				// within settings, request, manifest and the first content
				cuts = append(cuts, 50+n*60)
			}
			for _, n := range cuts {
				c := client(&cutter{start(t, root), n, end}, root, anna)
				if _, err := c.Push(t.Context(), next, filesync.PushOptions{}); err == nil {
					t.Fatalf("cut after %d bytes: no error", n)
				}
				if target, err := os.Readlink(filepath.Join(root, "current")); err != nil ||
					target != "releases/"+old.Revision() {
					t.Fatalf("cut after %d bytes: current is %s, %v", n, target, err)
				}
			}
			push(t, root, next)
			if diff := cmp.Diff(look(t, dir), look(t, filepath.Join(root, "current"))); diff != "" {
				t.Error(diff)
			}
			want := []string{next.Revision(), old.Revision()}
			slices.Sort(want)
			if diff := cmp.Diff(want, names(t, filepath.Join(root, "releases"))); diff != "" {
				t.Errorf("leftovers: %s", diff)
			}
		})
	}
}

// A push says that the connection broke off, at whichever end and whenever that was.
func TestACutPushSaysSo(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), writable(t)
	tree(t, dir, map[string]string{"x": strings.Repeat("x", 3_000_000)})
	m := scan(t, dir)
	for name, cut := range map[string]func(p *process){
		"here":  func(p *process) { _ = p.Close() },
		"there": func(p *process) { _ = p.cmd.Process.Kill(); p.wait() },
	} {
		for when, c := range map[string]func() error{
			"before": func() error {
				p := start(t, root)
				c := client(p, root, anna)
				if _, err := c.Revisions(t.Context()); err != nil {
					t.Fatal(err)
				}
				cut(p)
				_, err := c.Push(t.Context(), m, filesync.PushOptions{})
				return err
			},
			"in between": func() error {
				p := start(t, root)
				_, err := client(p, root, anna).Push(t.Context(), m, filesync.PushOptions{
					Progress: func(at filesync.Progress) {
						if at.Bytes > 1_000_000 {
							cut(p)
						}
					}})
				return err
			},
		} {
			err := c()
			if err == nil || !strings.HasSuffix(err.Error(),
				"the connection to the host broke off: unexpected EOF") {
				t.Errorf("%s, %s: %v", name, when, err)
			}
		}
	}
}

// What came of a large file before a push was cut off, or its far side killed, is not sent again,
// unless it was damaged.
func TestCutPushGoesOn(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *process){
		"cut":    func(p *process) { p.WriteCloser.Close(); p.wait() },
		"killed": func(p *process) { _ = p.cmd.Process.Kill(); p.wait() },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := t.TempDir(), writable(t)
			tree(t, dir, map[string]string{"a": "one"})
			push(t, root, scan(t, dir))
			const size = 3_000_000
			content := strings.Repeat("0123456789", size/10)
			tree(t, dir, map[string]string{"m": content, "sub/again": content, "z": "z"})
			m := scan(t, dir)
			parts := func() (all []string) {
				for _, name := range names(t, filepath.Join(root, "releases")) {
					if strings.HasPrefix(name, ".part-") {
						all = append(all, filepath.Join(root, "releases", name))
					}
				}
				return all
			}
			c := client(&cutter{start(t, root), 2_000_000, end}, root, anna)
			if _, err := c.Push(t.Context(), m, filesync.PushOptions{}); err == nil {
				t.Fatal("it was not cut off")
			}
			if got := len(parts()); got != 1 {
				t.Fatalf("%d parts of one file", got)
			}
			info, err := os.Stat(parts()[0])
			must(t, err)
			kept := info.Size()
			// What is in the stream's window, in a buffer and in the frame that was cut is lost: at
			// most 1.5 MiB.
			if name == "cut" && kept < 400_000 {
				t.Errorf("%d bytes are kept of nearly 2,000,000", kept)
			}
			done := push(t, root, m)
			if want := size - kept + 1; done.Bytes != want || done.Files != 2 {
				t.Errorf("sent again: %d bytes of %d files, and %d were lacking", done.Bytes,
					done.Files, want)
			}
			if diff := cmp.Diff(look(t, dir), look(t, filepath.Join(root, "current"))); diff != "" {
				t.Error(diff)
			}
			must(t, verify(t, root, m.Revision()))
			if left := parts(); len(left) > 0 {
				t.Errorf("left: %v", left)
			}
		})
	}
}

// A part that was damaged is not built upon: that push fails, and the next one sends all of the
// file.
func TestDamagedPartOfAPush(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), writable(t)
	tree(t, dir, map[string]string{"m": strings.Repeat("m", 3_000_000)})
	m := scan(t, dir)
	for _, e := range m.Entries {
		must(t, os.MkdirAll(filepath.Join(root, "releases"), 0o755))
		must(t, os.WriteFile(filepath.Join(root, ".mlframework-root"), layout.NewMarker("anna",
			"ml").Encode(), 0o600))
		must(t, os.WriteFile(filepath.Join(root, "releases", ".part-"+e.Hash), []byte("other"),
			0o600))
	}
	c := connect(t, root)
	if _, err := c.Push(t.Context(), m, filesync.PushOptions{}); err == nil {
		t.Fatal("no error")
	}
	if done := push(t, root, m); done.Bytes != 3_000_000 {
		t.Errorf("%d bytes were sent", done.Bytes)
	}
	must(t, verify(t, root, m.Revision()))
}

// pushSize is how many bytes go to the far side that has old when next is pushed.
func pushSize(t *testing.T, old, next *projects.Manifest) int {
	root := writable(t)
	push(t, root, old)
	const much = 1 << 30
	counter := &cutter{start(t, root), much, nil}
	_, err := client(counter, root, anna).Push(t.Context(), next, filesync.PushOptions{})
	must(t, err)
	return much - counter.left
}

func names(t testing.TB, dir string) []string {
	items, err := os.ReadDir(dir)
	must(t, err)
	all := []string{}
	for _, item := range items {
		all = append(all, item.Name())
	}
	return all
}

func TestCancelledPush(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), writable(t)
	tree(t, dir, map[string]string{"a": strings.Repeat("a", 5_000_000), "b": "b"})
	ctx, cancel := context.WithCancelCause(t.Context())
	mine := errors.New("enough")
	c := connect(t, root)
	_, err := c.Push(ctx, scan(t, dir),
		filesync.PushOptions{Progress: func(filesync.Progress) { cancel(mine) }})
	if !errors.Is(err, mine) {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat(filepath.Join(root, "current")); err == nil {
		t.Error("it became current")
	}
	_, err = c.Push(t.Context(), scan(t, dir), filesync.PushOptions{})
	must(t, err)
	push(t, root, scan(t, dir))
}

// A file that changes between scan and push fails the push by name, whatever changes.
func TestChangedFile(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(file string) error{
		"gone":   os.Remove,
		"longer": func(file string) error { return os.WriteFile(file, []byte("longer"), 0o644) },
		"same size and time": func(file string) error {
			info, err := os.Stat(file)
			return errors.Join(err, os.WriteFile(file, []byte("TWO"), 0o644), os.Chtimes(file,
				info.ModTime(), info.ModTime()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, root := t.TempDir(), writable(t)
			tree(t, dir, map[string]string{"a": "one", "b": "two"})
			m := scan(t, dir)
			must(t, change(filepath.Join(dir, "b")))
			_, err := connect(t, root).Push(t.Context(), m, filesync.PushOptions{})
			changed, ok := errors.AsType[*projects.ChangedError](err)
			if !ok || changed.Path != "b" {
				t.Errorf("%v", err)
			}
			if _, err := os.Lstat(filepath.Join(root, "current")); err == nil {
				t.Error("it became current")
			}
		})
	}
}

// Pushes at once of one revision and of others all come through.
func TestPushesAtOnce(t *testing.T) {
	t.Parallel()
	root := writable(t)
	done := make(chan error)
	revisions := map[string]bool{}
	for i := range 6 {
		dir := t.TempDir()
		tree(t, dir, map[string]string{"a": fmt.Sprint(i / 2), "b": strings.Repeat("b", 700_000)})
		m, c := scan(t, dir), connect(t, root)
		revisions[m.Revision()] = true
		go func() {
			_, err := c.Push(t.Context(), m, filesync.PushOptions{})
			done <- err
		}()
	}
	for range 6 {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(revisions)), names(t, filepath.Join(root,
		"releases"))); diff != "" {
		t.Error(diff)
	}
	for r := range revisions {
		must(t, verify(t, root, r))
	}
}

// A person is asked when much is new to the host, not when a large project changes a little.
func TestLargeProjectNeedsAWord(t *testing.T) {
	t.Parallel()
	dir, root := t.TempDir(), writable(t)
	must(t, os.MkdirAll(filepath.Join(dir, "data/images/a"), 0o755))
	for i := range filesync.LargeFiles {
		name := filepath.Join(dir, "data/images/a", strconv.Itoa(i))
		must(t, os.WriteFile(name, []byte(strconv.Itoa(1000+i)), 0o644)) // 4 bytes
	}
	must(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("1"), 0o644))
	_, err := connect(t, root).Push(t.Context(), scan(t, dir), filesync.PushOptions{})
	large, ok := errors.AsType[*filesync.LargeError](err)
	if !ok || large.Files != filesync.LargeFiles+1 || large.Folders[0] !=
		(filesync.LargeFolder{Path: "data/images", Files: filesync.LargeFiles, Bytes: 8000}) {
		t.Fatalf("%v", err)
	}
	asked := 0
	o := filesync.PushOptions{Large: func(*filesync.LargeError) error { asked++; return nil }}
	if _, err := connect(t, root).Push(t.Context(), scan(t, dir), o); err != nil || asked != 1 {
		t.Fatalf("%v, asked %d times", err, asked)
	}
	must(t, os.WriteFile(filepath.Join(dir, "main.py"), []byte("2"), 0o644))
	_, err = connect(t, root).Push(t.Context(), scan(t, dir), filesync.PushOptions{})
	if err != nil {
		t.Errorf("after a change of one file: %v", err)
	}
}

func TestWhatIsLarge(t *testing.T) {
	t.Parallel()
	big := projects.Entry{Path: "a/b/c/d", Kind: projects.File, Size: filesync.LargeBytes}
	small := projects.Entry{Path: "e", Kind: projects.File, Size: 1}
	must(t, filesync.CheckSize([]projects.Entry{big}))
	err := filesync.CheckSize([]projects.Entry{small, big, {Path: "a", Kind: projects.Dir}})
	want := `2 files with 314.6 MB are new to the hosts; most are in "a/b" (1 files, 314.6 MB), ` +
		`"." (1 files, 0.0 MB)`
	if err == nil || err.Error() != want {
		t.Errorf("%v", err)
	}
}
