package projects_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/projects"
)

func TestScanLists(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"b/c.txt": "hello", "a.py": "", "empty/": "", "b-x": "1",
		"link": "->b/c.txt"})
	check(t, os.Chmod(filepath.Join(dir, "a.py"), 0o750))
	m := scan(t, dir)
	want := []projects.Entry{
		{Path: "a.py", Kind: projects.File, Mode: 0o750,
			Hash: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		{Path: "b", Kind: projects.Dir, Mode: 0o755},
		{Path: "b-x", Kind: projects.File, Mode: 0o644, Size: 1,
			Hash: "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b"},
		{Path: "b/c.txt", Kind: projects.File, Mode: 0o644, Size: 5,
			Hash: "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"},
		{Path: "empty", Kind: projects.Dir, Mode: 0o755},
		{Path: "link", Kind: projects.Symlink, Mode: 0o777, Link: "b/c.txt"},
	}
	if runtime.GOOS == "darwin" {
		want[5].Mode = m.Entries[5].Mode // follows the umask there
	}
	if diff := cmp.Diff(want, m.Entries, cmpopts.IgnoreFields(projects.Entry{},
		"ModTime")); diff != "" {
		t.Error(diff)
	}
	if got := m.Bytes(); got != 6 {
		t.Errorf("Bytes() = %d, want 6", got)
	}
}

func TestScanAlwaysLeavesOut(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{
		"train.py": "", ".git/HEAD": "", "lib/.git": "gitdir: elsewhere",
		"outputs": "->/mnt/big/outputs", ".mlframework/store": "",
		"cluster.yml": "", "infra-clean": "", "infra-clean-ml": "",
		"__pycache__/x.pyc": "", "lib/old.pyc": "", "lib/.ipynb_checkpoints/x": "",
		".pytest_cache/x": "", ".DS_Store": "",
		"best/.mlframework-results": "", "best/train-1/0/model.pt": "", ".venv/pyvenv.cfg": "",
		".venv/bin/python": "->/usr/bin/python3", "deep/env/conda-meta/history": "",
		"lib/cluster.yml": "kept", "lib/outputs/x": "kept", "lib/infra-clean": "kept",
		"node_modules/x":           "kept",
		"other/.mlframework/store": "", "other/outputs/x": "", "other/cluster.yml": "",
		"other/main.py": "kept",
		".gitignore":    "!outputs\n!__pycache__\n!.git\n",
	})
	want := []string{
		".gitignore", "deep", "lib", "lib/cluster.yml", "lib/infra-clean", "lib/outputs",
		"lib/outputs/x", "node_modules",
		"node_modules/x", "other", "other/main.py", "train.py",
	}
	if diff := cmp.Diff(want, paths(scan(t, dir))); diff != "" {
		t.Error(diff)
	}
}

func TestScanOfAFolderThatIsAnEnvironment(t *testing.T) {
	t.Parallel()
	m := scan(t, plant(t, tree{"pyvenv.cfg": "", "train.py": ""}))
	if diff := cmp.Diff([]string{"pyvenv.cfg", "train.py"}, paths(m)); diff != "" {
		t.Error(diff)
	}
}

func TestScanFolderErrors(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"file": ""})
	for name, test := range map[string]struct {
		dir, want string
		is        error
	}{
		"missing": {dir + "/nothing", "there is no such folder", fs.ErrNotExist},
		"not folder": {dir + "/file", "it is not a folder: name the folder that holds tasks.yml",
			syscall.ENOTDIR},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := projects.Scan(context.Background(), test.dir, projects.Options{})
			var folder *projects.FolderError
			if !errors.As(err, &folder) || !errors.Is(err, test.is) {
				t.Fatalf("Scan: %v, want a FolderError of %v", err, test.is)
			}
			if want := "open project " + test.dir + ": " + test.want; err.Error() != want {
				t.Errorf("Scan: %q, want %q", err, want)
			}
		})
	}
}

func TestScanOfNothing(t *testing.T) {
	t.Parallel()
	m := scan(t, t.TempDir())
	var zero projects.Manifest
	if len(m.Entries) != 0 || m.Revision() != zero.Revision() || len(m.Revision()) != 16 {
		t.Errorf("empty project: %d entries, revision %q, zero manifest's %q", len(m.Entries),
			m.Revision(), zero.Revision())
	}
}

func TestScanRefusesAllAtOnce(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"ok": "", "z-abs": "->/etc/passwd", "sub/up": "->../..",
		".gitignore": "ignored\n", "ignored": "->/etc"})
	_, err := projects.Scan(context.Background(), dir, projects.Options{})
	want := `read project ` + dir + `:
  link sub/up leads out of the project, to ../..: leave it out with a line /sub/up in .mlframeworkignore, and give the program its target's own path
  link z-abs leads out of the project, to /etc/passwd: leave it out with a line /z-abs in .mlframeworkignore, and give the program its target's own path`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var all *projects.ScanError
	if !errors.As(err, &all) || len(all.Files) != 2 {
		t.Fatalf("want a ScanError of 2 files, got %#v", err)
	}
}

