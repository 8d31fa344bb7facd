package main

import (
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/argv"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// shownTask is a task as `show --json` has it.
type shownTask struct {
	api.Task
	given
}

// given is what the newest attempt of a task is given beside its command; the next one, when none has begun. Secrets are not part of it.
type given struct {
	Environment table.Parameters `json:"environment"` // of the definition and the parameters
	File        *givenFile       `json:"file"`        // that takes the parameters; null: none does
	told        table.Parameters // of the environment, for a person
}

// givenFile is a file of the project into which values were put.
type givenFile struct {
	Path   string           `json:"path"` // in the task's folder
	From   string           `json:"from"` // in the project
	Values table.Parameters `json:"values"`
}

// String is "run.json: lr=0.1, else as config.json".
func (f givenFile) String() string {
	text := f.Path + ": " + put(f.Values)
	if f.From != f.Path {
		text += ", else as " + f.From
	}
	return text
}

// givenTo finds what a task of a sweep is given.
func givenTo(s api.Sweep, t api.Task) (g given) {
	recipe, row, points := s.Record.Recipe, t.Row, s.Record.Points()
	if n := len(t.Attempts); n > 0 && t.Attempts[n-1].Started != nil {
		newest := t.Attempts[n-1]
		settings := s.Record.SettingsOf(core.Attempt{Revision: newest.Revision, Started: *newest.Started})
		recipe.Env, recipe.EnvBraces = settings.Env, settings.EnvBraces
	}
	parameters := points.Given(row.Index)
	if f := recipe.File; f != nil {
		g.File = &givenFile{Path: f.To, From: f.From, Values: pairs(parameters)}
		recipe.File = nil // its content is in the task's folder
	}
	at := task.PlaceholderValues{Index: strconv.FormatInt(row.Index, 10), Task: row.ID, Host: row.Host}
	if row.Slot != nil {
		at.Slot = strconv.Itoa(*row.Slot)
	}
	of, err := argv.Of(recipe, at, task.Attempt{Index: row.Index, Parameters: parameters}, nil)
	if err == nil { // nothing but a file can be wrong
		g.Environment = environment(recipe, of)
		g.told = told(recipe, g.Environment)
	}
	return g
}
