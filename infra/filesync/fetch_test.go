package filesync_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mlframework/infra/filesync"
	"mlframework/projects"
)

// hostWith is a root with outputs of the sweep run-1.
func hostWith(t *testing.T, files map[string]string) (root, outputs string) {
	t.Helper()
	root = writable(t)
	push(t, root, small(t)) // makes the root
	outputs = filepath.Join(root, "outputs", "run-1")
	tree(t, outputs, files)
	return root, outputs
}

func fetch(t *testing.T, root, dir string, tasks ...int64) (filesync.Fetched, error) {
	t.Helper()
	c := connect(t, root)
	return c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1", Tasks: tasks, Dir: dir})
}

// fetched is what a destination has, without our own folder and the times of folders.
func fetched(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := look(t, filepath.Join(dir, "run-1"))
	for name, content := range found {
		switch {
		case strings.HasPrefix(name, ".mlframework"):
			delete(found, name)
		case strings.HasPrefix(content, "folder "):
			found[name] = "folder"
		}
	}
	return found
}

func TestFetchedOutputsAreTheSame(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"0/stdout.log": "hello", "0/result/empty/": "", "0/result/best": "-> ../checkpoint/2",
		"0/checkpoint/2": strings.Repeat("c", 1_000_000),
		"0/passwd":       "-> /etc/passwd", "0/up": "-> ../1/stdout.log",
		"1/stdout.log": "", "2/x": "not asked for", "notes": "no task",
	}
	for _, odd := range oddNames {
		files["1/"+odd] = odd
	}
	root, outputs := hostWith(t, files)
	must(t, os.Chmod(outputs+"/0/stdout.log", 0o755))
	must(t, syscall.Mkfifo(outputs+"/1/pipe", 0o600))
	dir := t.TempDir()
	var last filesync.Progress
	c := connect(t, root)
	done, err := c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1", Tasks: []int64{0, 1, 7},
		Dir: dir, Progress: func(p filesync.Progress) { last = p }})
	must(t, err)
	if diff := cmp.Diff([]int64{7}, done.MissingFolders); diff != "" ||
		done.Folder != filepath.Join(root, "outputs", "run-1") {
		t.Errorf("missing folders in %s: %s", done.Folder, diff)
	}
	var skipped []string
	for _, s := range done.Skipped {
		skipped = append(skipped, s.Path)
	}
	slices.Sort(skipped)
	if diff := cmp.Diff([]string{"run-1/0/passwd", "run-1/0/up", "run-1/1/pipe"},
		skipped); diff != "" {
		t.Error(diff)
	}
	must(t, os.Remove(outputs+"/1/pipe"))
	for _, name := range []string{"0/passwd", "0/up", "notes"} {
		must(t, os.Remove(outputs+"/"+name))
	}
	must(t, os.RemoveAll(outputs+"/2"))
	want := look(t, outputs)
	for name, content := range want {
		if strings.HasPrefix(content, "folder ") {
			want[name] = "folder"
		}
	}
	if diff := cmp.Diff(want, fetched(t, dir)); diff != "" {
		t.Error(diff)
	}
	// a link has no bytes
	if last.Files != last.OfFiles || last.Bytes != last.OfBytes || last.Files != done.Files-1 {
		t.Errorf("progress ended with %+v; %+v", last, done)
	}
	again, err := fetch(t, root, dir)
	if err != nil || again.Files != 0 || again.Bytes != 0 || again.Had != done.Files {
		t.Errorf("again: %+v, %v", again, err)
	}
}

// A file that has grown goes on where it ends; one that was written anew comes whole.
func TestFetchGoesOn(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/grows": strings.Repeat("g", 100_000),
		"0/other": "one", "0/link": "-> grows"})
	dir := t.TempDir()
	_, err := fetch(t, root, dir)
	must(t, err)
	f, err := os.OpenFile(outputs+"/0/grows", os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	_, err = f.WriteString("more")
	must(t, errors.Join(err, f.Close()))
	must(t, os.WriteFile(outputs+"/0/other", []byte("the other"), 0o644))
	must(t, os.Remove(outputs+"/0/link"))
	must(t, os.Symlink("other", outputs+"/0/link"))
	done, err := fetch(t, root, dir)
	if err != nil || done.Files != 3 || done.Bytes != int64(len("more")+len("the other")) {
		t.Errorf("%+v, %v", done, err)
	}
	must(t, os.WriteFile(outputs+"/0/other", []byte("short"), 0o644))
	_, err = fetch(t, root, dir)
	must(t, err)
	want := look(t, outputs)
	want["0"] = "folder"
	if diff := cmp.Diff(want, fetched(t, dir)); diff != "" {
		t.Error(diff)
	}
}