// TestScanSkips leaves out what is not a file; in a snapshot, nothing is.
func TestScanSkips(t *testing.T) {
	t.Parallel()
	dir := plant(t, tree{"ok": "", "l": "->/nonexistent/x", "sub/up": "->../../other", "in": "->no",
		".gitignore": "ignored\n"})
	for _, name := range []string{"a pipe", "ignored"} {
		check(t, syscall.Mkfifo(filepath.Join(dir, name), 0o644))
	}
	listener, err := net.Listen("unix", filepath.Join(dir, "s"))
	check(t, err)
	defer listener.Close()
	m := scan(t, dir)
	const want = `not files, not visible to tasks: "a pipe" (a named pipe), ` +
		"l (a link to /nonexistent/x, which does not exist), s (a socket), " +
		"sub/up (a link to ../../other, which does not exist)"
	if got := m.SkippedNote(); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	var paths []string
	for _, e := range m.Entries {
		paths = append(paths, e.Path)
	}
	if got := strings.Join(paths, " "); got != ".gitignore in ok sub" {
		t.Errorf("the project has %s", got)
	}
	for i := range 5 {
		check(t, syscall.Mkfifo(filepath.Join(dir, fmt.Sprint(i)), 0o644))
	}
	if got := scan(t, dir).SkippedNote(); !strings.HasSuffix(got, "4 (a named pipe) and 4 more") {
		t.Error(got)
	}
	_, err = projects.Scan(context.Background(), dir, projects.Options{Snapshot: true})
	if all, is := errors.AsType[*projects.ScanError](err); !is || len(all.Files) < 8 {
		t.Errorf("as a snapshot: %v", err)
	}
}

func TestScanErrorIsBounded(t *testing.T) {
	t.Parallel()
	files := tree{}
	for i := range 500 {
		files[fmt.Sprintf("link%03d", i)] = "->/etc"
	}
	_, err := projects.Scan(context.Background(), plant(t, files), projects.Options{})
	if text := fmt.Sprint(err); strings.Count(text, "\n") != 21 || !strings.HasSuffix(text,
		"\n  and 480 more") {
		t.Errorf("got %s", text)
	}
}

func TestScanUnreadable(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		t.Skip("root reads every file: the message is seen by TestFileErrorText, the rest only " +
			"without root")
	}
	dir := plant(t, tree{"a": "", "b/x": "", "c/.gitignore": "", "link": "->/etc"})
	for _, name := range []string{"a", "b", "c/.gitignore"} {
		check(t, os.Chmod(filepath.Join(dir, name), 0))
		defer os.Chmod(filepath.Join(dir, name), 0o755)
	}
	_, err := projects.Scan(context.Background(), dir, projects.Options{})
	if text := fmt.Sprint(err); strings.Count(text, "permission denied") < 3 ||
		!strings.Contains(text, "link link leads out") {
		t.Errorf("got %s", text)
	}
}

func TestFileErrorText(t *testing.T) {
	t.Parallel()
	denied := &fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES}
	for want, err := range map[string]error{
		`read data/x*: permission denied: make it readable, or leave it out with a line "/data/x\\*" in .mlframeworkignore`: &projects.FileError{
			Path: "data/x*", Fault: projects.Unreadable, Err: denied},
		`read the rules in sub/.gitignore: permission denied: make it readable`: &projects.FileError{
			Path: "sub/.gitignore", Fault: projects.Unreadable, Err: denied},
		`log.txt changed while it was read: try again when nothing writes to it, or leave it out with a line /log.txt in .mlframeworkignore`: &projects.ChangedError{
			Path: "log.txt"},
	} {
		if err.Error() != want {
			t.Errorf("got  %s\nwant %s", err, want)
		}
	}
}

func TestScanStops(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	dir := plant(t, tree{"a": "1", "b": "2", "c": "3"})
	_, err := projects.Scan(ctx, dir, projects.Options{Workers: 1, Hashing: func(string,
		int64) {
		cancel()
	}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Scan: %v, want context.Canceled", err)
	}
}

func TestScanPanicReachesTheCaller(t *testing.T) {
	t.Parallel()
	defer func() {
		if r := recover(); !strings.Contains(fmt.Sprint(r), "boom") {
			t.Errorf("recovered %v, want boom", r)
		}
	}()
	_, err := projects.Scan(context.Background(), plant(t, tree{"a": "1"}),
		projects.Options{Hashing: func(string, int64) { panic("boom") }})
	t.Errorf("Scan returned %v", err)
}
