package definition_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/definition"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

func TestAliasesAndMergeKeys(t *testing.T) {
	t.Parallel()
	f := read(t, `
tasks:
  base: &base
    command: &command [python3, train.py]
    timeout: 2h
    gpus: 1
    retry: &retry {error: 1}
  long: {<<: *base, timeout: 1d}
  other:
    command: *command
    retry: {<<: *retry, lost: 5}
  both:
    <<: [{timeout: 1m}, *base]
    &key metrics: {loss: '(a)'}
  key: {command: [x], *key : {acc: '(b)'}}
`)
	command := []string{"python3", "train.py"}
	want := []definition.Task{
		{Name: "base", Timeout: 2 * time.Hour, Needs: task.Needs{GPUs: task.GPUs{Count: 1}}, Retry: task.Retry{Error: 1, Lost: 3}},
		{Name: "long", Timeout: 24 * time.Hour, Needs: task.Needs{GPUs: task.GPUs{Count: 1}},
			Retry: task.Retry{Error: 1, Lost: 3}},
		{Name: "other", Retry: task.Retry{Error: 1, Lost: 5}},
		{
			Name: "both", Timeout: time.Minute, Needs: task.Needs{GPUs: task.GPUs{Count: 1}}, Retry: task.Retry{Error: 1, Lost: 3},
			Metrics: []metric.Rule{{Name: "loss", Pattern: "(a)"}},
		},
		{Name: "key", Retry: task.Retry{Lost: 3},
			Metrics: []metric.Rule{{Name: "acc", Pattern: "(b)"}}},
	}
	for i := range want {
		want[i].Command, want[i].Grace = command, definition.DefaultGrace
	}
	want[4].Command = []string{"x"}
	if diff := cmp.Diff(want, unplaced(f).Tasks); diff != "" {
		t.Error(diff)
	}
}

func TestMergedOrder(t *testing.T) {
	t.Parallel()
	f := read(t, `
env: {<<: [{A: 1, B: 2}, {B: 3, C: 4}], D: 5, A: 6}
tasks: {a: {command: [x, <<]}}
`)
	want := []definition.Variable{{Name: "B", Value: "2"}, {Name: "C", Value: "4"},
		{Name: "D", Value: "5"}, {Name: "A", Value: "6"}}
	if diff := cmp.Diff(want, f.Env); diff != "" {
		t.Error(diff)
	}
}

func TestMergeFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, text, want string }{
		{"text", "tasks: {a: {<<: x, command: [y]}}",
			`:1:17: tasks.a: a merge key needs a mapping, not "x"; write <<: *NAME of an &NAME before a mapping`},
		{"list of text", "tasks: {a: {<<: [x], command: [y]}}",
			`:1:18: tasks.a: a merge key needs a mapping, not "x"; write <<: *NAME of an &NAME before a mapping`},
		{"itself", "tasks: {a: &a {command: [x], <<: *a}}",
			`:1:12: tasks.a: a merge key makes this mapping part of itself; remove the merge key`},
		{"around", "tasks: &t {a: {command: [x]}, <<: {<<: *t}}",
			`:1:8: tasks: a merge key makes this mapping part of itself; remove the merge key`},
		{"list in itself", "tasks: {a: {command: &c [x, *c]}}",
			`:1:22: tasks.a.command[1]: is a list, not text; put text with braces, brackets or ": " in "quotes": "{host}"`},
		{"quoted is no merge key", `tasks: {a: {"<<": {command: [x]}, command: [x]}}`,
			`:1:13: tasks.a: unknown key "<<"; the keys here are: command, env, each, workdir, parameters, flags, file, new-keys, switch, timeout, grace, retry, max-failures, gpus, idle, cpus, memory, on, code, metrics, objective, rank, on-end`},
		{"fault in what is merged", "env: &e {A: b}\ntasks: {a: {<<: *e, command: [x]}}",
			`:1:10: tasks.a: unknown key "A"; the keys here are: command, env, each, workdir, parameters, flags, file, new-keys, switch, timeout, grace, retry, max-failures, gpus, idle, cpus, memory, on, code, metrics, objective, rank, on-end`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFaults(t, c.text, []string{"tasks.yml" + c.want})
		})
	}
}

// A few lines that would be 10^20 entries, if what is merged twice were listed twice.
func TestMergeBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("image: python\nenv: {A: b}\ntasks:\n  a0: &a0 {command: [x]}\n")
	for i := 1; i <= 20; i++ {
		fmt.Fprintf(&b, "  a%d: &a%d {<<: [%s*a%d]}\n", i, i,
			strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 9), i-1)
	}
	if f := read(t, b.String()); len(f.Tasks) != 21 || len(f.Tasks[20].Command) != 1 {
		t.Errorf("%d tasks", len(f.Tasks))
	}
}

// What aliases repeat is bounded.
func TestAliasBomb(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("tasks:\n  a0: {command: &words [" + strings.Repeat("x, ", 999) + "x]}\n")
	for i := range 120 {
		fmt.Fprintf(&b, "  b%d: {command: *words}\n", i)
	}
	_, _, err := definition.Read("tasks.yml", []byte(b.String()), nil)
	if err == nil || !strings.Contains(err.Error(),
		"aliases and merge keys repeat more than 100000 values; write fewer of them") {
		t.Error(err)
	}
}
