package main

import (
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects/template"
	"mlframework/sweep/human"
)

// init is `run-tasks init FOLDER`.
func (c *command) init(ctx *cliv2.Context) error {
	dir, err := argument(ctx)
	if err != nil {
		return err
	}
	if dir == "" {
		return cli.Wrong("run-tasks init FOLDER", "missing argument: FOLDER")
	}
	written, err := template.Write(dir)
	if err != nil {
		return err
	}
	for _, name := range written {
		fmt.Fprintln(c.stdout, name)
	}
	fmt.Fprintf(c.stderr, "run it: run-tasks --local -d %s run_training\n",
		human.CommandLine([]string{dir}))
	return nil
}
