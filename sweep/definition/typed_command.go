package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// CommandLine is the name of a command line in the faults of [OfCommand].
const CommandLine = "command line"

// Command is a command that was typed in place of a definition.
type Command struct {
	Argv       []string
	Flags      string            // how it takes parameters, as under `flags`
	Metrics    map[string]string // as under `metrics`
	Objective  string            // as under `objective`; "": none
	Parameters []string          // their names: only these have a meaning in braces
}

// OfCommand returns a file with one definition, whose name comes from the command. Reserved is that
// of [Load], and so is the error.
func OfCommand(c Command, reserved []string) (*File, fault.List, error) {
	var misspelt nearNames
	words := make([]string, len(c.Argv))
	for i, word := range c.Argv {
		words[i] = quoteBraces(word, c.Parameters)
		misspelt.check(word, c.Parameters)
	}
	if len(misspelt.wrong) > 0 {
		return nil, nil, misspelt.wrong
	}
	keys := map[string]any{"command": words, "flags": c.Flags, "parameters": CommandLine}
	if len(c.Metrics) > 0 {
		keys["metrics"] = c.Metrics
	}
	if c.Objective != "" {
		keys["objective"] = c.Objective
	}
	name := commandName(c.Argv, reserved)
	data, err := json.Marshal(map[string]any{"tasks": map[string]any{name: keys}})
	if err != nil {
		return nil, nil, fmt.Errorf("command line: %w", err)
	}
	file, notes, err := read(CommandLine, data, "", reserved)
	if faults, ok := errors.AsType[fault.List](err); ok {
		for i := range faults { // lines of the generated file mean nothing to the user
			faults[i].Line, faults[i].Column = 0, 0
			faults[i].Problem = strings.TrimPrefix(faults[i].Problem, "tasks."+name+".")
		}
	}
	if file != nil {
		file.Tasks[0].Parameters = ""
	}
	return file, append(misspelt.notes, notes...), err
}

// nearNames are names in braces that are nearly those of parameters.
type nearNames struct{ wrong, notes fault.List }

// check looks at a word of a command. In a text, such as a shell's or Python's, braces may have a
// meaning of their own: it is only noted.
func (n *nearNames) check(word string, parameters []string) {
	for _, at := range braces.FindAllStringIndex(word, -1) {
		name := word[at[0]+1 : at[1]-1]
		number := strings.IndexFunc(name, unicode.IsDigit) == 0
		near := fault.Nearest(strings.TrimSpace(name), parameters)
		shell := at[0] > 0 && word[at[0]-1] == '$'
		if near == "" || near == name || number || shell {
			continue
		}
		problem := fault.Quote("{"+name+"}") + " is not the name of a parameter"
		if strings.ContainsAny(word, " \t\n") {
			n.notes.Add(fault.Fault{File: CommandLine, Problem: problem + " and is passed as it is",
				Remedy: "did you mean {" + near + "}?"})
		} else {
			n.wrong.Add(fault.Fault{File: CommandLine, Problem: problem,
				Remedy: "did you mean {" + near + "}? If not, rename the parameter " + near})
		}
	}
}

var braces = regexp.MustCompile(`\{[^{}]*\}`)

// quoteBraces doubles the braces of a word, except around the names of parameters.
func quoteBraces(word string, parameters []string) string {
	double := strings.NewReplacer("{", "{{", "}", "}}")
	var b strings.Builder
	end := 0
	for _, at := range braces.FindAllStringIndex(word, -1) {
		if slices.Contains(parameters, word[at[0]+1:at[1]-1]) {
			b.WriteString(double.Replace(word[end:at[0]]) + word[at[0]:at[1]])
			end = at[1]
		}
	}
	return b.String() + double.Replace(word[end:])
}

// scripts are the endings of files that other programs run.
var scripts = []string{".py", ".sh", ".R", ".r", ".jl", ".pl", ".rb", ".js", ".lua", ".m"}

var noNameLetters = regexp.MustCompile(`[^A-Za-z0-9_.]+`)

// script returns the index of the first word of a command that names a script; -1: none does.
func script(argv []string) int {
	return slices.IndexFunc(argv, func(word string) bool {
		return slices.Contains(scripts, filepath.Ext(word)) && !strings.ContainsAny(word, " {")
	})
}

// interpreters matches programs that run a script.
var interpreters = regexp.MustCompile(`^(python[\d.]*|pypy3?|[bdkz]?a?sh|Rscript|julia|perl|ruby|` +
	`node|lua|uv|torchrun|accelerate)$`)

// ScriptIndex returns the index of the word that names the script that the program of a command, an
// interpreter, runs; -1: it runs none, or that cannot be told.
func ScriptIndex(argv []string) int {
	at := script(argv)
	if at < 1 || !interpreters.MatchString(filepath.Base(argv[0])) {
		return -1
	}
	for _, word := range argv[1:at] {
		option := len(word) > 1 && word[0] == '-'
		code := option && word[1] != '-' && strings.ContainsAny(word[len(word)-1:], "cme")
		if code || !option && word != "run" && word != "launch" {
			return -1
		}
	}
	return at
}

// commandName is the name of the definition of a command: that of its script, else of its program.
func commandName(argv, reserved []string) string {
	name := filepath.Base(argv[0])
	if i := script(argv); i >= 0 {
		name = strings.TrimSuffix(filepath.Base(argv[i]), filepath.Ext(argv[i]))
	} else if i := slices.Index(argv, "-m"); i >= 0 && i+1 < len(argv) { // python3 -m package.train
		name = argv[i+1][strings.LastIndex(argv[i+1], ".")+1:]
	}
	name = strings.Trim(noNameLetters.ReplaceAllString(name, "_"), ".")
	if name == "" || !task.IsDefinitionName(name) {
		name = "_" + name
	}
	name = name[:min(len(name), task.MaxDefinitionName-1)]
	if slices.Contains(reserved, name) {
		name += "_"
	}
	return name
}
