package definition

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"mlframework/internal/yamlfile"
	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

func readCommand(r *reader, t *Task, v value) {
	if v.Kind == yaml.ScalarNode {
		r.Fault(v, "is text, not a list: no shell takes it apart", "write "+commandExample(v.Value))
		return
	}
	elements, ok := r.List(v)
	if !ok {
		return
	}
	if len(elements) == 0 {
		r.Wrong(v, "is empty")
		return
	}
	for i, e := range elements {
		if argument, ok := r.argument(e); ok {
			r.checkArgument(e, argument, i)
			t.place(fmt.Sprintf("command[%d]", i), r.FaultAt(e, "", ""))
			t.Command = append(t.Command, argument)
		}
	}
}

// argument returns an element as it is written: 0.10, true and ~ are text.
func (r *reader) argument(e value) (string, bool) {
	if yamlfile.IsNull(e.Node) && e.Value != "" {
		return e.Value, true
	}
	if yamlfile.IsNull(e.Node) {
		r.Fault(e, "is nothing", `write "" for an empty argument`)
		return "", false
	}
	if e.Kind != yaml.ScalarNode {
		r.Fault(e, "is "+yamlfile.Describe(e.Node)+", not text",
			`put text with braces, brackets or ": " in "quotes": "{host}"`)
		return "", false
	}
	return r.Text(e)
}

func (r *reader) checkArgument(e value, argument string, index int) {
	if index == 0 && argument == "" {
		r.Fault(e, "names no program", "")
		return
	}
	if strings.ContainsRune(argument, 0) {
		r.Fault(e, "holds a NUL character, which no argument can", "")
		return
	}
	if operators := []string{"|", "||", "&", "&&", ";", ">", ">>", "<",
		"2>&1"}; slices.Contains(operators, argument) {
		r.Warn(e, fault.Quote(argument)+" is passed on as an argument: no shell reads the command",
			`if one should: command: [sh, -c, "..."]`)
	}
	r.checkBraces(e, argument)
}

// checkBraces refuses braces that mean nothing.
func (r *reader) checkBraces(v value, text string) {
	switch bad := task.BadBraces(text); bad {
	case "":
	case "{}":
		r.Fault(v, `"{}" names nothing`,
			"write the name of a parameter, or {{}} for braces of your own")
	default:
		r.Fault(v, fault.Quote(bad)+" is a single brace", "write {{ and }} for braces of your own")
	}
}

// maxExample is how long a command line is that an example repeats, in bytes.
const maxExample = 60

// commandExample shows a command line as a list; one that only a shell can read is given to a
// shell.
func commandExample(line string) string {
	if line == "" || len(line) > maxExample || strings.ContainsFunc(line, unicode.IsControl) {
		return "command: [python3, -u, train.py]"
	}
	if strings.ContainsAny(line, "|&;<>$`\"'\\*?(){}[]~#!%@") {
		return "command: [sh, -c, " + strconv.Quote(line) + "]"
	}
	words := strings.Fields(line)
	for i, w := range words {
		if strings.ContainsAny(w, ",:") || w == "-" {
			words[i] = strconv.Quote(w)
		}
	}
	return "command: [" + strings.Join(words, ", ") + "]"
}
