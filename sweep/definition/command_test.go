package definition_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/definition"
)

// Each text is the value of a command in line 1, from column 22.
func TestCommandFaults(t *testing.T) {
	t.Parallel()
	const list = ": is text, not a list: no shell takes it apart; write command: "
	for _, c := range []struct{ name, text, want string }{
		{"text", "python3 -u train.py", `22: tasks.a.command` + list + `[python3, -u, train.py]`},
		{"text, comma", `"x a,b"`, `22: tasks.a.command` + list + `[x, "a,b"]`},
		{"shell text", "x > y", `22: tasks.a.command` + list + `[sh, -c, "x > y"]`},
		{"shell quotes", `x "y z"`, `22: tasks.a.command` + list + `[sh, -c, "x \"y z\""]`},
		{"number", "3", `22: tasks.a.command` + list + `[3]`},
		{"null", "~", `22: tasks.a.command: has no value; write command: [python3, -u, train.py]`},
		{"mapping", "{x: y}",
			`22: tasks.a.command: is a mapping, not a list; write command: [python3, -u, train.py]`},
		{"empty", "[]", `22: tasks.a.command: is empty; write command: [python3, -u, train.py]`},
		{"empty program", `[""]`, `23: tasks.a.command[0]: names no program`},
		{"NUL", `[x, "\0"]`,
			`26: tasks.a.command[1]: holds a NUL character, which no argument can`},
		{"list", "[x, [y]]",
			`26: tasks.a.command[1]: is a list, not text; put text with braces, brackets or ": " in "quotes": "{host}"`},
		{"bare braces", "[x, {host}]",
			`26: tasks.a.command[1]: is a mapping, not text; put text with braces, brackets or ": " in "quotes": "{host}"`},
		{"colon", "[x, a: b]",
			`26: tasks.a.command[1]: is a mapping, not text; put text with braces, brackets or ": " in "quotes": "{host}"`},
		{"tag", "[x, !foo y]",
			`26: tasks.a.command[1]: the tag !foo has no meaning here; remove it`},
		{"unknown word", `[x, "{user}"]`,
			`26: tasks.a.command[1]: "{user}" is not the name of a parameter; write one of {host} {slot} {index} {output} {task}, or {{ and }} for braces of your own`},
		{"near word", `[x, "{hosts}"]`,
			`26: tasks.a.command[1]: "{hosts}" is not the name of a parameter; did you mean {host}? Braces of your own are {{ and }}`},
		{"JSON", `[x, '{"a": 1}']`,
			`26: tasks.a.command[1]: "{\"a\": 1}" is not the name of a parameter; write one of {host} {slot} {index} {output} {task}, or {{ and }} for braces of your own`},
		{"open", `[x, "{host"]`,
			`26: tasks.a.command[1]: "{" is a single brace; write {{ and }} for braces of your own`},
		{"close", `[x, "a}"]`,
			`26: tasks.a.command[1]: "}" is a single brace; write {{ and }} for braces of your own`},
		{"empty braces", `[x, "{}"]`,
			`26: tasks.a.command[1]: "{}" names nothing; write the name of a parameter, or {{}} for braces of your own`},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			checkFaults(t, "tasks: {a: {command: "+c.text+"}}", []string{"tasks.yml:1:" + c.want})
		})
	}
	checkFaults(t, "tasks:\n  a:\n    command:\n      - x\n      -\n", []string{
		`tasks.yml:5:8: tasks.a.command[1]: is nothing; write "" for an empty argument`,
	})
}

// What is suggested for a command line can be read.
func TestCommandExample(t *testing.T) {
	t.Parallel()
	for line, want := range map[string][]string{
		"a -u b":       {"a", "-u", "b"},
		"a - b:":       {"a", "-", "b:"},
		"a 'b c' | \"": {"sh", "-c", "a 'b c' | \""},
		"x é \\n":      {"sh", "-c", "x é \\n"},
		"a\nb":         {"python3", "-u", "train.py"},
		"":             {"python3", "-u", "train.py"},
	} {
		f := read(t, "tasks: {a: {"+definition.CommandExample(line)+"}}")
		if diff := cmp.Diff(want, f.Tasks[0].Command); diff != "" {
			t.Error(diff)
		}
	}
}