// reader is a connection that ends after so many bytes from the far side.
type reader struct {
	*process
	left int
}

func (r *reader) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, errors.New("cut")
	}
	n, err := r.process.Read(b[:min(len(b), r.left)])
	r.left -= n
	return n, err
}

// A fetch that is cut anywhere leaves no half file, and what came is not sent again.
func TestCutFetchGoesOn(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/a": strings.Repeat("a", 700_000),
		"0/b": strings.Repeat("b", 300_000), "1/c": "c"})
	dir := t.TempDir()
	const content = 1_000_001
	var came int64
	for _, cut := range []int{10, 60, 100, 200, 300_000, 500_000, 290_000} {
		c := client(&reader{start(t, root), cut}, root, anna)
		done, err := c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1", Dir: dir})
		if err == nil {
			t.Fatalf("cut after %d bytes: no error", cut)
		}
		came += done.Bytes
		for name, now := range fetched(t, dir) {
			if now != "folder" && now != look(t, outputs)[name] {
				t.Errorf("cut after %d bytes: %s is wrong", cut, name)
			}
		}
	}
	done, err := fetch(t, root, dir)
	if came += done.Bytes; err != nil || came != content {
		t.Errorf("%d bytes came, for %d: %v", came, content, err)
	}
	if parts := names(t, filepath.Join(dir, "run-1", ".mlframework", "fetch",
		"partial")); len(parts) != 0 {
		t.Errorf("left: %v", parts)
	}
}

// A part that was damaged meanwhile is not built upon.
func TestDamagedPart(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/a": strings.Repeat("a", 700_000)})
	dir := t.TempDir()
	c := client(&reader{start(t, root), 400_000}, root, anna)
	if _, err := c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1", Dir: dir}); err == nil {
		t.Fatal("not cut")
	}
	parts := filepath.Join(dir, "run-1", ".mlframework", "fetch", "partial")
	part := filepath.Join(parts, names(t, parts)[0])
	data, err := os.ReadFile(part)
	must(t, err)
	data[len(data)/2] ^= 1
	must(t, os.WriteFile(part, data, 0o600))
	_, err = fetch(t, root, dir)
	must(t, err)
	if look(t, outputs)["0/a"] != fetched(t, dir)["0/a"] {
		t.Error("it is not the same")
	}
}

// meddler does something between the plan of a fetch and its contents.
type meddler struct {
	filesync.Agent
	do func()
}

func (m meddler) Do(
	ctx context.Context, method, path string, body io.Reader,
) (*http.Response, error) {
	if path == "/outputs/files" {
		m.do()
	}
	return m.Agent.Do(ctx, method, path, body)
}

// A file that another program cuts short here is told as that, and not as an end of the connection.
func TestAFileThatIsCutShortHere(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/a": strings.Repeat("a", 700_000)})
	dir := t.TempDir()
	_, err := fetch(t, root, dir)
	must(t, err)
	tree(t, outputs, map[string]string{"0/a": strings.Repeat("a", 800_000)})
	file := filepath.Join(dir, "run-1", "0", "a")
	p := start(t, root)
	a := &meddler{agentOf(p), func() { must(t, os.Truncate(file, 1000)) }}
	_, err = filesync.NewClient(a, root, anna).Fetch(t.Context(),
		filesync.FetchOptions{Sweep: "run-1", Dir: dir})
	if err == nil || !strings.Contains(err.Error(), "a was cut short during the fetch") {
		t.Errorf("%v", err)
	}
}

