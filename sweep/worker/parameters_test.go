package worker_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// parameters are those of the attempts in these tests.
var parameters = []space.Assignment{
	{Name: "model.lr", Value: "1e-3"}, {Name: "name", Value: "a {host} b"}, {Name: "bias",
		Value: "True", Kind: space.Switch}, {Name: "size", Value: "10", Kind: space.Text},
}

// TestAProgramTakesItsParameters gives parameters to a program in every way but flags.
func TestAProgramTakesItsParameters(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, inherit("PARAM_NAME=of another", "PARAM_OTHER=inherited", "LR=inherited"))
	b := batch("", 7)
	b.Recipe.Command = []string{"sh", "-c",
		`printf '%s\n' "$@"; env | grep -e PARAM_ -e ^LR -e ^SWEEP_ID -e ^OMP; cat parameters.json`,
		"{{sh}}",
		"{model.lr}", "x={name}", "{index} {task}", "{output}", "{host} {slot}"}
	b.Recipe.Env = map[string]string{"LR": "{model.lr} of {task}", "SWEEP_ID": "mine",
		"OMP_NUM_THREADS": "{{1}}"}
	b.Recipe.EnvBraces = true
	b.Attempts[0].Args, b.Attempts[0].Parameters = []string{"--flag={name}"}, parameters
	s.send(b)
	if o := s.ended(7, 1); o.Class != task.Success {
		t.Fatalf("%+v: %s", o, s.file(7, "stderr.log"))
	}
	got := strings.Split(s.file(7, "stdout.log"), "\n")
	slices.Sort(got[6:14])
	want := []string{"1e-3", "x=a {host} b", "7 train-1/7", s.path(7, ""), "gpu1 0",
		"--flag={name}",
		"LR=1e-3 of train-1/7", "OMP_NUM_THREADS={1}", "PARAM_BIAS=True", "PARAM_MODEL_LR=1e-3",
		"PARAM_NAME=a {host} b", "PARAM_SIZE=10",
		"SWEEP_ID=train-1", "{", `  "model.lr": 1e-3,`, `  "name": "a {host} b",`,
		`  "bias": true,`, `  "size": "10"`, "}", ""}
	want[3] = filepath.Clean(want[3])
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestParametersFileOfOthers leaves files of that name alone: the project's own, and what the
// program made of it.
func TestParametersFileOfOthers(t *testing.T) {
	t.Parallel()
	s := newSite(t, map[string]string{"parameters.json": "mine"})
	b := batch("cat parameters.json", 0)
	b.Attempts[0].Parameters = parameters
	s.send(b)
	s.ended(0, 1)
	if got := s.file(0, "stdout.log"); got != "mine" {
		t.Errorf("the program saw %q", got)
	}
	if got := s.names(0); slices.Contains(got, "parameters.json") {
		t.Errorf("the project's own was left in %v", got)
	}
	s.revision("r2", map[string]string{"x": ""})
	b = batch("cat parameters.json; echo changed > parameters.json", 1)
	b.Recipe.Revision, b.Attempts[0].Parameters = "r2", parameters[:1]
	s.send(b)
	s.ended(1, 1)
	b.Attempts = []task.Attempt{{Index: 1, Number: 2, Parameters: parameters[:1]},
		{Index: 2, Number: 1, Parameters: parameters[1:2]}}
	s.send(b)
	s.ended(1, 2)
	s.ended(2, 1)
	if got := s.file(1, "stdout.log"); got != "changed\n" {
		t.Errorf("the second attempt saw %q", got)
	}
	if got, want := s.file(2, "stdout.log"), "{\n  \"name\": \"a {host} b\"\n}\n"; got != want {
		t.Errorf("the next task saw %q, want %q", got, want)
	}
	if _, err := os.Stat(s.path(1, "x")); err == nil {
		t.Error("a file of the project was left")
	}
}

// TestAConfigThatDoesNotFit fails tasks whose parameters do not go into the file that the revision
// has, and leaves nothing of the project.
func TestAConfigThatDoesNotFit(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ file, want string }{
		"no key":  {"c.yaml", "not started on gpu1: c.yaml: has no key model.lr"},
		"no file": {"d.yaml", "not started on gpu1: the project has no file d.yaml"},
	} {
		s := newSite(t, map[string]string{"c.yaml": "a: 1\n", "x": ""})
		b := batch("true", 0)
		b.Recipe.File = &task.File{From: c.file, To: "run.yaml"}
		b.Attempts[0].Parameters = parameters[:1]
		s.send(b)
		if o := s.ended(0, 1); o.Class != task.Error || !strings.HasPrefix(o.Reason, c.want) {
			t.Errorf("%s: %s %q, want %q", name, o.Class, o.Reason, c.want)
		}
		if _, err := os.Stat(s.path(0, "x")); err == nil {
			t.Errorf("%s: a file of the project was left", name)
		}
	}
}
