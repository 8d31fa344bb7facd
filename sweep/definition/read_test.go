package definition_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// reserved are subcommands of run-tasks, enough for these tests.
var reserved = []string{"init", "ls", "results"}

const full = `
image: python:3.12-slim
env: {DATA_DIR: /data, RATE: 0.10, DEBUG: true, EMPTY: ""}
secrets: [WANDB_API_KEY]
volumes: ["/data/mnist:/data:ro", "~/cache:/cache"]
container: {shm: 2g, memory: 16g, processes: 4096, read-only: false}
outputs: [result, figures]
tasks:
  test_echo:
    command: [echo, "hello from {host} slot {slot}"]
    each: worker
  run_training:
    command: [python3, -u, train.py, 0.10, 007, ~, yes, ""]
    parameters: ./parameters.yml
    flags: space
    switch: value
    timeout: 1h30m
    grace: 0
    retry: {error: 1, oom: 2}
    max-failures: 10
    gpus: 0.5
    idle: {below: 5%, for: 30m}
    metrics:
      accuracy: 'validation accuracy[ =:]+([-+0-9.eE]+)'
      loss: 'loss (?P<unit>\w+) (?P<value>\d+)'
    objective: minimize val loss
`

func TestRead(t *testing.T) {
	t.Parallel()
	got, warnings, err := definition.Read("tasks.yml", []byte(full), reserved)
	if err != nil || len(warnings) > 0 {
		t.Fatal(err, warnings)
	}
	want := &definition.File{
		Image: "python:3.12-slim",
		Env: []definition.Variable{
			{Name: "DATA_DIR", Value: "/data"}, {Name: "RATE", Value: "0.10"},
			{Name: "DEBUG", Value: "true"}, {Name: "EMPTY"},
		},
		Secrets: []string{"WANDB_API_KEY"},
		Volumes: []string{"/data/mnist:/data:ro", "~/cache:/cache"},
		Container: definition.Container{
			SharedMemory: 2 << 30, Memory: 16 << 30, Processes: 4096, WritableRoot: true,
		},
		Outputs: []string{"result", "figures"},
		Tasks: []definition.Task{{
			Name: "test_echo", Command: []string{"echo", "hello from {host} slot {slot}"},
			EachWorker: true,
			Grace:      10 * time.Second, Retry: task.Retry{Lost: 3},
		}, {
			Name:       "run_training",
			Command:    []string{"python3", "-u", "train.py", "0.10", "007", "~", "yes", ""},
			Parameters: "parameters.yml", FlagsSpace: true, Switch: "value",
			Timeout: 90 * time.Minute, Retry: task.Retry{Error: 1, OOM: 2, Lost: 3},
			Idle:        task.Idle{Below: 5, For: 30 * time.Minute},
			MaxFailures: 10, Needs: task.Needs{GPUs: task.GPUs{Count: 0.5}},
			Metrics: []metric.Rule{
				{Name: "accuracy", Pattern: `validation accuracy[ =:]+([-+0-9.eE]+)`},
				{Name: "loss", Pattern: `loss (?P<unit>\w+) (?P<value>\d+)`},
			},
			Objective: metric.Objective{Metric: "val loss"},
		}},
	}
	if diff := cmp.Diff(want, unplaced(got)); diff != "" {
		t.Error(diff)
	}
}

// unplaced returns a file without the places in its text.
func unplaced(f *definition.File) *definition.File {
	f.Places = nil
	for i := range f.Tasks {
		f.Tasks[i].Places = nil
	}
	return f
}

func TestReadDefaults(t *testing.T) {
	t.Parallel()
	got := read(t, "build: ./docker/\ntasks: {a: {command: [x]}}")
	want := &definition.File{Build: "docker", Tasks: []definition.Task{{
		Name: "a", Command: []string{"x"}, Grace: definition.DefaultGrace,
		Retry: task.Retry{Lost: definition.DefaultRetryLost},
	}}}
	if diff := cmp.Diff(want, unplaced(got)); diff != "" {
		t.Error(diff)
	}
}

func TestEveryFaultAtOnce(t *testing.T) {
	t.Parallel()
	text := `outputs: [a/b]
tasks:
  run:
    comand: [x]
    timeout: 30
imagge: x
`
	checkFaults(t, text, []string{
		`tasks.yml:1:11: outputs[0]: "a/b" is not a plain name; write the name of one file or folder, without slashes`,
		`tasks.yml:3:3: tasks.run: has no command; write command: [python3, -u, train.py]`,
		`tasks.yml:4:5: tasks.run: unknown key "comand"; did you mean "command"?`,
		`tasks.yml:5:14: tasks.run.timeout: 30 has no unit; write one: 30s, 30m or 30h`,
		`tasks.yml:6:1: unknown key "imagge"; did you mean "image"?`,
	})
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	text := "tasks:\n  a:\n    switch: value\n    command: [cat, x, '|', wc]\n    flags: space\n"
	f, warnings, err := definition.Read("tasks.yml", []byte(text), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := `tasks.yml:3:13: tasks.a.switch: changes nothing, as the task has no parameters; name a file: parameters: parameters.yml
tasks.yml:4:23: tasks.a.command[2]: "|" is passed on as an argument: no shell reads the command; if one should: command: [sh, -c, "..."]
tasks.yml:5:12: tasks.a.flags: changes nothing, as the task has no parameters; name a file: parameters: parameters.yml`
	if diff := cmp.Diff(want, warnings.Error()); diff != "" {
		t.Error(diff)
	}
	if !f.Tasks[0].FlagsSpace {
		t.Error("a warning lost the value")
	}
}

func TestUnknownTask(t *testing.T) {
	t.Parallel()
	f := read(t, "tasks: {test_echo: {command: [x]}, run_training: {command: [y]}}")
	if task, err := f.Task("run_training"); err != nil || task.Command[0] != "y" {
		t.Error(task, err)
	}
	for name, want := range map[string]string{
		"run_trainig": `no definition "run_trainig" in tasks.yml; did you mean "run_training"? (it has test_echo, run_training)`,
		"serve":       `no definition "serve" in tasks.yml; it has test_echo, run_training`,
		"":            `no definition "" in tasks.yml; it has test_echo, run_training`,
	} {
		_, err := f.Task(name)
		var unknown *definition.UnknownTask
		if !errors.As(err, &unknown) || unknown.Name != name || err.Error() != want {
			t.Errorf("Task(%q): %v", name, err)
		}
	}
}

// read fails the test unless the text is without fault and warning.
func read(t *testing.T, text string) *definition.File {
	t.Helper()
	f, warnings, err := definition.Read("tasks.yml", []byte(text), reserved)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Read: %v, warnings: %v", err, warnings)
	}
	return f
}

// checkFaults compares all faults of a text, one line each.
func checkFaults(t *testing.T, text string, want []string) {
	t.Helper()
	f, _, err := definition.Read("tasks.yml", []byte(text), reserved)
	if f != nil || err == nil {
		t.Fatalf("read without a fault: %+v", f)
	}
	var list fault.List
	if !errors.As(err, &list) {
		t.Fatalf("the error is a %T", err)
	}
	if diff := cmp.Diff(want, strings.Split(list.Error(), "\n")); diff != "" {
		t.Error(diff)
	}
}
