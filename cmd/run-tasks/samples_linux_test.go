package main_test

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sample is a project beside the package projects whose program needs numpy.
type sample struct {
	name        string
	tasks       int
	metrics     []string
	best, worst int     // tasks, by the README of the project
	accuracy    float64 // of the best
	margin      float64 // between the two: less than the README says, as that is a mean over seeds
	checkpoint  string
	resumed     string // what the second attempt says when the third checkpoint was not written
	// what names a folder of data, and what the program says when nothing is there
	missing   string
	complaint string
}

var samples = []sample{
	{"mnist", 3, []string{"accuracy", "loss"}, 2, 0, 0.924, 0.06, "checkpoint.npz",
		"resumed from result/checkpoint.npz after epoch 2\nepoch 3 ", "MNIST",
		"train_mnist.py: /nowhere lacks train-images-idx3-ubyte: download MNIST's four files from " +
			"https://ossci-datasets.s3.amazonaws.com/mnist as README.md shows, or unset --data " +
			"and $MNIST to draw digits"},
	{"bowcnn", 16, []string{"accuracy", "deviation", "fold_1", "fold_2", "fold_3"}, 15, 2, 0.87,
		0.2, "checkpoint.json",
		"resumed from result/checkpoint.json after fold 2\n", "CORPUS",
		"bowcnn.py: cannot read /nowhere: No such file or directory"},
}

// project is the folder of the sample.
func (s sample) project(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs("../../projects/" + s.name)
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// sampleRow is a line of `run-tasks results --json`.
type sampleRow struct {
	ID, State, Reason string
	Attempts          int
	Metrics           map[string]float64
}

// withNumpy returns the folder of a python3 that has numpy.
func withNumpy(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3", "/usr/local/bin/python3"} {
		out, err := exec.CommandContext(t.Context(), python, "-c",
			"import numpy, sys; print(sys.executable)").Output()
		if err == nil {
			return filepath.Dir(strings.TrimSpace(string(out)))
		}
	}
	const missing = "no python3 has numpy (Debian, Ubuntu: apt-get install python3-numpy)"
	if os.Getenv("CI") == "true" {
		t.Fatal("it has to be there in CI: " + missing)
	}
	t.Skip("NOT TESTED: " + missing)
	return ""
}

// sampleFolder is a folder in which a sample is swept with python3 and numpy, and without PyTorch,
// wherever that is installed. Its modules are found before all others.
func sampleFolder(t *testing.T, modules map[string]string) (f folder, env []string) {
	t.Helper()
	f = folder{t, t.TempDir()}
	f.write("modules/torch.py", "raise ImportError('not for these tests')\n")
	for name, text := range modules {
		f.write("modules/"+name, text)
	}
	return f, append(os.Environ(), "NO_COLOR=1", "XDG_CACHE_HOME="+f.path(".cache"), "MNIST=",
		"CORPUS=",
		"PYTHONPATH="+f.path("modules"), "PATH="+withNumpy(t)+":"+os.Getenv("PATH"))
}

// runTasks runs the program to its end, which has to have an exit code, and returns what it prints.
func runTasks(f folder, env []string, code int, args ...string) string {
	f.t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = f.dir, env
	c := f.begin(cmd, &syscall.SysProcAttr{Setpgid: true})
	if got := c.waitFor(sweepTime); got != code {
		f.t.Fatalf("run-tasks %s: exit code %d, not %d:\n%s%s", strings.Join(args, " "), got, code,
			c.stdout, c.stderr)
	}
	return c.stdout.String()
}

// sampleRows are the results of the newest sweep, by the numbers of the tasks.
func sampleRows(f folder, env []string, tasks int) []sampleRow {
	f.t.Helper()
	rows := make([]sampleRow, tasks)
	for line := range strings.Lines(runTasks(f, env, 0, "results", "--json")) {
		var r sampleRow
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			f.t.Fatalf("%s: %v", line, err)
		}
		_, index, _ := strings.Cut(r.ID, "/")
		n, err := strconv.Atoi(index)
		if err != nil || n >= tasks {
			f.t.Fatalf("a task %s of %d", r.ID, tasks)
		}
		rows[n] = r
	}
	return rows
}

// TestSamples sweeps the samples as they are: their tasks have the metrics and files that their
// pages name, and the best is ahead.
func TestSamples(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f, env := sampleFolder(t, nil)
			if out := runTasks(f, env, 0, "--local", "-d", s.project(t),
				"test_echo"); !strings.Contains(out, "hello from ") {
				t.Errorf("test_echo printed:\n%s", out)
			}
			out := runTasks(f, env, 0, "--local", "-d", s.project(t), "--slots", "2",
				"run_training")
			rows := sampleRows(f, env, s.tasks)
			for n, r := range rows {
				if have := slices.Sorted(maps.Keys(r.Metrics)); r.State != "succeeded" ||
					!slices.Equal(have, s.metrics) {
					t.Errorf("task %d %s with metrics %v", n, r.State, have)
				}
				s.left(t, f.path("outputs/run_training-1/"+strconv.Itoa(n)), r)
			}
			best, worst := rows[s.best].Metrics["accuracy"], rows[s.worst].Metrics["accuracy"]
			if math.Abs(best-s.accuracy) > 0.02 || best-worst < s.margin {
				t.Errorf("accuracy %v and %v, not about %v and %v less", best, worst, s.accuracy,
					s.margin)
			}
			if s.name == "mnist" {
				agrees(t, "../../projects/mnist/README.md", "the sweep ends with", rows)
			}
			_, table, _ := strings.Cut(out, " by accuracy (maximize accuracy)\n")
			first := regexp.MustCompile(`\n(run_training-1/\d+) `).FindStringSubmatch(table)
			for _, r := range rows {
				if first == nil || r.ID == first[1] && r.Metrics["accuracy"] < best {
					t.Errorf("the table begins with %v:\n%s", first, table)
				}
			}
		})
	}
}

