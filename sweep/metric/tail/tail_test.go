package tail_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sys/unix"

	"mlframework/sweep/metric"
	"mlframework/sweep/metric/tail"
)

// site is a task's folder that is followed.
type site struct {
	*testing.T
	dir    string
	folder *tail.Folder
	found  []string
}

func newSite(t *testing.T, rules ...metric.Rule) *site {
	t.Helper()
	s := &site{T: t, dir: t.TempDir()}
	var err error
	s.folder, err = tail.Open(s.dir, rules, 2, nil, func(v metric.Sample) {
		s.found = append(s.found,
			fmt.Sprintf("%s=%v", v.Name, v.Value))
	})
	s.must(err)
	t.Cleanup(func() { s.must(s.folder.Close()) })
	return s
}

func (s *site) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// write puts text into a file, in place of what it held, and sees that its time changes.
func (s *site) write(name, text string) {
	s.Helper()
	path := filepath.Join(s.dir, name)
	s.must(os.MkdirAll(filepath.Dir(path), 0o755))
	was, err := os.Stat(path)
	s.must(os.WriteFile(path, []byte(text), 0o644))
	if err == nil {
		s.must(os.Chtimes(path, time.Time{}, was.ModTime().Add(time.Second)))
	}
}

func (s *site) add(name, text string) {
	s.Helper()
	have, err := os.ReadFile(filepath.Join(s.dir, name))
	s.must(err)
	s.write(name, string(have)+text)
}

// finds looks once, and wants to be told of so many more values.
func (s *site) finds(want ...string) {
	s.Helper()
	s.found = nil
	s.folder.Poll(context.Background(), 1<<30)
	if d := cmp.Diff(want, s.found); d != "" {
		s.Errorf("-want +got:\n%s", d)
	}
}

func (s *site) ends(final string, problems ...string) {
	s.Helper()
	s.folder.End(context.Background(), true)
	var all []string
	for _, m := range s.folder.Final() {
		all = append(all, fmt.Sprintf("%s=%v", m.Name, m.Value))
	}
	if got := strings.Join(all, " "); got != final {
		s.Errorf("final values %q, want %q", got, final)
	}
	if d := cmp.Diff(problems, s.folder.Problems()); d != "" {
		s.Errorf("problems: -want +got:\n%s", d)
	}
}

func TestGrowingFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "acc", File: "*/m.csv", Column: "acc", Take: metric.Max})
	s.finds()
	s.write("v0/m.csv", "step,acc\n1,0.5\n2,0.")
	s.finds("acc=0.5")
	s.add("v0/m.csv", "9\n")
	s.write("v10/m.csv", "acc\n0.1\n")
	s.write("v9/m.csv", "acc\n0.2\n")
	s.finds("acc=0.9", "acc=0.2", "acc=0.1")
	s.finds()
	s.add("v10/m.csv", "0.3")
	s.ends("acc=0.9")
}

func TestReplacedFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "acc", File: "m.csv", Column: "acc"})
	s.write("m.csv", "step,acc\n1,0.5\n2,0.6\n")
	s.finds("acc=0.5", "acc=0.6")
	s.write("m.csv", "acc\n0.1\n") // it shrank
	s.finds()                      // of what it holds now, fewer values than were told
	s.write("other", "acc\n0.1\n0.2\n0.3\n")
	s.must(os.Rename(filepath.Join(s.dir, "other"), filepath.Join(s.dir, "m.csv")))
	s.finds("acc=0.3")
	s.write("m.csv", "acc,loss\n0.1,1\n0.2,1\n0.3,1\n0.4,1\n") // as long as before, and more
	s.finds("acc=0.4")
	s.must(os.Remove(filepath.Join(s.dir, "m.csv")))
	s.finds()
	s.ends("acc=0.4")
}

// A document is read anew whenever it changes, also in place and at the same length.
func TestDocument(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "acc", File: "r.json", Key: "acc"})
	s.write("r.json", `{"acc": 0.`)
	s.finds()
	s.write("r.json", `{"acc": 0.5}`)
	s.finds("acc=0.5")
	s.write("r.json", `{"acc": 0.7}`)
	s.finds("acc=0.7")
	s.write("r.json", "{\"acc\": 0.7}\n{\"acc\": 0.8}\n") // it is JSON lines after all
	s.finds("acc=0.8")
	s.add("r.json", "{\"acc\": 0.9}\n")
	s.finds("acc=0.9")
	s.ends("acc=0.9")
}

