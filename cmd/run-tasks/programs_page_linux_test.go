package main_test

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

// pageFiles are the files that docs/programs.md shows below a heading: blocks whose first line is
// "# NAME".
func pageFiles(t *testing.T, heading string) map[string]string {
	t.Helper()
	page, err := os.ReadFile("../../docs/programs.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "\n### "+heading+"\n")
	if end := regexp.MustCompile(`(?m)^##`).FindStringIndex(section); end != nil {
		section = section[:end[0]]
	}
	files := map[string]string{}
	for _, m := range regexp.MustCompile(
		"(?s)```[a-z]+\n# ([.\\w]+)\n(.*?)```").FindAllStringSubmatch(section, -1) {
		files[m[1]] = m[2]
	}
	if !found || files["tasks.yml"] == "" || files["parameters.yml"] == "" {
		t.Fatalf("docs/programs.md shows no tasks.yml and parameters.yml below %q", heading)
	}
	return files
}

// convention is a program below testdata/programs that takes its parameters, keeps its checkpoint
// and writes its metrics as a section of docs/programs.md says.
type convention struct {
	program, heading string
	definition       string
	tasks            int
	// by SIGKILL, and run again by retry; else the sweep is interrupted and resumed
	killed bool
	best   int    // the task that is ranked first
	given  string // what that one's program read
	metric string // and the value that it is ranked by
}

var conventions = []convention{
	{"argparse", "argparse", "train", 4, true, 2, `{"lr": 1.0, "batch_size": 32, "tied": true}`,
		"ppl=1.28"},
	{"dotted", "Flags with dots", "adder", 2, false, 1, `{"lr": 0.0005, "model": "gpt-nano"}`,
		"score=97.5"},
	{"hydra", "Hydra", "train", 2, true, 1, `{"lr": 0.01, "batch_size": 32, "seed": "null"}`,
		"val_acc=0.9"},
	{"lightning", "Lightning's command line", "fit", 2, false, 1,
		`{"lr": 0.01, "hidden": 32, "weights": "null"}`, "val_loss=0.25"},
	{"trainer", "Hugging Face Trainer", "finetune", 4, true, 2,
		`{"lr": 5e-05, "model": "distilbert-base-cased", "grouped": true}`, "eval_accuracy=0.875"},
	{"positional", "Positional", "train", 3, false, 1, `{"dataset": "digits", "lr": 0.01}`,
		"loss=0.25"},
	{"nanogpt", "Configuration in Python, with changes", "train", 4, true, 3,
		`{"lr": 0.001, "dropout": 0.0, "compile": false, "data": 17}`, "val_loss=2"},
	{"configfile", "Config file", "train", 2, false, 1, `{"lr": 0.01, "layers": 3}`, "acc=0.9"},
	{"template", "JSON file and TensorBoard", "train", 2, true, 1,
		`{"lr": 0.01, "batch_size": 128}`, "val_acc=0.9"},
	{"environment", "Environment variables", "train", 2, false, 1,
		`{"lr": 0.01, "run": "train-1/1"}`, "loss=0.25"},
	{"parameters", "parameters.json", "train", 4, true, 2,
		`{"lr": 0.01, "layers": 2, "augment": true}`, "loss=0.25"},
	{"vae", "A folder of a repository", "vae", 4, false, 2,
		`{"lr": 0.001, "batch_size": 64, "no_accel": true}`, "loss=102.5"},
	{"dcgan", "Files of fixed names", "gan", 2, true, 1,
		`{"lr": 0.0002, "dataset": "fake", "batch_size": 16}`, "loss_G=0.25"},
}

// TestConventionsOfThePage sweeps programs that are written as others write theirs with the lines
// that docs/programs.md shows for them. Some of their tasks are stopped in the middle. The attempts
// after those go on from the checkpoints, and the results are ranked.
func TestConventionsOfThePage(t *testing.T) {
	t.Parallel()
	users()[0].findPython(t)
	for _, c := range conventions {
		t.Run(c.program, func(t *testing.T) {
			t.Parallel()
			f := folder{t, t.TempDir()}
			c.write(f)
			stopped := c.stopInTheMiddle(f)
			for n := range c.tasks {
				c.wentOn(f, n, slices.Contains(stopped, n))
			}
			c.ranked(f)
		})
	}
}

// write makes the project, with the files of the page, and a folder for what its programs tell the
// test.
func (c convention) write(f folder) {
	f.t.Helper()
	files, err := txtar.ParseFile("testdata/programs/" + c.program + ".txtar")
	if err != nil {
		f.t.Fatal(err)
	}
	watch, err := os.ReadFile("testdata/programs/watch.py")
	if err != nil {
		f.t.Fatal(err)
	}
	for _, file := range files.Files {
		f.write(path.Join("p", file.Name), string(file.Data))
		if strings.Contains(string(file.Data), "\nimport watch\n") {
			f.write(path.Join("p", path.Dir(file.Name), "watch.py"), string(watch))
		}
	}
	for name, text := range pageFiles(f.t, c.heading) {
		f.write(path.Join("p", name), text)
	}
	if err := os.Mkdir(f.path("watch"), 0o755); err != nil {
		f.t.Fatal(err)
	}
}

// start starts run-tasks so that its programs tell the test of their epochs.
func (c convention) start(f folder, args ...string) *call {
	f.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir = f.dir
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "XDG_CACHE_HOME="+f.path(".cache"),
		"WATCH="+f.path("watch"))
	return f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
}

