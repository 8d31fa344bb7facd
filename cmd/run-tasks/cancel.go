package main

import (
	"context"
	"fmt"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func cancelCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "cancel", ArgsUsage: sweepOrTask, Action: onSource(c, readCancelOptions),
		Usage: "cancel a sweep or tasks of it",
		Flags: append(locationFlags(),
			flagWhere("cancel only tasks that match `EXPR`: 'lr=0.1 and state=pending'"),
			cli.Switch("yes", "cancel the newest sweep without asking", "y")),
		Description: `Asks for confirmation if you do not name a sweep.

EXAMPLES:
   run-tasks cancel run_training-1
   # cancel only one of its tasks
   run-tasks cancel run_training-1/7
   # cancel the tasks that match
   run-tasks cancel run_training-1 --where 'lr>0.1'`}
}

// cancelOptions are the options of `run-tasks cancel`.
type cancelOptions struct {
	target
	where string // of the tasks; "": all
	count int64  // of these
	yes   bool
}

func readCancelOptions(ctx *cliv2.Context) (o cancelOptions, err error) {
	o.yes = ctx.Bool("yes")
	if o.target, err = readTarget(ctx); err == nil {
		o.where, err = readWhere(ctx, o.isTask)
	}
	return o, err
}

// run cancels a sweep or a task. If none is named, it asks whether the newest sweep is meant.
func (o cancelOptions) run(ctx context.Context, src source, t *terminal) error {
	s, err := findSweep(ctx, t, src, o.sweep, false)
	if err != nil {
		return err
	}
	if o.where != "" {
		o.count, err = selected(ctx, src, t, s, o.where, "has not ended", api.CancelledStates)
		if err != nil {
			return err
		}
		t.messages.Note(whereNote(o.count))
	}
	if o.sweep == "" && !o.isTask {
		if err := o.confirm(ctx, t, s); err != nil {
			return err
		}
	}
	o.sweep = s.ID
	if err := unended(ctx, src, o.target); err != nil {
		return err
	}
	var after core.Summary
	err = src.act(ctx, func(m *api.Client) (err error) {
		switch {
		case o.isTask:
			after, err = m.CancelTask(ctx, o.sweep, o.index)
		case o.where != "":
			after, err = m.CancelTasks(ctx, o.sweep, api.Selection{Where: api.Where(o.where),
				AtMost: &o.count})
		default:
			after, err = m.Cancel(ctx, o.sweep)
		}
		return err
	})
	if err != nil {
		return err
	}
	if o.isTask {
		fmt.Fprintln(t.stdout, "cancelled "+o.text())
	}
	fmt.Fprintln(t.stdout, stateLine(after))
	return nil
}

// unended refuses a task that has ended.
func unended(ctx context.Context, src source, t target) error {
	if !t.isTask {
		return nil
	}
	r, err := src.Task(ctx, t.sweep, t.index)
	if err != nil {
		return err
	}
	if state, err := task.ParseState(r.Row.State); err == nil && state.Terminal() {
		return cli.Wrong("", "%s has already ended: %s", t.text(), state)
	}
	return nil
}

// stateLine says how a sweep stands now.
func stateLine(s core.Summary) string {
	text := s.ID + " is " + string(s.State)
	if n := s.Counts[task.Running.String()]; n > 0 {
		text += fmt.Sprintf("; %s still running", human.Plural(n, "task"))
	}
	return text
}

// confirm asks whether the newest sweep is meant. A sweep that has ended is not asked about: it
// cannot be cancelled.
func (o cancelOptions) confirm(ctx context.Context, t *terminal, s api.Sweep) error {
	if s.State != core.Open && s.State != core.Paused {
		return nil
	}
	done, _ := display.Tally(s.Summary)
	named := t.self + " cancel " + s.ID
	question := fmt.Sprintf("Cancel %s, which is %s, with %d of %s done?", s.ID, s.State, done,
		human.Plural(s.Total, "task"))
	if o.where != "" {
		question = fmt.Sprintf("Cancel %s of %s?", human.Plural(o.count, "task"), s.ID)
		named += " --where " + human.CommandLine([]string{o.where})
	}
	agreed, asked := t.agrees(ctx, o.yes, question)
	switch {
	case agreed:
		return nil
	case asked:
		fmt.Fprintln(t.stderr, "nothing was cancelled")
		return cli.Code(cli.Failed)
	}
	return cli.Wrong(named+", or add --yes to cancel the newest", "no sweep is named")
}
