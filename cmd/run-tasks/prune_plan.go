package main

import (
	"fmt"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
)

// pruneRules say what prune removes.
type pruneRules struct {
	old bool          // only sweeps that ended at least age ago
	age time.Duration // 0: all that have ended
	// Outputs of tasks are removed, instead of sweeps:
	failed   bool // of those that failed
	keepBest int  // of all but the best of each sweep; 0: of none
}

// ofTasks reports whether outputs of tasks are removed, and not sweeps.
func (r pruneRules) ofTasks() bool { return r.failed || r.keepBest > 0 }

// considers reports whether something of a sweep may be removed.
func (r pruneRules) considers(s core.Summary, now time.Time) bool {
	return (r.old || r.ofTasks()) && s.Ended != nil && !runs(s) && now.Sub(*s.Ended) >= r.age
}

// prunable is a sweep as prune looks at it.
type prunable struct {
	core.Summary
	ranked bool           // it has an objective
	tasks  []prunableTask // that have outputs, if outputs of tasks are removed
}

type prunableTask struct {
	index        int64
	failed, best bool
}

// prunedSweep is what prune removes of a sweep.
type prunedSweep struct {
	core.Summary
	tasks core.Ranges // whose outputs are removed; empty: all of the sweep is
	bytes int64       // of the outputs, as far as that is known
}

// prunePlan is what prune removes.
type prunePlan []prunedSweep

// planPrune selects what is removed of some sweeps, now.
func planPrune(rules pruneRules, all []prunable, now time.Time) (plan prunePlan) {
	for _, s := range all {
		if !rules.considers(s.Summary, now) {
			continue
		}
		if !rules.ofTasks() {
			plan = append(plan, prunedSweep{s.Summary, nil, s.Bytes})
			continue
		}
		var tasks core.Ranges
		for _, t := range s.tasks {
			if rules.failed && t.failed || rules.keepBest > 0 && s.ranked && !t.best {
				tasks.Add(t.index)
			}
		}
		if len(tasks) > 0 {
			plan = append(plan, prunedSweep{Summary: s.Summary, tasks: tasks})
		}
	}
	return plan
}

func (p prunePlan) ids() (ids []string) {
	for _, s := range p {
		ids = append(ids, s.ID)
	}
	return ids
}

// removed are the ids of the sweeps that are removed whole.
func (p prunePlan) removed() (ids []string) {
	for _, s := range p {
		if len(s.tasks) == 0 {
			ids = append(ids, s.ID)
		}
	}
	return ids
}

// lines is a table of what is removed.
func (p prunePlan) lines() []string {
	if len(p) == 0 {
		return nil
	}
	t := cli.NewTable("SWEEP", "TASKS", "ENDED", "SIZE")
	for _, s := range p {
		tasks := fmt.Sprint(s.Total)
		if n := s.tasks.Len(); n > 0 {
			tasks = fmt.Sprintf("%d of %d", n, s.Total)
		}
		t.Add(s.ID, tasks, dateText(*s.Ended), sizeText(s.bytes))
	}
	return t.Lines(0)
}

// text is "2 sweeps (1.2 GB) and 3 revisions of the project's code", or begins with "outputs of 9
// tasks in 2 sweeps (1.2 GB)".
func (p prunePlan) text(revisions int) string {
	var parts []string
	if n := len(p); n > 0 {
		text, tasks, bytes := human.Plural(int64(n), "sweep"), int64(0), int64(0)
		for _, s := range p {
			tasks += s.tasks.Len()
			bytes += s.bytes
		}
		if tasks > 0 {
			text = "outputs of " + human.Plural(tasks, "task") + " in " + text
		}
		if bytes > 0 {
			text += " (" + sizeText(bytes) + ")"
		}
		parts = append(parts, text)
	}
	if revisions > 0 {
		parts = append(parts, revisionsText(revisions))
	}
	return strings.Join(parts, " and ")
}