// agrees checks the table that a page shows: of each task the first number with a point is the
// accuracy. Another build of numpy may round so that an image or two are read differently.
func agrees(t *testing.T, page, heading string, rows []sampleRow) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), heading)
	shown := regexp.MustCompile(`(?m)^    (run_training-1/\d+) .*?(0\.\d+) `).FindAllStringSubmatch(
		table, len(rows))
	if len(shown) != len(rows) {
		t.Fatalf("%s shows %d of %d tasks", page, len(shown), len(rows))
	}
	for _, row := range shown {
		for _, r := range rows {
			if have := r.Metrics["accuracy"]; r.ID == row[1] &&
				math.Abs(have-number(t, row[2])) > 0.011 {
				t.Errorf("%s: %s has an accuracy of %s, it is %v", page, r.ID, row[2], have)
			}
		}
	}
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// left checks the files of a task, by its results.
func (s sample) left(t *testing.T, dir string, r sampleRow) {
	t.Helper()
	var names []string
	for _, pattern := range []string{"*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, path := range found {
			names = append(names, strings.TrimPrefix(path, dir+"/"))
		}
	}
	want := []string{"parameters.json", "result", "stdout.log", "result/" + s.checkpoint}
	if s.name == "mnist" {
		want = append(want, "result/log")
	}
	if d := cmp.Diff(want, names); d != "" {
		t.Errorf("files (-want +have):\n%s", d)
	}
	accuracies := s.saved(t, dir)
	last := accuracies[len(accuracies)-1]
	if s.name == "bowcnn" {
		last = (accuracies[0] + accuracies[1] + accuracies[2]) / 3
	}
	if math.Abs(last-r.Metrics["accuracy"]) > 0.0001 {
		t.Errorf("%s: saved are %v, the metrics are %v", r.ID, accuracies, r.Metrics)
	}
}

// saved are the accuracies in the files of a task, of each epoch or fold.
func (s sample) saved(t *testing.T, dir string) (all []float64) {
	t.Helper()
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join(dir, "result", name))
		if err == nil {
			err = json.Unmarshal(text, into)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	if s.name == "bowcnn" {
		var saved struct{ Accuracies []float64 }
		read(s.checkpoint, &saved)
		return saved.Accuracies
	}
	var log []struct {
		Accuracy float64 `json:"validation/main/accuracy"`
	}
	read("log", &log)
	for _, epoch := range log {
		all = append(all, epoch.Accuracy)
	}
	return all
}

// TestSamplesSayWhatIsMissing runs them without numpy, and with data that is not there.
func TestSamplesSayWhatIsMissing(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			f, env := sampleFolder(t, map[string]string{"numpy.py": "raise ImportError('not for " +
				"this test')\n"})
			one := []string{"--local", "-d", s.project(t), "run_training", "--limit", "1"}
			says := func(want string) {
				t.Helper()
				runTasks(f, env, 1, one...)
				if r := sampleRows(f, env, 1)[0]; !strings.HasPrefix(r.Reason, "exit code 1: "+
					want) {
					t.Errorf("the reason is %q", r.Reason)
				}
			}
			python := filepath.Join(withNumpy(t), "python3")
			says(python + ` has no numpy: run "` + python +
				` -m pip install numpy", or put another python3 first on PATH`)
			if err := os.Remove(f.path("modules/numpy.py")); err != nil {
				t.Fatal(err)
			}
			env = append(env, s.missing+"=/nowhere")
			says(s.complaint)
		})
	}
}

// TestSamplesDeclareTheirObjective reads the samples: nothing is noted about their objective.
func TestSamplesDeclareTheirObjective(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		c := exec.CommandContext(t.Context(), program, "--local", "-d", s.project(t),
			"run_training", "--dry-run")
		c.Dir = t.TempDir()
		out, err := c.CombinedOutput()
		if text := string(out); err != nil || !strings.Contains(text, s.name) ||
			strings.Contains(text, "for the objective") {
			t.Errorf("%s: %v\n%s", s.name, err, text)
		}
	}
}

// TestSamplesOwnTests runs the tests that lie in the samples' folders.
func TestSamplesOwnTests(t *testing.T) {
	t.Parallel()
	for _, s := range samples {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			c := exec.CommandContext(t.Context(), filepath.Join(withNumpy(t), "python3"), "-B",
				"-m", "unittest", "-v")
			c.Dir = s.project(t)
			out, err := c.CombinedOutput()
			if err != nil || !strings.Contains(string(out), "\nOK") {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