func TestWhatIsNotRead(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	if err := os.WriteFile(filepath.Join(outside, "m.csv"), []byte("acc\n1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := newSite(t, metric.Rule{Name: "a", File: "link/m.csv", Column: "acc"},
		metric.Rule{Name: "b", File: "**/m.csv", Column: "acc"},
		metric.Rule{Name: "c", File: "m.link", Column: "acc"}, metric.Rule{Name: "d", File: "pipe",
			Column: "acc"},
		metric.Rule{Name: "e", File: "old/*.csv", Column: "acc"},
		metric.Rule{Name: "f", File: "new/*.csv", Column: "acc"})
	s.must(os.Symlink(outside, filepath.Join(s.dir, "link")))
	s.must(os.Symlink(filepath.Join(outside, "m.csv"), filepath.Join(s.dir, "m.link")))
	s.write("old/x.csv", "acc\n5\n")
	project := t.TempDir()
	s.must(os.CopyFS(project, os.DirFS(s.dir)))
	s.write("new/x.csv", "acc\n6\n")
	s.folder.SetBaseline(1, func(path string) string { return filepath.Join(project, path) })
	s.must(unix.Mkfifo(filepath.Join(s.dir, "pipe"), 0o600))
	s.finds("f=6")
	s.ends("f=6", "metric a: link: leads out of the task's folder and is not read",
		"metric b: there is no file **/m.csv",
		"metric c: m.link: leads out of the task's folder and is not read",
		"metric d: pipe: is not a regular file",
		"metric e: old/*.csv belongs to the project, and the program did not change it")
}

// Of a document that is written anew, the values count that it had, too.
func TestDocumentTake(t *testing.T) {
	t.Parallel()
	for take, want := range map[metric.Take]string{metric.Max: "0.9", metric.Min: "0.5",
		metric.First: "0.6", "": "0.7"} {
		s := newSite(t, metric.Rule{Name: "acc", File: "r.json", Key: "acc", Take: take},
			metric.Rule{Name: "list", File: "r.json", Key: "list", Take: take})
		for _, text := range []string{`{"acc": 0.6, "list": [9]}`, `{"acc": 0.9, "list": [9, 1]}`,
			`{"acc": 0.9, "list": [3, 3]}`, `{"acc":`, `{"acc": 0.5}`,
			`{"acc": 0.7, "list": [2, 2]}`} {
			s.write("r.json", text)
			s.folder.Poll(context.Background(), 1<<30)
		}
		if n := s.folder.Count("acc"); n != 4 {
			t.Errorf("%d values", n)
		}
		s.ends("acc=" + want + " list=2")
	}
}

// Links to something in the folder are followed, relative and absolute ones.
func TestLinksInside(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "a", File: "latest/m.csv", Column: "acc"},
		metric.Rule{Name: "b", File: "abs*/m.csv", Column: "acc"},
		metric.Rule{Name: "c", File: "m.*", Column: "acc"}, metric.Rule{Name: "d", File: "o.*",
			Column: "acc"})
	s.write("run/m.csv", "acc\n1\n")
	s.must(os.Symlink("run", filepath.Join(s.dir, "latest")))
	s.must(os.Symlink(filepath.Join(s.dir, "run"), filepath.Join(s.dir, "absolute")))
	s.must(os.Symlink(filepath.Join(s.dir, "run/m.csv"), filepath.Join(s.dir, "m.link")))
	s.must(os.Symlink("/etc/passwd", filepath.Join(s.dir, "o.link")))
	s.ends("a=1 b=1 c=1", "metric d: o.*: leads out of the task's folder and is not read")
}

// Of a file whose end was not reached, the last value is not known.
func TestTimeIsUp(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "last", File: "m.csv", Column: "acc"},
		metric.Rule{Name: "max", File: "m.csv", Column: "acc", Take: metric.Max})
	s.write("m.csv", "acc\n"+strings.Repeat("1\n", 1<<20))
	s.folder.Poll(context.Background(), 1<<20)
	ctx, stop := context.WithDeadline(context.Background(), time.Now().Add(time.Minute))
	stop()
	s.folder.End(ctx, true)
	if all := s.folder.Final(); len(all) != 1 || all[0].Name != "max" || all[0].Value != 1 {
		t.Errorf("final values %v", all)
	}
	want := []string{
		"metric last, max: m.csv: not read to its end within 1m0s: 1048576 of its 2097156 " +
			"bytes were"}
	if d := cmp.Diff(want, s.folder.Problems()); d != "" {
		t.Error(d)
	}
}

// Of a huge file a look reads a part, and the end what is left.
func TestHugeFile(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "acc", File: "m.csv", Column: "acc", Take: metric.Max})
	line := strings.Repeat("x", 1000) + ",1\n"
	s.write("m.csv", "text,acc\n"+strings.Repeat(line, 20_000)+"x,2\n")
	if s.folder.Poll(context.Background(), 4<<20) || s.folder.Count("acc") == 0 ||
		s.folder.Count("acc") > 6000 {
		t.Errorf("a look at a part found %d values", s.folder.Count("acc"))
	}
	s.ends("acc=2")
	if n := s.folder.Count("acc"); n != 20_001 {
		t.Errorf("%d values", n)
	}
}

// Of documents that hold one value only the last is known.
func TestIncomplete(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "acc", File: "r.json", Key: "acc", Take: metric.Max},
		metric.Rule{Name: "list", File: "r.json", Key: "list", Take: metric.Max},
		metric.Rule{Name: "gone", File: "r.json", Key: "gone"},
		metric.Rule{Name: "lines", File: "l.jsonl", Key: "acc"},
		metric.Rule{Name: "csv", File: "m.csv", Column: "acc"},
		metric.Rule{Name: "none", File: "n.json", Key: "acc"})
	s.write("r.json", `{"acc": 0.9, "list": [0.8, 0.9]}`)
	s.write("l.jsonl", "{\"acc\": 0.8}\n{\"acc\": 0.9}\n")
	s.write("m.csv", "acc\n0.9\n")
	s.folder.End(context.Background(), true)
	if d := cmp.Diff([]string{"acc", "gone"}, s.folder.Incomplete()); d != "" {
		t.Errorf("-want +got:\n%s", d)
	}
}

