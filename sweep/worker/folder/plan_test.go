package folder_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/worker/folder"
)

// entries reads "path", "path/", "path=SIZE", "path->TARGET" and "path*N=SIZE", which is N files.
func entries(t testing.TB, texts ...string) (all []folder.Entry) {
	t.Helper()
	for _, text := range texts {
		e := folder.Entry{Path: strings.TrimSuffix(text, "/"), Kind: folder.File, Size: 10}
		if e.Path != text {
			e.Kind, e.Size = folder.Dir, 0
		}
		if path, target, ok := strings.Cut(text, "->"); ok {
			e = folder.Entry{Path: path, Kind: folder.Symlink, Target: target}
		}
		path, size, sized := strings.Cut(text, "=")
		if sized {
			e.Path = path
			if _, err := fmt.Sscan(size, &e.Size); err != nil {
				t.Fatal(err)
			}
		}
		path, count, many := strings.Cut(e.Path, "*")
		n := 1
		if many {
			if _, err := fmt.Sscan(count, &n); err != nil {
				t.Fatal(err)
			}
		}
		for i := range n {
			if many {
				e.Path = fmt.Sprintf("%s%05d", path, i)
			}
			all = append(all, e)
		}
	}
	return all
}

// TestPlans uses limits of 800 bytes per file, 1,000 bytes in total, and 30 entries.
func TestPlans(t *testing.T) {
	t.Parallel()
	limits := folder.Limits{File: 800, Bytes: 1000, Files: 30}
	for _, c := range []struct {
		name     string
		files    []string
		rules    folder.Rules
		want     []string // of Show
		problems []string
	}{
		{name: "nothing"},
		{name: "everything is copied", files: []string{"train.py", "pkg/a.py", "pkg/empty/",
			"latest->pkg/a.py"},
			want: []string{"latest -> pkg/a.py", "pkg/", "pkg/a.py", "pkg/empty/", "train.py"}},
		{name: "folders named for outputs are empty, files are absent",
			rules: folder.Rules{Outputs: []string{"figures", "model.pt"}},
			files: []string{"results/", "results/.gitignore", "figures/old/x.png", "model.pt",
				"sub/model.pt", "sub/results/x", "log", "stdout.log"},
			want: []string{"figures/", "results/", "sub/", "sub/model.pt", "sub/results/",
				"sub/results/x"}},
		{name: "outputs of the working directory",
			rules: folder.Rules{Workdir: "vae", Outputs: []string{"m.pt"}},
			files: []string{"vae/main.py", "vae/results/old.png", "vae/m.pt",
				"data/x"}, want: []string{"data/", "data/x", "vae/", "vae/main.py",
				"vae/results/"}},
		{name: "a large file is a link", files: []string{"src/train.py", "src/weights.bin=801",
			"src/small.bin=800"},
			want: []string{"src/", "src/small.bin", "src/train.py", "src/weights.bin @"}},
		{name: "files of the largest folder are links", files: []string{"train.py=300",
			"small/a=300", "data/raw/a=600", "data/raw/b=600", "data/raw/read.py", "data/readme"},
			want: []string{"data/", "data/raw/", "data/raw/a @", "data/raw/b @",
				"data/raw/read.py", "data/readme", "small/", "small/a", "train.py"}},
		{name: "source files are copied whatever their total size", files: []string{"a.py=600",
			"b.py=500", "data/x=100"}, want: []string{"a.py", "b.py", "data/", "data/x @"}},
		{name: "with too many entries the largest folder is one link", files: []string{"data/*25=1",
			"more/*20=1", "train.py"}, want: []string{"data @", "more/ 20", "train.py"}},
		{name: "too many entries, most of them in one subfolder", files: []string{
			"data/raw/*35=1", "data/index=1", "train.py"},
			want: []string{"data/", "data/index", "data/raw @", "train.py"}},
		{name: "a folder of equal parts is one link", files: []string{"data/a/*12=1",
			"data/b/*12=1", "data/c/*12=1", "train.py"}, want: []string{"data @", "train.py"}},
		{name: "folders with source files are linked last", files: []string{"pkg/*30=1", "pkg/a.py",
			"data/*5=1"}, want: []string{"data @", "pkg @"}},
		{name: "the working directory never is a link", rules: folder.Rules{Workdir: "data/here"},
			files: []string{"data/here/*35=1", "data/b=1"}, want: []string{"data/", "data/b",
				"data/here/ 35"}},
		{name: "nor is a folder with a file that copy names",
			rules: folder.Rules{Copy: []string{"data/00001"}}, files: []string{"data/*35=1"}, want: []string{"data/ 35"}},
		{name: "link", rules: folder.Rules{Link: []string{"data", "w.bin"},
			Copy: []string{"data/own"}},
			files: []string{"data/a", "data/own", "w.bin", "x"}, want: []string{"data/", "data/a @",
				"data/own", "w.bin @", "x"}},
		{name: "copy does not count", rules: folder.Rules{Copy: []string{"w.bin"}},
			files: []string{"w.bin=5000", "x=790"}, want: []string{"w.bin", "x"}},
		{name: "links of the host",
			rules: folder.Rules{Links: map[string]string{"data/mnist": "/data/mnist", "w": "/w"}},
			files: []string{"w", "data/mnist/old", "data/a"}, want: []string{"data/", "data/a",
				"data/mnist -> /data/mnist", "w -> /w"}},
		{name: "what is not there", rules: folder.Rules{Link: []string{"dta"},
			Copy: []string{"x/y"}, Workdir: "src", Links: map[string]string{"a/b": "/b"}},
			files: []string{"a", "src/"},
			want:  []string{"a", "src/"},
			problems: []string{"link: dta: the project has no such file or folder",
				"copy: x/y: the project has no such file or folder",
				"links: a/b: a is not a folder"}},
		{name: "a working directory that is a file", rules: folder.Rules{Workdir: "a"},
			files: []string{"a"}, want: []string{"a"},
			problems: []string{"workdir: a: the project has no such folder"}},
		{name: "a working directory in an output", rules: folder.Rules{Workdir: "results/x"},
			files: []string{"results/x/"}, want: []string{"results/"},
			problems: []string{"workdir: results/x: it is in results/, which is taken for outputs " +
				"and starts empty"}},
		{name: "copy brings an output", rules: folder.Rules{Workdir: "runs/a",
			Copy: []string{"runs"}, Link: []string{"runs/w"}},
			files: []string{"runs/a/main.py", "runs/a/logs/old", "runs/b", "runs/w", "logs/x"},
			want: []string{"logs/", "runs/", "runs/a/", "runs/a/logs/", "runs/a/main.py", "runs/b",
				"runs/w @"}},
		{name: "copy brings a part of an output", rules: folder.Rules{Workdir: "runs/a",
			Copy:    []string{"runs/a", "saved/a.pt", "log", "stdout.log"},
			Outputs: []string{"saved"}},
			files: []string{"runs/a/main.py", "runs/b/main.py", "runs/c->a", "saved/a.pt",
				"saved/b.pt", "log", "stdout.log"},
			want: []string{"log", "runs/", "runs/a/", "runs/a/main.py", "saved/", "saved/a.pt"}},
		{name: "copy of a folder brings no output in it", rules: folder.Rules{Workdir: "src",
			Copy: []string{"src"}}, files: []string{"src/main.py", "src/logs/x"},
			want: []string{"src/", "src/logs/", "src/main.py"}},
		{name: "names that sort before a slash", files: []string{"a/x", "a-b", "a.py", "a b/c"},
			want: []string{"a/", "a/x", "a b/", "a b/c", "a-b", "a.py"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			p, problems := folder.NewPlan(entries(t, c.files...), c.rules, limits)
			if diff := cmp.Diff(c.want, p.Show()); diff != "" {
				t.Error(diff)
			}
			var texts []string
			for _, problem := range problems {
				texts = append(texts, problem.Error())
			}
			if diff := cmp.Diff(c.problems, texts); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestPlansSayWhatIsLinked(t *testing.T) {
	t.Parallel()
	limits := folder.Limits{File: 800, Bytes: 1000, Files: 50}
	p, _ := folder.NewPlan(entries(t, "data/*25=100", "big/*50=200", "train.py=5",
		"pkg/weights=900", "pkg/x.py", "pkg/y=850"), folder.Rules{}, limits)
	want := []folder.Part{
		{Path: "big", Folder: true, Whole: true, Amount: folder.Amount{Files: 50, Bytes: 10_000}},
		{Path: "data", Folder: true, Amount: folder.Amount{Files: 25, Bytes: 2500}},
		{Path: "pkg", Folder: true, Partly: true, Amount: folder.Amount{Files: 2, Bytes: 1750}},
	}
	if diff := cmp.Diff(want, p.Linked); diff != "" ||
		p.Copied != (folder.Amount{Files: 2, Bytes: 15}) {
		t.Error(diff, p.Copied)
	}
}

// BenchmarkPlan plans a project of 100,000 files in 1,000 folders.
func BenchmarkPlan(b *testing.B) {
	var all []folder.Entry
	for i := range 1000 {
		all = append(all, entries(b, fmt.Sprintf("data/%03d/*100=1000", i))...)
	}
	for b.Loop() {
		folder.NewPlan(all, folder.Rules{}, folder.LimitsOf(false))
	}
}
