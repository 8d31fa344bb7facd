package cli

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"
)

// App returns the frame of a program: help is a template (see CommandHelp), Run prints its errors,
// and --version is among its options. The caller adds what it does.
func App(name, usage, help string, stdout, stderr io.Writer, flags ...cli.Flag) *cli.App {
	version := Switch("version", "print the version and exit")
	return &cli.App{
		Name: name, Usage: usage, CustomAppHelpTemplate: help,
		HideVersion: true, HideHelpCommand: true,
		Writer: stdout, ErrWriter: stderr,
		ExitErrHandler: func(*cli.Context, error) {}, OnUsageError: usageError,
		Flags: append(flags, version),
	}
}

// Run runs a program and returns its exit code. It prints errors to the program's ErrWriter, as
// explain words them.
func Run(ctx context.Context, app *cli.App, commandHelp string, args []string,
	explain func(error) error) int {
	action := app.Action
	app.Action = func(ctx *cli.Context) error {
		if ctx.Bool("version") {
			_, err := fmt.Fprintln(app.Writer, app.Name, Version())
			return err
		}
		return action(ctx)
	}
	frame(app.Commands, commandHelp)
	words, all := helpOfAll(args[1:])
	cli.HelpPrinter = helpPrinter(app, all)
	arranged, err := Arrange(app, append(args[:1:1], words...))
	if err == nil {
		err = app.RunContext(ctx, arranged)
	}
	return Finish(hintWriter{app.ErrWriter, HintsOf(arranged)}, app.Name, explain(err))
}

// frame gives commands, and those below them, their help and their errors.
func frame(commands []*cli.Command, help string) {
	for _, c := range commands {
		c.CustomHelpTemplate, c.HideHelpCommand, c.OnUsageError = help, true, usageError
		frame(c.Subcommands, help)
	}
}

func usageError(_ *cli.Context, err error, _ bool) error { return &Error{Code: Usage, Err: err} }
