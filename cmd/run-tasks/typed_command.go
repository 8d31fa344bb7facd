package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/definition"
	"mlframework/sweep/human"
)

// manyFiles is from how many files on a folder may not be meant as a project.
const manyFiles = 2000

// adHocFlags are the options of a command after "--".
func adHocFlags() []cliv2.Flag {
	return []cliv2.Flag{
		metricFlag("with a command after --: "),
		&cliv2.StringFlag{Name: "objective", Usage: "with a command after --: rank tasks by " +
			"`OBJECTIVE`, such as \"maximize accuracy\""},
		&cliv2.StringFlag{Name: "as", DefaultText: "equals",
			Usage: "with a command after --: pass parameters as `FORM`: equals, space, hydra, " +
				"env or none"},
		cli.Switch("yes", "with a command after --: do not ask whether this folder is a project"),
	}
}

// metricFlag is the option that names metrics; when says in which case it has an effect.
func metricFlag(when string) cliv2.Flag {
	return &cliv2.StringSliceFlag{Name: "metric", Usage: when + "read the metric `NAME=REGEX` " +
		"from its output; can be given more than once"}
}

// splitCommand splits off the command after "--", unless a subcommand comes before that.
func splitCommand(app *cliv2.App, args []string) (own, argv []string) {
	at := slices.Index(args, "--")
	if at < 0 || cli.NamesCommand(app, args[1:at]) {
		return args, nil
	}
	return args[:at], append([]string{}, args[at+1:]...)
}

// checkProjectFolder asks before the files of a folder that is hardly a project are copied.
func (o submitOptions) checkProjectFolder(ctx context.Context, t *terminal, p *project.Project) error {
	dir := p.Dir
	if o.AsPushed || exists(filepath.Join(dir, definition.FileName)) {
		return nil
	}
	what := ""
	if home, err := os.UserHomeDir(); err == nil && dir == filepath.Clean(home) {
		what = "your home folder"
	} else if dir == "/" {
		what = "the root folder"
	} else {
		m, err := p.List(ctx)
		if err != nil {
			return err
		}
		if len(m.Entries) > manyFiles {
			what = fmt.Sprintf("a folder with %s files", human.Thousands(len(m.Entries)))
		}
	}
	if what == "" {
		return nil
	}
	question := fmt.Sprintf("%s is %s, and tasks get copies of its files. Run the command there?",
		cli.Visible(dir), what)
	switch agreed, asked := t.agrees(ctx, o.yes, question); {
	case !asked:
		return cli.Wrong("go to the project's folder, or name it with -d; confirm with --yes",
			"%s is %s, and tasks get copies of its files", cli.Visible(dir), what)
	case !agreed:
		return &cli.Error{Code: cli.Interrupted, Err: errors.New("nothing was run")}
	}
	return nil
}