// What is not ours is never written over, and everything else comes.
func TestFetchWritesOverNothing(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/edited": "one", "0/b": "two",
		"0/same": "same", "0/folder/x": "x", "0/linked/y": "y"})
	dir := t.TempDir()
	_, err := fetch(t, root, dir)
	must(t, err)
	here := filepath.Join(dir, "run-1", "0")
	must(t, os.WriteFile(here+"/edited", []byte("my notes"), 0o644))
	must(t, os.WriteFile(here+"/same", []byte("same"), 0o644)) // by another hand, with another time
	must(t, os.RemoveAll(here+"/folder"))
	must(t, os.WriteFile(here+"/folder", nil, 0o644))
	elsewhere := t.TempDir()
	must(t, os.RemoveAll(here+"/linked"))
	must(t, os.Symlink(elsewhere, here+"/linked"))
	for _, name := range []string{"edited", "b"} {
		must(t, os.WriteFile(filepath.Join(outputs, "0", name), []byte("new "+name), 0o644))
	}
	done, err := fetch(t, root, dir)
	conflict, ok := errors.AsType[*filesync.ConflictError](err)
	if !ok {
		t.Fatal(err)
	}
	slices.Sort(conflict.Paths)
	if diff := cmp.Diff([]string{"run-1/0/edited", "run-1/0/folder", "run-1/0/linked"},
		conflict.Paths); diff != "" {
		t.Error(diff)
	}
	for name, want := range map[string]string{"edited": "my notes", "b": "new b", "same": "same"} {
		if data, err := os.ReadFile(here + "/" + name); err != nil || string(data) != want {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
	if done.Files != 1 || done.Had != 1 || len(names(t, elsewhere)) != 0 {
		t.Errorf("%+v, %v", done, names(t, elsewhere))
	}
}

// What a fetch left gives way to what has taken its place on the host, of whichever kind. What
// somebody else changed does not, nor a folder, whose files may be nowhere else.
func TestKindsThatChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before, here, after map[string]string // here: what is changed at the destination
		conflicts           []string
	}{
		"a file becomes a link": {before: map[string]string{"0/best.pt": "one", "0/e1": "e1"},
			after: map[string]string{"0/best.pt": "-> e1", "0/e1": "e1"}},
		"a link becomes a file": {before: map[string]string{"0/latest": "-> e1", "0/e1": "e1"},
			after: map[string]string{"0/latest": "e2", "0/e1": "e1"}},
		"a file becomes a folder": {before: map[string]string{"0/x": "file"},
			after: map[string]string{"0/x/y/z": "z", "0/x/empty/": ""}},
		"a link becomes a folder like what it led to": {
			before: map[string]string{"0/x": "-> d", "0/d/y": "y"},
			after:  map[string]string{"0/x/y": "y", "0/d/y": "y"}},
		"a folder becomes a file": {before: map[string]string{"0/x/y": "y"},
			after: map[string]string{"0/x": "x"}, conflicts: []string{"run-1/0/x"}},
		"they were edited": {
			before: map[string]string{"0/file": "f", "0/f2": "f", "0/link": "-> a", "0/l2": "-> a"},
			here: map[string]string{"0/file": "mine", "0/f2": "mine", "0/link": "-> b",
				"0/l2": "-> b"},
			after: map[string]string{"0/file": "-> a", "0/f2/y": "", "0/link": "l",
				"0/l2": "-> c"},
			conflicts: []string{"run-1/0/f2", "run-1/0/file", "run-1/0/l2",
				"run-1/0/link"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, outputs := hostWith(t, c.before)
			dir := t.TempDir()
			_, err := fetch(t, root, dir)
			must(t, err)
			for name := range c.here {
				must(t, os.Remove(filepath.Join(dir, "run-1", name)))
			}
			tree(t, filepath.Join(dir, "run-1"), c.here)
			must(t, os.RemoveAll(outputs))
			tree(t, outputs, c.after)
			had := fetched(t, dir)
			refuse := func(filesync.FetchSize) error { return io.ErrNoProgress }
			if len(c.conflicts) == 0 {
				_, err = connect(t, root).Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
					Dir: dir, Confirm: refuse})
				if diff := cmp.Diff(had, fetched(t, dir)); errors.Is(err, io.ErrNoProgress) &&
					diff != "" {
					t.Errorf("a fetch that was declined: %s", diff)
				}
			}
			_, err = fetch(t, root, dir)
			conflict, _ := errors.AsType[*filesync.ConflictError](err)
			if len(c.conflicts) == 0 {
				must(t, err)
				had = look(t, outputs)
				for name, content := range had {
					if strings.HasPrefix(content, "folder ") {
						had[name] = "folder"
					}
				}
			} else if conflict == nil {
				t.Fatal(err)
			} else if slices.Sort(conflict.Paths); !slices.Equal(conflict.Paths, c.conflicts) {
				t.Errorf("conflicts %v", conflict.Paths)
			}
			if diff := cmp.Diff(had, fetched(t, dir)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestForeignDestinations(t *testing.T) {
	t.Parallel()
	root, _ := hostWith(t, map[string]string{"0/a": "one"})
	local := t.TempDir()
	tree(t, local, map[string]string{"run-1/0/a": "of a sweep that ran here"})
	_, err := fetch(t, root, local)
	if _, ok := errors.AsType[*filesync.ConflictError](err); !ok {
		t.Error(err)
	}
	if diff := cmp.Diff([]string{"0"}, names(t, local+"/run-1")); diff != "" {
		t.Error(diff)
	}
	dir := t.TempDir()
	_, err = fetch(t, root, dir)
	must(t, err)
	ben := filesync.Identity{Owner: "anna", Cluster: "other"}
	_, err = client(start(t, root), root, ben).Fetch(t.Context(),
		filesync.FetchOptions{Sweep: "run-1", Dir: dir})
	if err == nil || !strings.Contains(err.Error(), `anna's cluster "ml"`) {
		t.Error(err)
	}
	for _, sweep := range []string{"", "..", "a/b", ".hidden", "a\x00"} {
		if _, err := connect(t, root).Fetch(t.Context(), filesync.FetchOptions{Sweep: sweep,
			Dir: dir}); err == nil {
			t.Errorf("%q was taken for a sweep", sweep)
		}
	}
	_, err = connect(t, root).Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
		Outputs: "../x", Dir: t.TempDir()})
	refused(t, err, "there can be no sweep")
	none, err := connect(t, root).Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-2",
		Dir: dir})
	if err != nil || none.Files != 0 {
		t.Error(none, err)
	}
}

