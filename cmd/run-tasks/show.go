package main

import (
	"context"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/project"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

func showCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "show", ArgsUsage: sweepOrTask, Action: onSource(c, readShowOptions),
		Usage: "show a sweep, or a task with its attempts",
		Flags: append(locationFlags(), flagJSON()),
		Description: `The JSON of a sweep also lists its failures, similar ones grouped.

EXAMPLES:
   # the newest sweep
   run-tasks show
   # one task: its command, attempts and metrics
   run-tasks show run_training-1/7`}
}

// showOptions are the options of `run-tasks show`.
type showOptions struct {
	target
	json bool
}

func readShowOptions(ctx *cliv2.Context) (o showOptions, err error) {
	o.json = ctx.Bool("json")
	o.target, err = readTarget(ctx)
	return o, err
}

// run shows a sweep, or a task with its attempts.
func (o showOptions) run(ctx context.Context, src source, t *terminal) error {
	s, err := findSweep(ctx, t, src, o.sweep, !o.isTask && !o.json)
	if err != nil {
		return err
	}
	t.warn(healthWarnings(ctx, src)...)
	if s.Record.Recipe.GPUs.Count > 0 {
		addWaits(ctx, src, &s.Summary)
	}
	r := &sweepReport{terminal: t, src: src, sweep: s}
	switch {
	case o.isTask:
		return showTask(ctx, r, o.index, o.json)
	case o.json:
		return r.writeJSON(ctx)
	}
	return r.show(ctx)
}

// shownSweep is a sweep as `show --json` has it.
type shownSweep struct {
	core.Summary
	Spaces    []spaceView   `json:"spaces"`    // of the submission, then of each extension
	Overrides []string      `json:"overrides"` // of the command line, as words
	GPUs      *task.GPUs    `json:"gpus"`      // of each task; null: none
	Failures  []failureLine `json:"failures"`
}

// writeJSON prints the sweep as JSON.
func (p *sweepReport) writeJSON(ctx context.Context) error {
	s := p.sweep
	shown := shownSweep{Summary: s.Summary, Overrides: overrideWords(s.Record),
		GPUs: gpusOrNull(s.Record), Failures: []failureLine{}}
	for _, part := range append([]*space.Space{s.Record.Space}, s.Record.Extensions...) {
		shown.Spaces = append(shown.Spaces, viewOf(part))
	}
	if _, failed := display.Tally(s.Summary); failed > 0 {
		f, err := p.src.Failures(ctx, s.ID)
		if err != nil {
			return err
		}
		shown.Failures = failureLines(f, p.self)
	}
	return encode(p.stdout, shown)
}

// show describes the sweep.
func (p *sweepReport) show(ctx context.Context) error {
	s, r := p.sweep, p.sweep.Record
	state := string(s.State)
	if s.Reason != nil {
		state += ": " + *s.Reason
	}
	p.field("sweep", s.ID)
	p.field("state", state)
	if s.State == core.Paused {
		p.field("", "to continue: "+resumeLine(s.Summary, p.self))
	}
	for _, text := range []*string{s.Waits, s.Silent} {
		if text != nil {
			p.field("", *text)
		}
	}
	p.field("tasks", outcomeText(s.Summary))
	if s.Priority != 0 {
		p.field("priority", strconv.Itoa(s.Priority))
	}
	p.field("submitted", s.Submitted.In(timeZone()).Format(zoned))
	p.field("project", r.Project+", revision "+r.Recipe.Revision)
	for _, image := range r.Images.Names() {
		p.field("image", image+" on "+strings.Join(r.Images[image], ", "))
	}
	if need := r.Recipe.Needs; !need.None() {
		p.field("needs", core.NeedsText(need))
	}
	p.field("command", human.CommandLine(r.Recipe.ExpandCommand(task.PlaceholderValues{}, nil)))
	p.describe(r.Space)
	if r.Overrides != nil {
		p.field("overrides", project.Words(r.Overrides.Arguments()))
	}
	for _, e := range r.Extensions {
		p.field("extended", project.TasksOf(r.Space, e.Len()))
		p.describe(e)
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
		p.field("changed", text)
	}
	if !r.Objective.IsZero() {
		p.field("objective", r.Objective.String())
	}
	best, err := bestRows(ctx, p.src, s, 1)
	if err != nil {
		return err
	}
	for _, b := range best {
		v, _ := b.Metrics.Get(r.Objective.Metric)
		text := b.ID + " " + r.Objective.Metric + "=" + human.Number(v)
		if len(r.Repeats()) > 0 {
			text += ", the best single task; " + p.self + " results " + s.ID + " has the best means"
		}
		p.field("best", text)
	}
	for _, n := range noticeFields(r) {
		p.field(n[0], n[1])
	}
	if folder := p.src.folder(s.ID); folder != "" {
		p.field("files", folderText(folder, s.Counts[task.Succeeded.String()] > 0))
	}
	if err := p.running(ctx); err != nil {
		return err
	}
	if err := p.waiting(ctx); err != nil {
		return err
	}
	if err := p.failures(ctx); err != nil {
		return err
	}
	warnMetrics(p.terminal, s)
	return nil
}

// describe prints the parameters of a space and its rules.
func (p *sweepReport) describe(s *space.Space) {
	for _, line := range spaceLines(s) {
		p.field("", line)
	}
}

// runningShown is of how many running tasks a sweep's description has the newest metrics.
const runningShown = 5

// running shows the newest metrics of running tasks, the first of them that have any.
func (p *sweepReport) running(ctx context.Context) error {
	s := p.sweep
	if s.Counts[task.Running.String()] == 0 {
		return nil
	}
	page, err := p.src.Tasks(ctx, s.ID, api.Query{States: []task.State{task.Running},
		Limit: runningShown})
	for _, r := range page.Tasks {
		if len(r.Metrics) > 0 {
			p.field("running", r.ID+display.MetricsText(r.Metrics))
		}
	}
	return err
}

// waiting tells of tasks that only a worker can run which is not there, the first of them.
func (p *sweepReport) waiting(ctx context.Context) error {
	s := p.sweep
	if len(s.Record.Workers) == 0 {
		return nil
	}
	page, err := p.src.Tasks(ctx, s.ID, api.Query{States: []task.State{task.Pending}, Limit: 3})
	if err != nil {
		return err
	}
	for _, r := range page.Tasks {
		if r.Reason != "" {
			p.field("", r.ID+" "+r.Reason)
		}
	}
	return nil
}