// TestJSONLinesGrow: the first line of a file could be a whole document until there is a second;
// its value is found once, however often the file is looked at before.
func TestJSONLinesGrow(t *testing.T) {
	t.Parallel()
	s := newSite(t, metric.Rule{Name: "loss", File: "log.jsonl", Key: "loss"})
	s.write("log.jsonl", "{\"step\":1,\"loss\":0.5}\n")
	s.finds("loss=0.5")
	s.add("log.jsonl", "{\"step\":2,\"lo")
	s.finds()
	s.add("log.jsonl", "ss\":0.4}\n")
	s.finds("loss=0.4")
	s.add("log.jsonl", "{\"step\":3,\"loss\":0.3}\n")
	s.finds("loss=0.3")
	s.ends("loss=0.3")
}

// TestBigDocument: a document that takes several looks is read on with each, and keeps no other
// file waiting.
func TestBigDocument(t *testing.T) {
	t.Parallel()
	const look = 1 << 20
	for name, size := range map[string]int{"several looks": 3*look + 7, "whole looks": 4 * look} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, metric.Rule{Name: "a", File: "big.json", Key: "a"},
				metric.Rule{Name: "b", File: "z.csv", Column: "b"})
			begin, end := "{\n\"x\": \"", "\",\n\"a\": 1}\n"
			s.write("big.json", begin+strings.Repeat("x", size-len(begin+end))+end)
			s.write("z.csv", "b\n1\n2\n")
			if s.folder.Poll(context.Background(), look) {
				t.Error("all was read with one look")
			}
			if want := []string{"b=1", "b=2"}; !cmp.Equal(want, s.found) {
				t.Errorf("found with the first look: %v", s.found)
			}
			for range 4 {
				s.folder.Poll(context.Background(), look)
			}
			if want := []string{"b=1", "b=2", "a=1"}; !cmp.Equal(want, s.found) {
				t.Errorf("found in the end: %v", s.found)
			}
			s.ends("a=1 b=2")
		})
	}
}

// Values that a file of the project contained do not count, even before the program has appended a
// line or rewritten the file.
func TestProjectValuesDoNotCount(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before string
		texts  []string // contents of the file, one after the other
		want   string
	}{
		"appended":           {"acc\n9\n", []string{"acc\n9\n1\n", "acc\n9\n1\n2\n"}, "2 of 2"},
		"unchanged":          {"acc\n9\n", nil, ""},
		"rewritten in steps": {"acc\n9\n", []string{"", "acc\n9\n", "acc\n9\n8\n"}, "9 of 2"},
		"rewritten":          {"acc\n9\n", []string{"acc\n9\n"}, "9 of 1"},
		"newline added":      {"acc\n9", []string{"acc\n9\n"}, "9 of 1"},
		"touched, appended":  {"acc\n9\n", []string{"acc\n9\n", "acc\n9\n1\n"}, "1 of 1"},
		"no final newline":   {"acc\n9", []string{"acc\n9\n1\n"}, "1 of 1"},
		"half a line":        {"acc\n9", []string{"acc\n9.", "acc\n9.5\n1\n"}, "1 of 1"},
		"only a header":      {"acc\n", []string{"acc\n1\n"}, "1 of 1"},
		"an empty file":      {"", []string{"acc\n1\n"}, "1 of 1"},
		"other lines": {"acc\n" + strings.Repeat("9\n", 9000),
			[]string{"acc\n" + strings.Repeat("8\n", 9001)}, "8 of 9001"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rule := metric.Rule{Name: "acc", File: "m.csv", Column: "acc", Take: metric.Max}
			s := newSite(t, rule)
			s.write("m.csv", c.before)
			project := t.TempDir()
			s.must(os.CopyFS(project, os.DirFS(s.dir)))
			s.folder.SetBaseline(0, func(path string) string {
				return filepath.Join(project, path)
			})
			for _, text := range c.texts {
				s.write("m.csv", text)
				s.folder.Poll(context.Background(), 1<<30)
			}
			s.folder.End(context.Background(), true)
			read := &site{T: t, dir: s.dir}
			var err error
			read.folder, err = tail.Open(s.dir, []metric.Rule{rule}, 2, nil,
				func(metric.Sample) {})
			s.must(err)
			read.folder.End(context.Background(), true)
			for _, folder := range []*tail.Folder{s.folder, read.folder} {
				got := ""
				for _, m := range folder.Final() {
					got = fmt.Sprintf("%v of %d", m.Value, folder.Count("acc"))
				}
				if got != c.want && !(folder == read.folder && c.texts == nil) {
					t.Errorf("%q, want %q", got, c.want)
				}
			}
			s.must(read.folder.Close())
		})
	}
}