// Several hosts are fetched from into one folder at once.
func TestFetchesAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	done := make(chan error)
	const hosts = 4
	for i := range hosts {
		root, _ := hostWith(t, map[string]string{fmt.Sprintf("%d/a", i): fmt.Sprint(i)})
		c := connect(t, root)
		go func() {
			_, err := c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1", Dir: dir})
			done <- err
		}()
	}
	for range hosts {
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
	for i := range hosts {
		if data, err := os.ReadFile(fmt.Sprintf("%s/run-1/%d/a", dir, i)); err != nil ||
			string(data) != fmt.Sprint(i) {
			t.Errorf("%q, %v", data, err)
		}
	}
}

// A file that another replaced after the fetch began is left out where the first bytes of the new
// one would come; one that was added to is copied as far as it went.
func TestFetchOfAFileThatIsReplaced(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		by      []string // what takes the file's place, one after the other
		add     string   // what is added to the file
		want    string   // "": it is not there
		skipped int
	}{
		"by a larger one": {by: []string{"new weights"}, skipped: 1},
		// the third may have the inode of the first
		"by larger ones":           {by: []string{"new weights", "newer weights"}, skipped: 1},
		"by one of the same size":  {by: []string{"new"}, want: "new"},
		"by a smaller one":         {by: []string{"x"}, skipped: 1},
		"not, and something added": {add: "er", want: "old"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, outputs := hostWith(t, map[string]string{"0/last.ckpt": "old"})
			dir, file := t.TempDir(), outputs+"/0/last.ckpt"
			done, err := connect(t, root).Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
				Dir: dir, Confirm: func(filesync.FetchSize) error {
					for _, content := range c.by {
						err := errors.Join(os.WriteFile(file+".tmp", []byte(content), 0o644),
							os.Rename(file+".tmp", file))
						if err != nil {
							return err
						}
					}
					f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
					if err != nil {
						return err
					}
					_, err = f.WriteString(c.add)
					return errors.Join(err, f.Close())
				}})
			must(t, err)
			data, err := os.ReadFile(dir + "/run-1/0/last.ckpt")
			if string(data) != c.want || (err == nil) != (c.want != "") ||
				len(done.Skipped) != c.skipped {
				t.Errorf("%q, %v; skipped %v", data, err, done.Skipped)
			}
			for _, s := range done.Skipped {
				if !strings.HasSuffix(s.Why, "fetch again") {
					t.Errorf("skipped as %s", s.Why)
				}
			}
		})
	}
}