// epoch is what a program says at the end of one.
type epoch struct {
	Epoch, Attempt, Pid int
	Given               json.RawMessage
}

// epochs are those of a task, so far.
func (c convention) epochs(f folder, n int) (all []epoch) {
	for _, line := range f.lines(path.Join("watch", strconv.Itoa(n))) {
		var e epoch
		if json.Unmarshal([]byte(line), &e) == nil {
			all = append(all, e)
		}
	}
	return all
}

// stopInTheMiddle runs the sweep to its end, and returns the tasks that it stopped after their
// second checkpoint.
func (c convention) stopInTheMiddle(f folder) (stopped []int) {
	f.t.Helper()
	run := c.start(f, "--local", "-d", "p", "--slots", "2", c.definition)
	eventually(f.t, sweepTime, "two tasks with checkpoints", func() bool {
		if run.over() {
			f.t.Fatalf("it ended:\n%s%s", run.stdout, run.stderr)
		}
		return len(c.epochs(f, 0)) == 2 && len(c.epochs(f, 1)) == 2
	})
	if c.killed {
		if err := syscall.Kill(c.epochs(f, 0)[1].Pid, syscall.SIGKILL); err != nil {
			f.t.Fatal(err)
		}
		f.write("watch/go", "")
		if code := run.waitFor(sweepTime); code != 1 {
			f.t.Fatalf("exit code %d:\n%s%s", code, run.stdout, run.stderr)
		}
		run = c.start(f, "retry")
		if code := run.waitFor(sweepTime); code != 0 {
			f.t.Fatalf("retry: exit code %d:\n%s%s", code, run.stdout, run.stderr)
		}
		return []int{0}
	}
	f.signal(run, syscall.SIGINT)
	if code := run.waitFor(sweepTime); code != 130 {
		f.t.Fatalf("exit code %d:\n%s%s", code, run.stdout, run.stderr)
	}
	f.write("watch/go", "")
	run = c.start(f, "resume", "--slots", "2")
	if code := run.waitFor(sweepTime); code != 0 {
		f.t.Fatalf("resume: exit code %d:\n%s%s", code, run.stdout, run.stderr)
	}
	return []int{0, 1}
}

// wentOn checks that a task had each epoch once, also one that was stopped after its second.
func (c convention) wentOn(f folder, n int, stopped bool) {
	f.t.Helper()
	all, have := c.epochs(f, n), []string(nil)
	for _, e := range all {
		after := "a new start"
		if e.Attempt > all[0].Attempt {
			after = "a checkpoint"
		}
		have = append(have, fmt.Sprintf("%d after %s", e.Epoch, after))
		if n == c.best && string(e.Given) != c.given {
			f.t.Errorf("epoch %d of task %d read %s, not %s", e.Epoch, n, e.Given, c.given)
		}
	}
	want := []string{"1 after a new start", "2 after a new start", "3 after a new start",
		"4 after a new start"}
	if stopped {
		want[2], want[3] = "3 after a checkpoint", "4 after a checkpoint"
	}
	if d := cmp.Diff(want, have); d != "" {
		f.t.Errorf("epochs of task %d (-want +have):\n%s", n, d)
	}
}

// ranked checks which task the results have first, and its value.
func (c convention) ranked(f folder) {
	f.t.Helper()
	stdout, stderr, code := f.run("results", "--top", "1", "--json")
	var first struct {
		ID      string
		Metrics map[string]float64
	}
	if err := json.Unmarshal([]byte(stdout), &first); err != nil || code != 0 || stderr != "" {
		f.t.Fatalf("exit code %d, %v: %s%s", code, err, stdout, stderr)
	}
	name, _, _ := strings.Cut(c.metric, "=")
	have := fmt.Sprintf("%s %s=%.4g", first.ID, name, first.Metrics[name])
	if want := fmt.Sprintf("%s-1/%d %s", c.definition, c.best, c.metric); have != want {
		f.t.Errorf("the best is %s, not %s", have, want)
	}
}
