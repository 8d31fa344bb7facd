package definition_test

import (
	"fmt"
	"strings"
	"testing"
)

func TestSyntaxFaults(t *testing.T) {
	t.Parallel()
	const quotes = `; put the value in quotes`
	for _, c := range []struct{ name, text, want string }{
		{"tab", "tasks:\n\ta: b\n", `:2:1: not YAML: the line is indented with a tab; use spaces`},
		{"open list", "image: a\ntasks: [1,2\nenv: b\n",
			`:2: not YAML: did not find expected ',' or ']'; close the list that begins here with ]`},
		{"open mapping", "image: a\ntasks: {a: {b\n\n\n",
			`:2: not YAML: did not find expected ',' or '}'; close the mapping that begins here ` +
				`with }`},
		{"open quote", "image: 'x\nbuild: 3\n",
			`:1: not YAML: found unexpected end of stream; close the quotes that begin here`},
		{"indentation", "tasks:\n  a:\n    command: [x]\n   timeout: 2h\n",
			`:4: not YAML: did not find expected key; write KEY: VALUE, as far to the right as ` +
				`the lines before; ` +
				`text with quotes inside needs quotes around all of it`},
		{"escape", "tasks:\n  a: \"\\d\"",
			`:2: not YAML: a backslash in double quotes begins an escape that YAML does not know; ` +
				`use single quotes, as in 'loss: ([0-9.]+)\s', or write \\ for a backslash`},
		{"kept character", "image: @x",
			`:1: not YAML: a value begins with a character that YAML keeps for itself` + quotes},
		{"star", "image: *.py",
			`:1: not YAML: a value begins with * or &, which YAML keeps for aliases` + quotes},
		{"unknown alias", "a: b\nimage: *x", `:2:8: not YAML: *x stands for nothing before it; ` +
			`write &x before the value it stands for, or put it in quotes`},
		{"colon", "image: a\nbuild: b: c",
			`:2: not YAML: a second ": " stands in the line, or the line is indented too far; ` +
				`put a value with a colon in quotes; write keys below each other, equally far to ` +
				`the right`},
		{"missing colon", "image: a\nbuild\nenv: b\n",
			`:2: not YAML: could not find expected ':'; write KEY: VALUE`},
		{"control", "image: a\nbuild: \x01",
			`:2:8: a control character; remove it, or write it as an escape in double quotes`},
		{"UTF-8", "image: \xff", `:1:8: not UTF-8 text; save the file as UTF-8`},
		{"empty", "",
			`: is empty; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"comment", "# nothing\n",
			`: is empty; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"null", "---\n",
			`: is empty; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"second document", "tasks: {a: {command: [x]}}\n---\nzip: a\n",
			`:3:1: a second document begins here; remove the line --- before it`},
		{"bad second document", "tasks: {a: {command: [x]}}\n---\nzip: [a\n",
			`:3: not YAML: did not find expected ',' or ']'; close the list that begins here with ]`},
		{"list", "- tasks",
			`:1:1: is a list, not a mapping; write tasks: {hello: {command: [echo, hello]}}`},
		{"text", "tasks",
			`:1:1: is "tasks", not a mapping; write tasks: {hello: {command: [echo, hello]}}`},
		{"no tasks", "image: a",
			`:1:1: there are no tasks; write tasks: {hello: {command: [echo, hello]}}, or see run-tasks init`},
		{"tasks without value", "tasks:",
			`:1:7: tasks: has no value; write tasks: {hello: {command: [echo, hello]}}`},
		{"tasks empty", "tasks: {}",
			`:1:8: tasks: there are no tasks; write tasks: {hello: {command: [echo, hello]}}`},
		{"tasks list", "tasks: [a]",
			`:1:8: tasks: is a list, not a mapping; write tasks: {hello: {command: [echo, hello]}}`},
		{"task without value", "tasks: {a: }",
			`:1:12: tasks.a: has no value; write a: {command: [python3, -u, train.py]}`},
		{"task text", "tasks: {a: echo hello}",
			`:1:12: tasks.a: is "echo hello", not a mapping; write a: {command: [python3, -u, train.py]}`},
		{"long", "# " + strings.Repeat("x", 1<<20),
			`: is longer than 1048576 bytes; keep data and scripts in files of their own`},
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
	checkFaults(t, b.String(), []string{`tasks.yml:10002: not YAML: ` +
		`did not find expected ',' or '}'; close the mapping that begins here with }`})
}
