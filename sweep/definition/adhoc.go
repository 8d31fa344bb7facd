package definition

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"mlframework/sweep/fault"
	"mlframework/sweep/task"
)

// CommandLine is the name of a command line in the faults of [OfCommand].
const CommandLine = "command line"

// OfCommand returns a file with one definition, for a command that was typed in place of one: its
// name comes from the command. Flags is how the command takes parameters, as under `flags`.
// Parameters are their names: only these have a meaning in braces. Reserved is that of [Load], and
// so is the error.
func OfCommand(argv []string, flags string, parameters, reserved []string) (*File, fault.List,
	error) {
	words := make([]string, len(argv))
	for i, word := range argv {
		words[i] = quoteBraces(word, parameters)
	}
	name := commandName(argv, reserved)
	data, err := json.Marshal(map[string]any{"tasks": map[string]any{
		name: map[string]any{"command": words, "flags": flags, "parameters": CommandLine}}})
	if err != nil {
		return nil, nil, fmt.Errorf("command line: %w", err)
	}
	file, notes, err := read(CommandLine, data, "", reserved)
	if faults, ok := errors.AsType[fault.List](err); ok {
		for i := range faults { // of a text that nobody wrote
			faults[i].Line, faults[i].Column = 0, 0
		}
	}
	if file != nil {
		file.Tasks[0].Parameters = ""
	}
	return file, notes, err
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

// commandName is the name of the definition of a command: that of its script, else of its program.
func commandName(argv, reserved []string) string {
	word := argv[0]
	for _, w := range argv {
		if slices.Contains(scripts, filepath.Ext(w)) {
			word = w
			break
		}
	}
	name := filepath.Base(word)
	name = strings.TrimSuffix(name, filepath.Ext(name))
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
