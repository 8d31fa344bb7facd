package main

import (
	"context"
	"fmt"
	"strings"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

// maxAhead is up to how many pending tasks of its own sweep are counted ahead of a task.
const maxAhead = 1000

// ahead returns which tasks start before a pending task that has to wait for nothing else. It
// returns "" if nothing is ahead of it.
func ahead(ctx context.Context, src source, s core.Summary, t task.ID) (string, error) {
	all, err := src.Sweeps(ctx, "", 0)
	if err != nil {
		return "", err
	}
	page, err := src.Tasks(ctx, s.ID,
		api.Query{States: []task.State{task.Pending}, Limit: maxAhead})
	if err != nil {
		return "", err
	}
	before := int64(0)
	for _, row := range page.Tasks {
		if id, err := task.ParseID(row.ID); err != nil || id.Index >= t.Index {
			return aheadText(s, before, "", all), nil
		}
		before++
	}
	if page.Next == "" {
		return aheadText(s, before, "", all), nil // the task has just started
	}
	return aheadText(s, before, "more than ", all), nil
}

// aheadText is "waits for 2 running tasks of train-1, 12 tasks of tune-2 (priority 5) and 3 of its
// own sweep; takes turns with echo-4". Before is how many pending tasks of the sweep itself are
// ahead; prefix says of what kind that number is.
func aheadText(s core.Summary, before int64, prefix string, all []core.Summary) string {
	var parts, turns []string
	for _, other := range all {
		if n := other.Counts[task.Running.String()]; n > 0 && other.State != core.Finished {
			parts = append(parts, human.Plural(n, "running task")+" of "+other.ID)
		}
	}
	for _, other := range all {
		n := other.Counts[task.Pending.String()] + waitsAtWorker(other)
		switch {
		case other.ID == s.ID || other.State != core.Open || n == 0 || other.Priority < s.Priority:
		case other.Priority > s.Priority:
			parts = append(parts, fmt.Sprintf("%s of %s (priority %d)", human.Plural(n, "task"), other.ID,
				other.Priority))
		default:
			turns = append(turns, other.ID)
		}
	}
	if before += waitsAtWorker(s); before > 0 {
		parts = append(parts, prefix+human.Plural(before, "earlier task")+" of "+s.ID)
	}
	text := ""
	if len(parts) > 0 {
		text = "waits for " + strings.Join(parts, ", ")
	}
	if len(turns) > 0 {
		text += human.Pick(len(text)+1, "", "; ") + "takes turns with " + strings.Join(turns, ", ")
	}
	return text
}

// waitsAtWorker returns how many tasks of a sweep were handed to workers and have not started.
func waitsAtWorker(s core.Summary) int64 {
	return s.Counts[task.Claimed.String()] + s.Counts[task.Queued.String()]
}