// Files with times that nanoseconds since 1970 cannot say are fetched and pushed, and left alone
// when they are there.
func TestFarTimes(t *testing.T) {
	t.Parallel()
	for name, year := range map[string]int{"long ago": 1500, "the last one": 2261,
		"too far": 2262, "far": 2400} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := []unix.Timespec{{Sec: time.Date(year, 6, 1, 0, 0, 0, 0, time.UTC).Unix()}}
			at = append(at, at[0])
			root, outputs := hostWith(t, map[string]string{"0/log": "x", "1/model.pt": "m"})
			must(t, unix.UtimesNano(outputs+"/1/model.pt", at))
			must(t, unix.UtimesNano(outputs+"/1", at))
			dir := t.TempDir()
			if done, err := fetch(t, root, dir); err != nil || done.Files != 2 {
				t.Errorf("fetch: %+v, %v", done, err)
			}
			if done, err := fetch(t, root, dir); err != nil || done.Had != 2 {
				t.Errorf("fetch again: %+v, %v", done, err)
			}
			project := t.TempDir()
			tree(t, project, map[string]string{"a.py": "print()"})
			must(t, unix.UtimesNano(project+"/a.py", at))
			m := scan(t, project)
			for _, made := range []bool{true, false} {
				done, err := connect(t, root).Push(t.Context(), m, filesync.PushOptions{})
				if err != nil || done.Made != made {
					t.Errorf("push: %+v, %v", done, err)
				}
			}
		})
	}
}

// A file that is written without end is copied as far as it went.
func TestFetchOfAGrowingFile(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/log": "begin"})
	f, err := os.OpenFile(outputs+"/0/log", os.O_APPEND|os.O_WRONLY, 0)
	must(t, err)
	stop, stopped := make(chan bool), make(chan bool)
	go func() {
		defer close(stopped)
		for tick := time.Tick(time.Millisecond); ; {
			select {
			case <-tick:
				_, _ = f.WriteString("line\n")
			case <-stop:
				return
			}
		}
	}()
	dir := t.TempDir()
	for range 5 {
		done, err := fetch(t, root, dir)
		if err != nil || len(done.Skipped) > 0 {
			t.Error(done, err)
		}
	}
	close(stop)
	<-stopped
	must(t, f.Close())
	_, err = fetch(t, root, dir)
	must(t, err)
	if look(t, outputs)["0/log"] != fetched(t, dir)["0/log"] {
		t.Error("not the same in the end")
	}
}

// What a running task's folder has of its project is no output, until the task changes it.
func TestFetchWhileATaskRuns(t *testing.T) {
	t.Parallel()
	files := map[string]string{"train.py": "print()", "run.sh": "echo", "net/layers.py": "pass",
		"data/1.png": "one", "data/2.png": "two",
		"latest": "-> data/1.png", "model.pt": "old", "notes": "same size", "best.pt": "equal",
		"empty/": ""}
	dir, root := t.TempDir(), writable(t)
	tree(t, dir, files)
	m := scan(t, dir)
	push(t, root, m)
	release := "/of/the/container/releases/" + m.Revision()
	task := map[string]string{"stdout.log": "epoch 1", "model.pt": "new", "notes": "size same",
		"made/empty/": "", "made/by.py": "", "net/__pycache__/layers.pyc": "compiled",
		"made/__pycache__/by.pyc": "compiled", "data/1.png": "-> " + release + "/data/1.png",
		"data/2.png": "-> " + release + "/data/2.png", "data/index": "1 2"}
	for name, content := range files {
		if task[name] == "" {
			task[name] = content
		}
	}
	tree(t, filepath.Join(root, "outputs", "run-1", "0"), task)
	for _, e := range m.Entries { // copies keep the times of the project's files
		if at := filepath.Join(root, "outputs", "run-1", "0", e.Path); e.Path != "best.pt" &&
			e.Kind == projects.File && task[e.Path] == files[e.Path] {
			must(t, os.Chtimes(at, e.ModTime, e.ModTime))
		}
	}
	must(t, os.Chmod(filepath.Join(root, "outputs", "run-1", "0", "run.sh"), 0o755))
	dir = t.TempDir()
	c := connect(t, root)
	done, err := c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
		Without: []string{m.Revision(), "0123456789abcdef"}, Dir: dir})
	must(t, err)
	if len(done.Skipped) > 0 {
		t.Errorf("it says of %v", done.Skipped)
	}
	want := map[string]string{"0": "folder", "0/stdout.log": "", "0/model.pt": "", "0/notes": "",
		"0/best.pt": "", "0/run.sh": "", "0/made": "folder", "0/made/empty": "folder",
		"0/made/by.py": "", "0/made/__pycache__": "folder", "0/made/__pycache__/by.pyc": "",
		"0/data": "folder", "0/data/index": ""}
	have := fetched(t, dir)
	for name, what := range have {
		if what != "folder" {
			have[name] = ""
		}
	}
	if diff := cmp.Diff(want, have); diff != "" {
		t.Error(diff)
	}
	_, err = c.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
		Without: []string{"../run-1"}, Dir: dir})
	refused(t, err, "there can be no revision")
}

