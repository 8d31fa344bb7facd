package monitor

import (
	"mlframework/sweep/api"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

// command is the command line of a task.
type command struct {
	ID   string // of its element
	Text string
	// the task, where its program gets variables or a file of parameters as well, so that the command
	// alone runs something else; "": it does not
	Partial string
}

func commandOf(s api.Sweep, row *table.Row, id string) command {
	c := command{ID: id, Text: human.CommandLine(row.Argv)}
	recipe, form := s.Record.Recipe, s.Record.Style.Form
	if recipe.File != nil || len(recipe.Env) > 0 || form == "env" || form == "none" {
		c.Partial = human.Visible(row.ID)
	}
	return c
}
