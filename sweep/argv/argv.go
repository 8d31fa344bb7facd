// Package argv decides how the program of a task takes its parameters: as flags, as names in braces
// in its command and its variables, from its environment, or from parameters.json. Recipe and
// parameters in, arguments, variables and content of files out.
//
// Worker and run-tasks import it, so that a dry run shows what runs. It is pure: it reads and
// writes nothing.
package argv

import (
	"maps"
	"slices"
	"strings"

	"mlframework/sweep/internal/rawjson"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Given is what one attempt's program is given.
type Given struct {
	Argv []string
	// NAME=value: the parameters, then variables of the definition that have names in braces
	Env []string

	Parameters []byte             // of task.ParametersFile
	File       []byte             // of To; nil: there is none
	To         string             // in the task's folder
	Put        []space.Assignment // those that File has
}

// Of is what the program of an attempt is given at a place. Config is what the project has as the
// recipe's File. Errors are a fault.List.
func Of(r task.Recipe, at task.PlaceholderValues, a task.Attempt, config []byte) (g Given,
	err error) {
	g = Given{Argv: append(r.ExpandCommand(at, a.Parameters), a.Args...),
		Env: make([]string, 0, len(a.Parameters)), Parameters: JSON(a.Parameters)}
	if r.File != nil {
		g.To = r.File.To
		if g.File, g.Put, err = Fill(*r.File, config, a.Parameters,
			r.NoArguments()); err != nil {
			return g, err
		}
	}
	for _, p := range a.Parameters {
		if p.Kind != space.Null {
			g.Env = append(g.Env, Variable(p.Name)+"="+p.Value)
		}
	}
	if r.EnvBraces {
		all := r.ExpandEnv(at, a.Parameters)
		for _, name := range slices.Sorted(maps.Keys(all)) {
			g.Env = append(g.Env, name+"="+all[name])
		}
	}
	return g, nil
}

// Prefix begins the names of parameters' variables.
const Prefix = "PARAM_"

// Variable is the variable of a parameter: PARAM_MODEL_LR of model.lr.
func Variable(parameter string) string {
	return Prefix + strings.Map(func(c rune) rune {
		switch {
		case c >= 'a' && c <= 'z':
			return c - 'a' + 'A'
		case c >= 'A' && c <= 'Z' || c >= '0' && c <= '9':
			return c
		}
		return '_'
	}, parameter)
}

// JSON is the content of the parameters' file: an object in the order of parameters.yml, in which
// numbers are numbers, switches are booleans, and lists are lists. A number has the spelling that it
// has there, where JSON allows it.
func JSON(of []space.Assignment) []byte {
	if len(of) == 0 {
		return []byte("{}\n")
	}
	text := []byte("{")
	for i, p := range of {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(append(append(append(text, "\n  "...), quoted(p.Name)...), ": "...),
			literal(p)...)
	}
	return append(text, "\n}\n"...)
}

// literal is a value in JSON.
func literal(p space.Assignment) string {
	switch p.Kind {
	case space.Switch:
		return strings.ToLower(p.Value)
	case space.Null, space.JSON:
		return p.Value
	case space.Text:
		return quoted(p.Value)
	}
	if n, ok := space.Number(p.Value); ok {
		return n
	}
	return quoted(p.Value)
}

// quoted is text in JSON, with <, > and & as they are.
func quoted(text string) string { return string(rawjson.AppendQuoted(nil, text)) }
