package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// show is `run-tasks show`: a sweep, or a task with its attempts.
func (c *command) show(ctx *cliv2.Context) error {
	arg, err := argument(ctx)
	if err != nil {
		return err
	}
	t, err := parseTarget(arg)
	if err != nil {
		return err
	}
	src, s, err := c.openSweep(ctx, t.sweep, !t.isTask && !ctx.Bool("json"))
	if err != nil {
		return err
	}
	defer src.close()
	c.warnMissing(ctx.Context, src)
	if s.Record.Recipe.GPUs.Count > 0 {
		addWaits(ctx.Context, src, &s.Summary)
	}
	switch {
	case t.isTask:
		return c.showTask(ctx.Context, src, s, t.index, ctx.Bool("json"))
	case ctx.Bool("json"):
		return c.showSweepJSON(ctx.Context, src, s)
	}
	return c.showSweep(ctx.Context, src, s)
}

// shownSweep is a sweep as `show --json` has it.
type shownSweep struct {
	core.Summary
	Spaces    []spaceView   `json:"spaces"`    // of the submission, then of each extension
	Overrides []string      `json:"overrides"` // of the command line, as words
	GPUs      *task.GPUs    `json:"gpus"`      // of each task; null: none
	Failures  []failureLine `json:"failures"`
}

func (c *command) showSweepJSON(ctx context.Context, src source, s api.Sweep) error {
	shown := shownSweep{Summary: s.Summary, Overrides: overrideWords(s.Record),
		GPUs: gpusOrNull(s.Record), Failures: []failureLine{}}
	for _, part := range append([]*space.Space{s.Record.Space}, s.Record.Extensions...) {
		shown.Spaces = append(shown.Spaces, viewOf(part))
	}
	if _, failed := display.Tally(s.Summary); failed > 0 {
		f, err := src.Failures(ctx, s.ID)
		if err != nil {
			return err
		}
		shown.Failures = c.failureLines(f)
	}
	return encode(c.stdout, shown)
}

func (c *command) showSweep(ctx context.Context, src source, s api.Sweep) error {
	r := s.Record
	state := string(s.State)
	if s.Reason != nil {
		state += ": " + *s.Reason
	}
	c.field("sweep", s.ID)
	c.field("state", state)
	if s.State == core.Paused {
		c.field("", "to continue: "+resumeCommand(s.Summary, c.self))
	}
	for _, text := range []*string{s.Waits, s.Silent} {
		if text != nil {
			c.field("", *text)
		}
	}
	c.field("tasks", outcomeText(s.Summary))
	if s.Priority != 0 {
		c.field("priority", strconv.Itoa(s.Priority))
	}
	c.field("submitted", s.Submitted.In(timeZone()).Format(zoned))
	c.field("project", r.Project+", revision "+r.Recipe.Revision)
	for _, image := range r.Images.Names() {
		c.field("image", image+" on "+strings.Join(r.Images[image], ", "))
	}
	if need := r.Recipe.Needs; !need.None() {
		c.field("needs", core.NeedsText(need))
	}
	c.field("command", human.CommandLine(r.Recipe.ExpandCommand(task.PlaceholderValues{}, nil)))
	c.describe(r.Space)
	if r.Overrides != nil {
		c.field("overrides", typed(r.Overrides.Arguments()))
	}
	for _, e := range r.Extensions {
		c.field("extended", tasksOf(r.Space, e.Len()))
		c.describe(e)
	}
	for i, e := range r.Earlier {
		revision, settings := r.Recipe.Revision, r.Settings()
		if i+1 < len(r.Earlier) {
			revision, settings = r.Earlier[i+1].Revision, r.Earlier[i+1].Settings
		}
		text := e.Until.In(timeZone()).Format(zoned)
		if revision != e.Revision {
			text += ", revision " + e.Revision + " before"
		}
		for _, change := range e.Settings.Changes(settings) {
			text += ", " + change.String()
		}
		c.field("changed", text)
	}
	if !r.Objective.IsZero() {
		c.field("objective", r.Objective.String())
	}
	best, err := bestRows(ctx, src, s, 1)
	if err != nil {
		return err
	}
	for _, b := range best {
		v, _ := b.Metrics.Get(r.Objective.Metric)
		text := b.ID + " " + r.Objective.Metric + "=" + human.Number(v)
		if len(r.Repeats()) > 0 {
			text += ", the best single task; " + c.self + " results " + s.ID + " has the best means"
		}
		c.field("best", text)
	}
	c.showNotices(r)
	if folder := src.folder(s.ID); folder != "" {
		c.field("files", folderText(folder, s.Counts[task.Succeeded.String()] > 0))
	}
	if err := c.runningNow(ctx, src, s); err != nil {
		return err
	}
	if err := c.waiting(ctx, src, s); err != nil {
		return err
	}
	if err := c.failures(ctx, src, s); err != nil {
		return err
	}
	c.warnUnranked(s)
	return nil
}

// describe prints the parameters of a space and its rules.
func (c *command) describe(s *space.Space) {
	for _, line := range spaceLines(s) {
		c.field("", line)
	}
}

// runningShown is of how many running tasks a sweep's description has the newest metrics.
const runningShown = 5

// runningNow shows the newest metrics of running tasks, the first of them that have any.
func (c *command) runningNow(ctx context.Context, src source, s api.Sweep) error {
	if s.Counts[task.Running.String()] == 0 {
		return nil
	}
	page, err := src.Tasks(ctx, s.ID, api.Query{States: []task.State{task.Running},
		Limit: runningShown})
	for _, r := range page.Tasks {
		if len(r.Metrics) > 0 {
			c.field("running", r.ID+display.MetricsText(r.Metrics))
		}
	}
	return err
}

// waiting tells of tasks that only a worker can run which is not there, the first of them.
func (c *command) waiting(ctx context.Context, src source, s api.Sweep) error {
	if len(s.Record.Workers) == 0 {
		return nil
	}
	page, err := src.Tasks(ctx, s.ID, api.Query{States: []task.State{task.Pending}, Limit: 3})
	if err != nil {
		return err
	}
	for _, r := range page.Tasks {
		if r.Reason != "" {
			c.field("", r.ID+" "+r.Reason)
		}
	}
	return nil
}

// field prints one line of a description.
func (c *command) field(name, value string) {
	fmt.Fprintf(c.stdout, "%-10s  %s\n", name, cli.Visible(value))
}
