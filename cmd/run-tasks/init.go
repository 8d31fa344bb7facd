package main

import (
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/projects/template"
	"mlframework/sweep/human"
)

func initCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "init", ArgsUsage: "FOLDER",
		Action: func(ctx *cliv2.Context) error { return writeExample(ctx, &c.terminal) },
		Usage:  "create an example project in a new or empty folder",
		Description: `EXAMPLES:
   # then run it: run-tasks -d first run_training
   run-tasks init first`}
}

// writeExample is `run-tasks init FOLDER`.
func writeExample(ctx *cliv2.Context, t *terminal) error {
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
		fmt.Fprintln(t.stdout, name)
	}
	fmt.Fprintf(t.stderr, "run it: run-tasks --local -d %s run_training\n",
		human.CommandLine([]string{dir}))
	return nil
}
