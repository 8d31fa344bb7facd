package definition_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestSyntaxFaults(t *testing.T) {
	t.Parallel()
	const quotes = `; put the value in "quotes"`
	for _, c := range []struct{ name, text, want string }{
		{"tab", "tasks:\n\ta: b\n", `:2: a tab stands in the indentation; indent with spaces`},
		{"open list", "image: a\ntasks: [1,2\nenv: b\n", `:2: is not YAML: did not find expected ',' or ']'`},
		{"open mapping", "image: a\ntasks: {a: {b\n\n\n", `:2: is not YAML: did not find expected ',' or '}'`},
		{"open quote", "image: 'x\nbuild: 3\n", `:1: is not YAML: found unexpected end of stream`},
		{"indentation", "tasks:\n  a:\n    command: [x]\n   timeout: 2h\n", `:4: is not YAML: did not find expected key`},
		{"escape", "tasks:\n  a: \"\\d\"", `:2: a backslash in double quotes begins an escape that YAML does not know; put patterns in single quotes: 'loss: ([0-9.]+)\s'`},
		{"kept character", "image: @x", `:1: a value begins with a character that YAML keeps for itself` + quotes},
		{"star", "image: *.py", `:1: a value begins with * or &, which YAML keeps for aliases` + quotes},
		{"unknown alias", "a: b\nimage: *x", `:2: a value begins with * or &, which YAML keeps for aliases` + quotes},
		{"colon", "image: a\nbuild: b: c", `:2: a second ": " stands in the line, or the line is indented too far; put a value that holds ": " in "quotes"`},
		{"missing colon", "image: a\nbuild\nenv: b\n", `:2: is not YAML: could not find expected ':'`},
		{"control", "image: a\nbuild: \x01", `:2: is not YAML: control characters are not allowed`},
		{"UTF-8", "image: \xff", `:1: is not YAML: invalid leading UTF-8 octet`},
		{"empty", "", `: is empty; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"comment", "# nothing\n", `: is empty; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"null", "---\n", `: is empty; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"second document", "tasks: {a: {command: [x]}}\n---\nzip: a\n", `:3:1: a second document begins here; remove the line --- before it`},
		{"bad second document", "tasks: {a: {command: [x]}}\n---\nzip: [a\n", `:3: is not YAML: did not find expected ',' or ']'`},
		{"list", "- tasks", `:1:1: is a list, not a mapping; write tasks: {hello: {command: [echo, hello]}}`},
		{"text", "tasks", `:1:1: is "tasks", not a mapping; write tasks: {hello: {command: [echo, hello]}}`},
		{"no tasks", "image: a", `:1:1: there are no tasks; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"tasks without value", "tasks:", `:1:7: tasks: has no value; write tasks: {hello: {command: [echo, hello]}}`},
		{"tasks empty", "tasks: {}", `:1:8: tasks: there are no tasks; write tasks: {hello: {command: [echo, hello]}}`},
		{"tasks list", "tasks: [a]", `:1:8: tasks: is a list, not a mapping; write tasks: {hello: {command: [echo, hello]}}`},
		{"task without value", "tasks: {a: }", `:1:12: tasks.a: has no value; write a: {command: [python3, -u, train.py]}`},
		{"task text", "tasks: {a: echo hello}", `:1:12: tasks.a: is "echo hello", not a mapping; write a: {command: [python3, -u, train.py]}`},
		{"long", "# " + strings.Repeat("x", 1<<20), `: is longer than 1048576 bytes; keep data and scripts in files of their own`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFaults(t, c.text, []string{"tasks.yml" + c.want})
		})
	}
}

func TestSyntaxFaultOfALongFile(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	b.WriteString("tasks:\n")
	for i := range 10_000 {
		fmt.Fprintf(&b, "  a%d: {command: [x]}\n", i)
	}
	b.WriteString("  b: {command: [x]\n  c: 3\n")
	checkFaults(t, b.String(), []string{`tasks.yml:10002: is not YAML: did not find expected ',' or '}'`})
}
