package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"slices"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/local"
	"mlframework/internal/yamlfile"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

func pruneCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "prune", Action: onSource(c, readPruneOptions),
		Usage: "remove old sweeps, old outputs and unused code",
		Flags: append(locationFlags(),
			&cliv2.StringFlag{Name: "older-than", DefaultText: "remove no sweeps",
				Usage: "remove sweeps that ended at least `TIME` ago, such as 12h or 30d"},
			cli.Switch("failed", "remove only the outputs of failed tasks"),
			&cliv2.IntFlag{Name: "keep-best", DefaultText: "keep all",
				Usage: "remove only the outputs of all but the best `N` tasks in each sweep"},
			cli.Switch("dry-run", "show what would be removed; remove nothing"),
			cli.Switch("yes", "remove without asking", "y")),
		Description: `--older-than alone removes entire sweeps, like rm. --failed and --keep-best
remove only the outputs of tasks, and keep the sweeps and their results. They
apply to all sweeps that have ended or, with --older-than, to those that ended
at least TIME ago. Used together, they remove what either would remove.

--keep-best ignores sweeps without an objective. In a sweep with repeat, it
keeps the N combinations with the best mean, including all their repeats.
--missing still counts a task as succeeded after its outputs are removed.

Copies of the project's code that no remaining sweep needs are always removed.
On this machine, they are removed only while no sweep is running.

EXAMPLES:
   # show what would be removed
   run-tasks prune --older-than 30d --dry-run
   # keep the outputs of the best ten tasks of each sweep
   run-tasks prune --keep-best 10
   # remove only unused code
   run-tasks prune`}
}

// pruneOptions are the options of `run-tasks prune`.
type pruneOptions struct {
	pruneRules
	dryRun bool
	yes    bool
}

func readPruneOptions(ctx *cliv2.Context) (o pruneOptions, err error) {
	if ctx.NArg() > 0 {
		return o, cli.Wrong("run-tasks rm "+ctx.Args().First()+" removes a sweep",
			"prune takes no argument")
	}
	o.dryRun, o.yes = ctx.Bool("dry-run"), ctx.Bool("yes")
	o.failed, o.keepBest = ctx.Bool("failed"), ctx.Int("keep-best")
	if ctx.IsSet("keep-best") && o.keepBest < 1 {
		return o, cli.Wrong("--failed removes the outputs of failed tasks alone",
			"--keep-best must be at least 1")
	}
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

// run removes what the rules select of a source.
func (o pruneOptions) run(ctx context.Context, src source, t *terminal) error {
	ctx, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	all, err := src.Sweeps(ctx, "", 0)
	if err != nil {
		return err
	}
	plan, err := o.plan(ctx, src, all, time.Now())
	if err != nil {
		return err
	}
	unused, err := src.unusedRevisions(ctx, plan.removed())
	if err != nil {
		return err
	}
	if _, here := src.(*localFolder); here && local.Alive() {
		t.messages.Note("the project's code stays while a sweep of this folder runs or " +
			"run-tasks monitor shows it")
	}
	if len(plan)+len(unused) == 0 {
		n := 0
		if !o.dryRun { // hosts may have some
			n, err = dropRevisions(ctx, src, t.stdout)
		}
		if n == 0 && err == nil {
			fmt.Fprintln(t.messages, "there is nothing to remove")
		}
		return err
	}
	for _, line := range plan.lines() {
		fmt.Fprintln(t.stdout, line)
	}
	what := plan.text(len(unused))
	if o.dryRun {
		fmt.Fprintln(t.stdout, "would remove "+what)
		return nil
	}
	err = t.confirm(ctx, o.yes, "Remove "+what+"?",
		"--yes removes without asking, and --dry-run removes nothing")
	if err == nil && len(plan) > 0 {
		err = src.act(ctx, func(client *api.Client) error { return plan.carryOut(ctx, client, t) })
	}
	if err == nil {
		_, err = dropRevisions(ctx, src, t.stdout)
	}
	return err
}

// plan reads what the rules look at, and applies them.
func (o pruneOptions) plan(ctx context.Context, src source, all []core.Summary, now time.Time) (
	plan prunePlan, err error) {
	for _, s := range all {
		one := prunable{Summary: s}
		if o.ofTasks() && o.considers(s, now) {
			if one, err = o.read(ctx, src, s.ID); err != nil {
				return nil, err
			}
		}
		for _, p := range planPrune(o.pruneRules, []prunable{one}, now) {
			for part := range slices.Chunk(p.tasks, api.MostPruned) {
				bytes, err := src.Size(ctx, s.ID, part)
				if err != nil {
					return nil, err
				}
				p.bytes += bytes
			}
			plan = append(plan, p)
		}
	}
	return plan, nil
}

// read reads the tasks of a sweep that have outputs.
func (o pruneOptions) read(ctx context.Context, src source, id string) (p prunable, err error) {
	s, err := src.Sweep(ctx, id, false)
	if err != nil {
		return p, err
	}
	p.Summary, p.ranked = s.Summary, !s.Record.Objective.IsZero()
	isBest := func(*table.Row) bool { return false }
	switch {
	case !p.ranked || o.keepBest == 0:
	case len(s.Record.Repeats()) > 0:
		best, err := bestCombinations(ctx, src, s, "", o.keepBest)
		if err != nil {
			return p, err
		}
		isBest = best.has
	default:
		best := map[int64]bool{}
		err := src.Rows(ctx, id, api.Query{Issued: true, Best: true, Top: o.keepBest},
			func(r *table.Row) error {
				best[r.Index] = table.IsRanked(s.Record.Objective, r)
				return nil
			})
		if err != nil {
			return p, err
		}
		isBest = func(r *table.Row) bool { return best[r.Index] }
	}
	err = src.Rows(ctx, id, api.Query{Issued: true}, func(r *table.Row) error {
		state, err := task.ParseState(r.State)
		if r.Host != "" && !s.Record.Pruned.Has(r.Index) {
			p.tasks = append(p.tasks, prunableTask{r.Index, state.Failure(), isBest(r)})
		}
		return err
	})
	return p, err
}

// carryOut removes what is planned, through the process that runs the sweeps.
func (p prunePlan) carryOut(ctx context.Context, client *api.Client, t *terminal) error {
	for _, s := range p {
		if len(s.tasks) == 0 {
			if err := client.Remove(ctx, s.ID); err != nil {
				return err
			}
			fmt.Fprintln(t.stdout, "removed "+s.ID)
			continue
		}
		for part := range slices.Chunk(s.tasks, api.MostPruned) {
			if _, err := client.Prune(ctx, s.ID, part); err != nil {
				return err
			}
		}
		fmt.Fprintf(t.stdout, "removed the outputs of %s of %s\n", human.Plural(s.tasks.Len(), "task"),
			s.ID)
	}
	return finishRemovals(ctx, client, p.ids(), t.messages)
}

// dropRevisions removes the code that no sweep of a source needs, and says how much.
func dropRevisions(ctx context.Context, src source, out io.Writer) (n int, err error) {
	if n, err = src.dropRevisions(ctx); n > 0 {
		fmt.Fprintln(out, "removed "+revisionsText(n))
	}
	return n, err
}

func revisionsText(n int) string {
	return human.Plural(int64(n), "revision") + " of the project's code"
}
