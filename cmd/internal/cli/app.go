package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// App is the frame of a program of ours: its help is a template, its errors are for Run to print, and --version is among its
// options. The caller adds what it does.
func App(name, usage, help string, stdout, stderr io.Writer, flags ...cli.Flag) *cli.App {
	return &cli.App{
		Name: name, Usage: usage, CustomAppHelpTemplate: help, HideVersion: true, HideHelpCommand: true,
		Writer: stdout, ErrWriter: stderr, ExitErrHandler: func(*cli.Context, error) {}, OnUsageError: usageError,
		Flags: append(flags, &cli.BoolFlag{DisableDefaultText: true, Name: "version", Usage: "print the version of this program"}),
	}
}

// Run runs a program and gives its exit code. What went wrong is printed to the program's ErrWriter, as explain words it.
func Run(ctx context.Context, app *cli.App, commandHelp string, args []string, explain func(error) error) int {
	action := app.Action
	app.Action = func(ctx *cli.Context) error {
		if ctx.Bool("version") {
			_, err := fmt.Fprintln(app.Writer, Version())
			return err
		}
		return action(ctx)
	}
	for _, sub := range app.Commands {
		sub.CustomHelpTemplate, sub.HideHelpCommand, sub.OnUsageError = commandHelp, true, usageError
	}
	arranged, err := Arrange(app, args)
	if err == nil {
		err = app.RunContext(ctx, arranged)
	}
	return Finish(app.ErrWriter, app.Name, explain(err))
}

func usageError(_ *cli.Context, err error, _ bool) error { return &Error{Code: Usage, Err: err} }
