package definition_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"unicode"

	"mlframework/sweep/definition"
	"mlframework/sweep/fault"
)

// Whatever the text, there is a file or there are faults, each in one printable line and at a place
// in the text.
func FuzzRead(f *testing.F) {
	f.Add(full)
	example, err := os.ReadFile(schema)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(example))
	for _, text := range []string{
		"", "tasks", "tasks: {a: &a {<<: *a}}", "a: [1,2\nb: 3\n", "tasks:\n\ta: b",
		"tasks: {a: {command: x > y}}", "\xff", "? [a]\n: b",
		"env: {<<: [{A: 1}, {B: 2}]}\ntasks: {a: {command: [\"{host}\"]}}\n---\nb",
		"tasks: {a: {command: [x], timeout: 1d, gpus: 1/3}}",
		"tasks: {a: {command: [x], gpus: {count: 1/3, memory: 12g, name: 'A100|H100'}}}",
		"tasks: {a: {command: [x], gpus: {count: 0, name: '(?=x)'}}}",
		"container: {shm: 2g, memory: 6m}\ntasks: {a-1: {metrics: {a: '(?=x)'}}}", "*a : &a b",
		"image: !!binary aaaa",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		file, warnings, err := definition.Read("tasks.yml", []byte(text), reserved)
		if (file == nil) != (err != nil) {
			t.Fatalf("file %v, error %v", file, err)
		}
		var faults fault.List
		if err != nil && !errors.As(err, &faults) {
			t.Fatalf("the error is a %T", err)
		}
		if err != nil && len(faults) == 0 {
			t.Fatal("an error without a fault")
		}
		lines := strings.Count(text, "\n") + 1
		lines += strings.Count(text, "\r") + strings.Count(text, "\u0085") +
			strings.Count(text, "\u2028") + strings.Count(text, "\u2029")
		for _, one := range append(faults, warnings...) {
			checkFault(t, one, lines)
		}
		if file != nil {
			checkFile(t, file)
		}
	})
}

func checkFault(t *testing.T, f fault.Fault, lines int) {
	t.Helper()
	whole := strings.HasPrefix(f.Problem, "is empty") ||
		strings.HasPrefix(f.Problem, "is longer than")
	if f.File != "tasks.yml" || f.Problem == "" || (f.Line < 1) != whole || f.Line > lines+1 ||
		(f.Column > 0 && f.Line < 1) {
		t.Errorf("bad place: %+v", f)
	}
	if strings.ContainsFunc(f.String(), unicode.IsControl) {
		t.Errorf("control character: %q", f)
	}
}

// checkFile holds what those who use a definition rely on.
func checkFile(t *testing.T, f *definition.File) {
	t.Helper()
	if len(f.Tasks) == 0 || f.Image != "" && f.Build != "" {
		t.Errorf("bad file: %+v", f)
	}
	for _, task := range f.Tasks {
		if len(task.Command) == 0 || task.Command[0] == "" || task.Timeout < 0 || task.Grace < 0 ||
			task.GPUs.Check() != nil {
			t.Errorf("bad task: %+v", task)
		}
		if task.EachWorker && task.Parameters != "" {
			t.Errorf("once for every point and on every worker: %+v", task)
		}
		for _, m := range task.Metrics {
			if _, group, err := definition.CompilePattern(m.Pattern); err != nil || group < 1 {
				t.Errorf("bad metric: %+v: %v", m, err)
			}
		}
	}
}
