package main

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// showTask shows a task with its attempts; as JSON also every number that its newest attempt
// printed.
func showTask(ctx context.Context, p *sweepReport, index int64, asJSON bool) error {
	src, s := p.src, p.sweep
	t, err := src.Task(ctx, s.ID, index)
	if err != nil {
		return err
	}
	g := inputsOf(s, t)
	if asJSON {
		return encode(p.stdout, shownTask{t, g})
	}
	p.field("task", t.Row.ID)
	state := stateText(s.Summary, t)
	if state == task.Pending.String() {
		text, err := ahead(ctx, src, s.Summary, task.ID{Sweep: s.ID, Index: index})
		if err != nil {
			return err
		}
		state += human.Pick(len(text)+1, "", ": ") + text
	}
	p.field("state", state)
	waiting := t.Row.State == task.Pending.String() || t.Row.State == task.Claimed.String()
	if waiting && s.Record.Recipe.Needs.GPUs.Count > 0 {
		busy, err := busyGPUs(ctx, src)
		if err != nil {
			return err
		}
		for _, text := range busy {
			p.field("", text)
		}
	}
	p.field("command", human.CommandLine(t.Row.Argv))
	if len(g.shown) > 0 {
		p.field("env", variables(g.shown))
	}
	if f := g.File; f != nil {
		p.field("file", f.String())
	}
	if folder := src.folder(s.ID); folder != "" {
		p.field("files", folderText(filepath.Join(folder, strconv.FormatInt(index, 10)), began(t)))
	}
	for _, m := range t.Row.Metrics {
		p.field("metric", metricText(m))
	}
	for _, a := range t.Attempts {
		text := attemptText(a)
		if a.Attempt < t.Since {
			text += "; its values do not count for later attempts"
		}
		p.field(fmt.Sprintf("attempt %d", a.Attempt), text)
		if a.Thinned != nil {
			p.field("", thinnedText(*a.Thinned))
		}
		for _, text := range a.Unmeasured {
			p.field("", text)
		}
	}
	return nil
}

// folderText returns an outputs folder, with a note if a task has started in it and it no longer
// exists.
func folderText(folder string, started bool) string {
	if started && !exists(folder) {
		return folder + " (no longer exists)"
	}
	return folder
}

// stateText is the state of a task, with what it waits for.
func stateText(s core.Summary, t api.Task) string {
	if why := t.WaitsFor(s); why != "" {
		return t.Row.State + ": " + why
	}
	return t.Row.State
}

// metricText is "acc = 0.9 (step 2)".
func metricText(m metric.FinalValue) string {
	text := m.Name + " = " + human.Number(m.Value)
	if m.Span != nil {
		text += " (" + m.Span.String() + ")"
	}
	return text
}

// thinnedText is "5,803 of 100,000 values are kept for curves, at even distances; metrics are of
// all values".
func thinnedText(t metric.Thinned) string {
	text := fmt.Sprintf("%s of %s values are kept for curves, at even distances; metrics are of "+
		"all values", human.Thousands(int(t.Kept)), human.Thousands(int(t.Samples)))
	if t.Ignored > 0 {
		text += fmt.Sprintf(", but for %s of metrics after the first %s", human.Thousands(int(t.Ignored)),
			human.Thousands(metric.MaxMetrics))
	}
	return text
}

// attemptText is "2026-11-21 10:00:00 on gpu1:0 with GPU-5b3c2a1f, 12.3s, error: exit code 1", or
// "handed to w2, lost: its worker w2 was silent for 30s; whether it began is not known".
func attemptText(a api.Attempt) string {
	text := "handed to " + a.Worker
	if a.Started != nil && a.Host != nil && a.Slot != nil {
		started := a.Started.In(timeZone()).Format(zoned)
		text = fmt.Sprintf("%s on %s:%d", started, *a.Host, *a.Slot)
	}
	for i, g := range a.GPUs {
		text += human.Pick(i+1, " with ", ", ") + human.GPU(g.UUID)
	}
	if a.Resumed {
		text += ", found outputs of an earlier attempt"
	}
	if a.Class != nil {
		if a.Duration != nil && *a.Duration > 0 {
			text += ", " + human.Duration(*a.Duration)
		}
		text += ", " + string(*a.Class)
		if a.Reason != nil && *a.Reason != string(*a.Class) {
			text += ": " + human.WithFrame(*a.Reason, a.Frame)
		}
		if a.Stdout != nil && a.Stdout.Truncated || a.Stderr != nil && a.Stderr.Truncated {
			text += ", output cut"
		}
	}
	if a.Superseded {
		text += ", superseded"
	}
	return text
}