// Of what a host offers only what patterns name is asked for, and what links among that lead to.
func TestFetchedByPatterns(t *testing.T) {
	t.Parallel()
	root, _ := hostWith(t, map[string]string{
		"0/model.pt": "m", "0/deep/a.pt": "a", "0/deep/b.txt": "b", "0/best": "-> deep/state",
		"0/deep/state/x": "x", "0/deep/state/y": "y", "0/loop": "-> loop",
		"0/away": "-> /etc/passwd", "0/empty/": "", "1/model.pt": "n", "1/stdout.log": "s",
		"2/best.bin": "-> last", "2/last": "-> ck/now/m", "2/ck/now": "-> ../runs/7",
		"2/runs/7/m":     "m",
		"2/runs/7/other": "o", "2/all": "-> ck/now", "2/round": "-> turn/m", "2/turn": "-> round",
	})
	for _, c := range []struct {
		patterns, want string
	}{
		{"*.pt", "0 0/deep 0/deep/a.pt 0/model.pt 1 1/model.pt"},
		{"/model.pt", "0 0/model.pt 1 1/model.pt"},
		{"deep/ !*.txt", "0 0/deep 0/deep/a.pt 0/deep/state 0/deep/state/x 0/deep/state/y"},
		{"best loop", "0 0/best 0/deep 0/deep/state 0/deep/state/x 0/deep/state/y 0/loop"},
		{"away", "0"},
		{"best.bin", "2 2/best.bin 2/ck 2/ck/now 2/last 2/runs 2/runs/7 2/runs/7/m"},
		{"best.bin now", "2 2/best.bin 2/ck 2/ck/now 2/last 2/runs 2/runs/7 2/runs/7/m " +
			"2/runs/7/other"},
		{"all", "2 2/all 2/ck 2/ck/now 2/runs 2/runs/7 2/runs/7/m 2/runs/7/other"},
		{"round", "2 2/round 2/turn"},
		{"nothing", ""},
	} {
		dir := t.TempDir()
		client := connect(t, root)
		_, err := client.Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
			Files: strings.Fields(c.patterns), Dir: dir})
		must(t, err)
		if got := strings.Join(slices.Sorted(maps.Keys(fetched(t, dir))), " "); got != c.want {
			t.Errorf("%s: %s, want %s", c.patterns, got, c.want)
		}
	}
}

// A folder that cannot be listed, here as its name is not UTF-8, is left out, and nothing else is.
func TestAFolderThatCannotBeListed(t *testing.T) {
	t.Parallel()
	root, _ := hostWith(t, map[string]string{"0/a": "a", "0/b\xff/in": "lost", "0/c": "c"})
	dir := t.TempDir()
	done, err := fetch(t, root, dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"0": "folder", "0/a": "a", "0/c": "c"}
	got := fetched(t, dir)
	for name, content := range want {
		if !strings.HasSuffix(got[name], content) {
			t.Errorf("%s is %q", name, got[name])
		}
	}
	if len(got) != len(want) || len(done.Skipped) != 1 || !strings.HasPrefix(done.Skipped[0].Path,
		"run-1/0/b") {
		t.Errorf("%v, skipped %v", got, done.Skipped)
	}
}

// Who copies outputs holds a shared lock on the sweep's folder, and who removes them an exclusive
// one.
func TestFetchAndRemoval(t *testing.T) {
	t.Parallel()
	root, outputs := hostWith(t, map[string]string{"0/big": strings.Repeat("b", 64<<20)})
	folder, err := os.Open(outputs)
	must(t, err)
	defer folder.Close()
	lock := func(how int) error { return syscall.Flock(int(folder.Fd()), syscall.LOCK_EX|how) }
	locked := false
	_, err = connect(t, root).Fetch(t.Context(), filesync.FetchOptions{Sweep: "run-1",
		Tasks: []int64{0}, Dir: t.TempDir(), Progress: func(p filesync.Progress) {
			if p.Bytes < p.OfBytes/2 && errors.Is(lock(syscall.LOCK_NB), syscall.EWOULDBLOCK) {
				locked = true
			}
		}})
	must(t, err)
	if !locked {
		t.Error("the outputs could be removed while they were copied")
	}
	must(t, lock(0))
	if _, err := fetch(t, root, t.TempDir(), 0); err == nil || !strings.Contains(err.Error(),
		"the outputs of run-1 are being removed") {
		t.Errorf("fetched while they are removed: %v", err)
	}
}
