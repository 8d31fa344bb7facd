package main

import (
	"fmt"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/core"
)

// pruneRules say what prune removes.
type pruneRules struct {
	old bool          // sweeps that ended at least age ago
	age time.Duration // 0: all that have ended
}

// prunePlan is the sweeps that prune removes.
type prunePlan []core.Summary

// planPrune selects what is removed of the sweeps of a store, now.
func planPrune(rules pruneRules, all []core.Summary, now time.Time) (plan prunePlan) {
	for _, s := range all {
		if rules.old && s.Ended != nil && !runs(s) && now.Sub(*s.Ended) >= rules.age {
			plan = append(plan, s)
		}
	}
	return plan
}

func (p prunePlan) ids() []string { return idsOf(p) }

// bytes is the size of the outputs that are removed, as far as it is known.
func (p prunePlan) bytes() (n int64) {
	for _, s := range p {
		n += s.Bytes
	}
	return n
}

// lines is a table of what is removed.
func (p prunePlan) lines() []string {
	if len(p) == 0 {
		return nil
	}
	t := cli.NewTable("SWEEP", "TASKS", "ENDED", "SIZE")
	for _, s := range p {
		t.Add(s.ID, fmt.Sprint(s.Total), dateText(*s.Ended), sizeText(s.Bytes))
	}
	return t.Lines(0)
}

// text is "2 sweeps (1.2 GB) and 3 revisions of the project's code".
func (p prunePlan) text(revisions int) string {
	var parts []string
	if n := len(p); n > 0 {
		text := plural(int64(n), "sweep")
		if bytes := p.bytes(); bytes > 0 {
			text += " (" + sizeText(bytes) + ")"
		}
		parts = append(parts, text)
	}
	if revisions > 0 {
		parts = append(parts, revisionsText(revisions))
	}
	return strings.Join(parts, " and ")
}
