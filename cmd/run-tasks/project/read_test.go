package project

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
)

// write writes a project into a folder of its own, and returns the folder.
func write(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var training = map[string]string{
	"tasks.yml": "tasks:\n  train:\n    command: [python3, train.py]\n" +
		"    parameters: parameters.yml\n    objective: minimize loss\n",
	"parameters.yml": "lr: [0.1, 0.01]\nseed: !interval [0, 3]\n",
	"train.py":       "import sys\nprint('loss: 1')  # and sys.argv\n",
}

// A definition, or a command, with what the command line changes, is the record of a sweep.
func TestRecord(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options Options
		tasks   int64
		command string
		notes   []string // what they contain
	}{
		"a definition": {Options{Name: "train"}, 6, "python3 train.py",
			[]string{"no metric loss is declared"}},
		"changed": {Options{Name: "train", Change: space.Change{Set: []string{"lr=1"}}}, 3,
			"python3 train.py", []string{"no metric loss is declared"}},
		"a command": {Options{Argv: []string{"python3", "train.py", "lr=0.1,0.01"}}, 2,
			"python3 train.py", nil},
		"options of a command": {Options{Argv: []string{"python3", "train.py", "--gpus=1"}}, 1,
			"python3 train.py --gpus=1", []string{"--gpus is passed to the command"}},
		"another place": {Options{Name: "train", Place: InCluster,
			Needs: Needs{Amounts: map[string]string{"gpus": "2"}}}, 6, "python3 train.py",
			[]string{"no metric loss is declared"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.Dir = write(t, training)
			p, err := c.options.Read()
			if err != nil {
				t.Fatal(err)
			}
			r := p.Record("r1")
			if got := strings.Join(r.Recipe.Command, " "); got != c.command ||
				r.Space.Len() != c.tasks || r.Recipe.Revision != "r1" ||
				r.CommandLine != (c.options.Argv != nil) {
				t.Errorf("%d x %s, revision %s, typed %v", r.Space.Len(), got, r.Recipe.Revision,
					r.CommandLine)
			}
			if len(p.Notes) != len(c.notes) {
				t.Fatalf("notes %q", p.Notes)
			}
			for i, want := range c.notes {
				if !strings.Contains(p.Notes[i], want) {
					t.Errorf("note %q, want %q", p.Notes[i], want)
				}
			}
		})
	}
}

// What cannot run is refused, unless it is only to be shown.
func TestRefusedProject(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options Options
		want    string
	}{
		"an unknown definition": {Options{Name: "trian"}, `no definition "trian"`},
		"an unknown parameter": {Options{Name: "train", Change: space.Change{
			Set: []string{"rl=1"}}}, `rl`},
		"a script that does not exist": {Options{Argv: []string{"python3", "tran.py"}},
			"there is no tran.py in"},
		"needs": {Options{Name: "train", Needs: Needs{Amounts: map[string]string{"gpus": "-1"}}},
			"--gpus"},
		"a form": {Options{Argv: []string{"true"}, As: "dots"}, "there is no such form"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c.options.Dir = write(t, training)
			if _, err := c.options.Read(); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
	o := Options{Dir: write(t, training), Argv: []string{"python3", "tran.py"}, DryRun: true}
	p, err := o.Read()
	if err != nil || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "did you mean train.py?") {
		t.Errorf("a dry run: %v, notes %q", err, p.Notes)
	}
}

func TestParseMetrics(t *testing.T) {
	t.Parallel()
	got, err := ParseMetrics([]string{"loss=loss: ([0-9.]+)", "acc=acc=(.*)"})
	want := map[string]string{"loss": "loss: ([0-9.]+)", "acc": "acc=(.*)"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := ParseMetrics([]string{"loss"}); err == nil {
		t.Error("a metric without a pattern is taken")
	}
}

// Parameters that a script does not take as flags are noted.
func TestNotesOfScripts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ script, note string }{
		"constants": {"LR = 0.1\nprint('loss:', LR)\n", "fit.py reads no arguments: lr has no effect on it"},
		"a place": {"import sys\nlr = float(sys.argv[1])\n",
			"fit.py takes lr by its place, not as --lr: write {lr} in the command"},
		"a flag": {"import argparse\np = argparse.ArgumentParser()\np.add_argument('--lr')\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			o := Options{Argv: []string{"python3", "fit.py", "lr=0.1,0.2"}, Place: Here,
				Dir: write(t, map[string]string{"fit.py": c.script})}
			p, err := o.Read()
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(p.Notes, "\n"); got != c.note {
				t.Errorf("notes %q, want %q", got, c.note)
			}
		})
	}
}
