package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/internal/yamlfile"
	"mlframework/sweep/api"
)

func (c *command) pruneCommand() *cliv2.Command {
	return &cliv2.Command{Name: "prune", Action: c.prune,
		Usage: "remove old sweeps, and code that no sweep needs",
		Flags: append(locationFlags(),
			&cliv2.StringFlag{Name: "older-than", DefaultText: "remove no sweeps",
				Usage: "remove sweeps that ended at least `TIME` ago, such as 12h or 30d"},
			cli.Switch("dry-run", "show what would be removed; remove nothing"),
			cli.Switch("yes", "remove without asking", "y")),
		Description: `Removes sweeps as rm does, and the copies of the project's code that none of the
remaining sweeps needs; on this machine, these only while no sweep runs. Sweeps
that have not ended stay.

EXAMPLES:
   # what would be removed
   run-tasks prune --older-than 30d --dry-run
   # only code that no sweep needs
   run-tasks prune`}
}

// pruneOptions are the options of `run-tasks prune`.
type pruneOptions struct {
	pruneRules
	dryRun bool
	self   string // how hints begin
	// agrees asks a person; asked is false if there is nobody
	agrees func(question string) (agreed, asked bool)
}

func readPruneOptions(ctx *cliv2.Context) (o pruneOptions, err error) {
	if ctx.NArg() > 0 {
		return o, cli.Wrong("run-tasks rm "+ctx.Args().First()+" removes a sweep",
			"prune takes no argument")
	}
	o.dryRun = ctx.Bool("dry-run")
	if !ctx.IsSet("older-than") {
		return o, nil
	}
	age, problem, remedy := yamlfile.ParseDuration(ctx.String("older-than"))
	if problem != "" {
		return o, cli.Wrong(remedy, "--older-than: %s", problem)
	}
	o.old, o.age = true, age
	return o, nil
}

// prune is `run-tasks prune`.
func (c *command) prune(ctx *cliv2.Context) error {
	o, err := readPruneOptions(ctx)
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer src.close()
	o.self, o.agrees = c.self, c.asker(work, ctx.Bool("yes"))
	return o.run(work, src, c.stdout, c.messages)
}

// run removes what the rules select of a source.
func (o pruneOptions) run(ctx context.Context, src source, out io.Writer,
	messages *display.Messages) error {
	all, err := src.Sweeps(ctx, "", 0)
	if err != nil {
		return err
	}
	plan := planPrune(o.pruneRules, all, time.Now())
	unused, err := src.unusedRevisions(ctx, plan.ids())
	if err != nil {
		return err
	}
	if len(plan)+len(unused) == 0 {
		fmt.Fprintln(messages, "there is nothing to remove")
		return nil
	}
	for _, line := range plan.lines() {
		fmt.Fprintln(out, line)
	}
	what := plan.text(len(unused))
	if o.dryRun {
		fmt.Fprintln(out, "would remove "+what)
		return nil
	}
	switch agreed, asked := o.agrees("Remove " + what + "?"); {
	case !asked:
		return cli.Wrong("--yes removes without asking, and --dry-run removes nothing",
			"cannot ask for confirmation without a terminal")
	case ctx.Err() != nil:
		return cli.Code(cli.Interrupted)
	case !agreed:
		fmt.Fprintln(messages, "nothing was removed")
		return cli.Code(cli.Failed)
	}
	if len(plan) > 0 {
		err := src.act(ctx, func(client *api.Client) error {
			return removeSweeps(ctx, client, plan.ids(), out, messages)
		})
		if err != nil {
			return err
		}
	}
	return dropRevisions(ctx, src, out)
}

// dropRevisions removes the code that no sweep of a source needs, and says how much.
func dropRevisions(ctx context.Context, src source, out io.Writer) error {
	n, err := src.dropRevisions(ctx)
	if n > 0 {
		fmt.Fprintln(out, "removed "+revisionsText(n))
	}
	return err
}

func revisionsText(n int) string {
	return plural(int64(n), "revision") + " of the project's code"
}
