package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/task"
)

// logs is `run-tasks logs`: what a task printed, each stream to its own.
func (c *command) logs(ctx *cliv2.Context) error {
	arg, err := argument(ctx)
	if err != nil {
		return err
	}
	if ctx.Int("attempt") < 0 {
		return cli.Wrong("", "--attempt must not be negative")
	}
	c.patient = ctx.Bool("follow")
	src, _, t, err := c.readingTask(ctx, arg, "logs")
	if err != nil {
		return err
	}
	defer src.close()
	if err := hasAttempt(t, ctx.Int("attempt")); err != nil {
		return err
	}
	id, err := task.ParseID(t.Row.ID)
	if err != nil {
		return err
	}
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	return src.logs(work, printed{id: id, attempt: ctx.Int("attempt"), follow: ctx.Bool("follow"),
		stdout: visibly(c.stdout), stderr: visibly(c.stderr)})
}

// readingTask opens the source of a command about one task, whose sweep needs no index when it has no other. Example is the
// command as hints show it.
func (c *command) readingTask(ctx *cliv2.Context, arg, example string) (src source, s api.Sweep, t api.Task, err error) {
	at, err := parseTarget(arg)
	if err != nil {
		return nil, s, t, err
	}
	if src, s, err = c.reading(ctx, at.sweep, false); err != nil {
		return nil, s, t, err
	}
	switch {
	case !at.isTask && s.Total > 1:
		err = cli.Wrong(fmt.Sprintf("%s %s %s/0, for example", c.self, example, s.ID), "%s has %s: which one?", s.ID, plural(s.Total, "task"))
	case !at.isTask:
		at.index = s.Record.Ranges.At(0)
		fallthrough
	default:
		t, err = src.Task(ctx.Context, s.ID, at.index)
	}
	if err != nil {
		_ = src.close() // the task is what was asked for
	}
	return src, s, t, err
}

// hasAttempt refuses an attempt that a task does not have; 0 is the newest, whatever its number.
func hasAttempt(t api.Task, attempt int) error {
	var numbers []int
	for _, a := range t.Attempts {
		if !slices.Contains(numbers, a.Attempt) {
			numbers = append(numbers, a.Attempt)
		}
	}
	if attempt == 0 || slices.Contains(numbers, attempt) {
		return nil
	}
	switch last := len(numbers) - 1; last {
	case -1:
		return cli.Wrong("", "%s has no attempt %d: none has begun", t.Row.ID, attempt)
	case 0:
		return cli.Wrong("", "%s has no attempt %d: its only one is attempt %d", t.Row.ID, attempt, numbers[0])
	default:
		all := strings.Trim(fmt.Sprint(numbers[:last]), "[]")
		return cli.Wrong("", "%s has no attempt %d: it has attempts %s and %d", t.Row.ID, attempt, strings.ReplaceAll(all, " ", ", "), numbers[last])
	}
}
