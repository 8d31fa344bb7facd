package main

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/argv"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// shownTask is a task as `show --json` has it.
type shownTask struct {
	api.Task
	taskInputs
}

// taskInputs is what the newest attempt of a task is given beside its command; the next one, when
// none has begun. Secrets are not part of it.
type taskInputs struct {
	Environment table.Parameters `json:"environment"` // of the definition and the parameters
	File        *inputFile       `json:"file"`        // that takes the parameters; null: none does
	shown       table.Parameters // of the environment, for a person
}

// inputFile is a file of the project into which values were put.
type inputFile struct {
	Path   string           `json:"path"` // in the task's folder
	From   string           `json:"from"` // in the project
	Values table.Parameters `json:"values"`
}

// String is "run.json: lr=0.1, else as config.json".
func (f inputFile) String() string {
	text := f.Path + ": " + assignments(f.Values)
	if f.From != f.Path {
		text += ", else as " + f.From
	}
	return text
}

// inputsOf finds what a task of a sweep is given.
func inputsOf(s api.Sweep, t api.Task) (g taskInputs) {
	recipe, row, points := s.Record.Recipe, t.Row, s.Record.Points()
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Started != nil {
		newest := t.Attempts[n-1]
		settings := s.Record.SettingsOf(core.Attempt{Revision: newest.Revision,
			Started: *newest.Started})
		recipe.Env, recipe.EnvBraces = settings.Env, settings.EnvBraces
	}
	parameters := points.Given(row.Index)
	if f := recipe.File; f != nil {
		g.File = &inputFile{Path: f.To, From: f.From, Values: pairs(parameters)}
		recipe.File = nil // its content is in the task's folder
	}
	at := task.PlaceholderValues{Index: strconv.FormatInt(row.Index, 10), Task: row.ID,
		Host: row.Host}
	if row.Slot != nil {
		at.Slot = strconv.Itoa(*row.Slot)
	}
	of, err := argv.Of(recipe, at, task.Attempt{Index: row.Index, Parameters: parameters}, nil)
	if err == nil { // nothing but a file can be wrong
		g.Environment = environment(recipe, of)
		g.shown = shownEnvironment(recipe, g.Environment)
	}
	return g
}

// environment is what a task's environment has of its definition and its parameters.
func environment(r task.Recipe, g argv.Given) (all table.Parameters) {
	vars := g.Env
	if !r.EnvBraces {
		for _, name := range slices.Sorted(maps.Keys(r.Env)) {
			vars = append(vars, name+"="+r.Env[name])
		}
	}
	for _, v := range vars {
		name, value, _ := strings.Cut(v, "=")
		all = append(all, table.Parameter{Name: name, Value: value})
	}
	return all
}

// shownEnvironment is what of a task's environment a person is shown: the parameters only where the
// program takes them from there.
func shownEnvironment(r task.Recipe, all table.Parameters) (of table.Parameters) {
	for _, v := range all {
		if _, own := r.Env[v.Name]; own || r.ReadsParameters || r.EnvBraces {
			of = append(of, v)
		}
	}
	return of
}

// variables are variables as a shell sets them.
func variables(all table.Parameters) string {
	words := make([]string, len(all))
	for i, v := range all {
		words[i] = v.Name + "=" + human.CommandLine([]string{v.Value})
	}
	return strings.Join(words, " ")
}

// pairs are parameters as a program gets them, by name.
func pairs(of []space.Assignment) (all table.Parameters) {
	for _, p := range of {
		all = append(all, table.Parameter{Name: p.Name, Value: p.Value})
	}
	return all
}

// assignments tells which values stand in the file of a task.
func assignments(of table.Parameters) string {
	words := make([]string, len(of))
	for i, p := range of {
		words[i] = p.Name + "=" + p.Value
	}
	return human.Visible(strings.Join(words, " "))
}
