package main

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func removeCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "rm", ArgsUsage: "SWEEP...", Action: onSource(c, readRemoveOptions),
		Usage: "remove sweeps with their outputs",
		Flags: append(locationFlags(), cli.Switch("yes", "remove without asking", "y")),
		Description: `Removes the results, logs and all other outputs of the sweeps from all hosts. A
host that is unavailable removes them when it returns. Running sweeps
cannot be removed. Outputs being fetched are removed afterwards. The numbers of
removed sweeps are not reused. --missing runs their tasks again.

EXAMPLES:
   run-tasks rm run_training-1 run_training-2`}
}

// removeOptions are the options of `run-tasks rm`.
type removeOptions struct {
	sweeps []string // ids
	yes    bool
}

func readRemoveOptions(ctx *cliv2.Context) (o removeOptions, err error) {
	o.yes = ctx.Bool("yes")
	if o.sweeps = ctx.Args().Slice(); len(o.sweeps) == 0 {
		return o, cli.Wrong("run-tasks rm train-1, for example; run-tasks ls lists them",
			"no sweep is named")
	}
	for _, name := range o.sweeps {
		if sweep, _, isTask := strings.Cut(name, "/"); isTask {
			return o, cli.Wrong("run-tasks rm "+sweep+" removes its sweep",
				"cannot remove a single task")
		}
	}
	return o, nil
}

// run removes sweeps of a source.
func (o removeOptions) run(ctx context.Context, src source, t *terminal) error {
	ctx, stop := cli.Interrupts(ctx, func() { os.Exit(cli.Interrupted) })
	defer stop()
	all, err := src.Sweeps(ctx, "", 0)
	if err != nil {
		return err
	}
	chosen, err := o.choose(all, t.self)
	if err != nil {
		return err
	}
	remedy := t.self + " rm " + strings.Join(o.sweeps, " ") + " --yes removes without asking"
	if err := t.confirm(ctx, o.yes, removeQuestion(chosen), remedy); err != nil {
		return err
	}
	err = src.act(ctx, func(client *api.Client) error {
		return removeSweeps(ctx, client, idsOf(chosen), t)
	})
	if err != nil {
		return err
	}
	_, err = src.dropRevisions(ctx)
	return err
}

// choose finds the sweeps that are named. All that cannot be removed are named in one error.
func (o removeOptions) choose(all []core.Summary, self string) (chosen []core.Summary, err error) {
	var unknown, running []string
	for _, name := range o.sweeps {
		at := slices.IndexFunc(all, func(s core.Summary) bool { return s.ID == name })
		switch {
		case at < 0 && !slices.Contains(unknown, name):
			unknown = append(unknown, name)
		case at < 0 || slices.ContainsFunc(chosen, func(s core.Summary) bool { return s.ID == name }):
		case runs(all[at]):
			running = append(running, name)
		default:
			chosen = append(chosen, all[at])
		}
	}
	if len(unknown) > 0 {
		return nil, cli.Wrong(self+" ls lists them", "there %s %s",
			human.Pick(len(unknown), "is no sweep", "are no sweeps"), human.List(unknown))
	}
	if len(running) > 0 {
		return nil, cli.Wrong(self+" cancel "+running[0]+" stops it", "%s still %s",
			human.List(running), human.Pick(len(running), "runs", "run"))
	}
	return chosen, nil
}

// runs reports whether tasks of a sweep run or may begin.
func runs(s core.Summary) bool {
	return s.State == core.Open || s.Counts[task.Queued.String()]+s.Counts[task.Claimed.String()]+
		s.Counts[task.Running.String()] > 0
}

func idsOf(sweeps []core.Summary) (ids []string) {
	for _, s := range sweeps {
		ids = append(ids, s.ID)
	}
	return ids
}

// removeQuestion is "Remove work-1 (40 tasks, 3 succeeded, 1.2 GB)?", or has a line for each of several
// sweeps.
func removeQuestion(sweeps []core.Summary) string {
	var lines []string
	for _, s := range sweeps {
		text := fmt.Sprintf("%s (%s, %d succeeded", s.ID, human.Plural(s.Total, "task"),
			s.Counts[task.Succeeded.String()])
		if s.Bytes > 0 {
			text += ", " + sizeText(s.Bytes)
		}
		lines = append(lines, text+")")
	}
	if len(lines) == 1 {
		return "Remove " + lines[0] + "?"
	}
	return strings.Join(lines, "\n") + fmt.Sprintf("\nRemove these %d sweeps?", len(lines))
}

// removeSweeps removes sweeps through the process that runs them.
func removeSweeps(ctx context.Context, client *api.Client, ids []string, t *terminal) error {
	for _, id := range ids {
		if err := client.Remove(ctx, id); err != nil {
			return err
		}
		fmt.Fprintln(t.stdout, "removed "+id)
	}
	return finishRemovals(ctx, client, ids, t.messages)
}

// finishRemovals waits for the removal of outputs of sweeps where that is under way, and says what
// is removed later.
func finishRemovals(ctx context.Context, client *api.Client, ids []string,
	messages *display.Messages) error {
	left, err := awaitRemovals(ctx, client, ids, messages)
	for _, r := range left {
		messages.Note(fmt.Sprintf("outputs of %s are removed later: %s", r.Sweep, *r.Reason))
	}
	if ctx.Err() != nil {
		messages.Note("the rest of the outputs is removed later")
		return cli.Code(cli.Interrupted)
	}
	return err
}

const (
	removalLook = 50 * time.Millisecond // how often it looks what is left
	removalTell = 2 * time.Second       // until a person is told what is waited for
	// removalPatience is how long a worker may be away, or refuse, until it is not waited for.
	removalPatience = 3 * time.Second
)

// awaitRemovals waits until the outputs of sweeps are removed. It returns those that nothing is done
// about now.
func awaitRemovals(ctx context.Context, client *api.Client, ids []string,
	messages *display.Messages) (left []api.Removal, err error) {
	told := false
	for begun := time.Now(); ; {
		all, err := client.Removals(ctx)
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(all, func(r api.Removal) bool { return !slices.Contains(ids, r.Sweep) })
		waits := time.Since(begun)
		untried := slices.ContainsFunc(left, func(r api.Removal) bool { return r.Reason == nil })
		if len(left) == 0 || !untried && waits > removalPatience {
			return left, nil
		}
		if waits > removalTell && !told {
			told = true
			messages.Note("removing the outputs; Ctrl-C leaves the rest for later")
		}
		select {
		case <-time.After(removalLook):
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
