package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

// audited is how many actions are shown unless --tail says another number.
const audited = 50

// audit prints who did what, the newest last: to the master, and to the cluster.
func (c *command) audit(ctx context.Context, w wish, s *site.Site, cluster *infra.Cluster) error {
	client := s.Client(cluster.Dial())
	client.Waiting = func(text string) { fmt.Fprintln(c.stderr, "note: "+cli.Visible(text)) }
	defer client.Close()
	most := w.tail
	if most == 0 {
		most = audited
	}
	actions, err := newest(ctx, most, client.Audit)
	if err != nil {
		return err
	}
	lines, err := cluster.Journal(ctx, most)
	if err != nil {
		fmt.Fprintf(c.stderr, "note: changes of the cluster are not shown: %s\n", cli.Visible(err.Error()))
	}
	for _, a := range merged(actions, lines, most) {
		if w.json {
			if err := table.WriteJSONLine(c.stdout, a); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(c.stdout, auditLine(a))
	}
	return nil
}

// newest reads the newest actions, at most so many, page by page.
func newest(ctx context.Context, most int,
	read func(context.Context, api.AuditQuery) (api.AuditPage, error),
) (all []core.AuditEntry, err error) {
	for after := ""; len(all) < most; {
		page, err := read(ctx, api.AuditQuery{Limit: most - len(all), After: after})
		if err != nil {
			return nil, err
		}
		all = append(all, page.Actions...)
		if after = page.Next; after == "" {
			break
		}
	}
	return all, nil
}

// merged puts what the master has, the newest first, and lines of the audit beside it in order, the
// newest last: at most so many. A line that cannot be read is left out, as the end of one that was
// cut off.
func merged(all []core.AuditEntry, lines []string, most int) []core.AuditEntry {
	all = slices.Clone(all)
	slices.Reverse(all)
	for _, line := range lines {
		var a core.AuditEntry
		if json.Unmarshal([]byte(line), &a) == nil && !a.Time.IsZero() {
			a.ID = 0
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b core.AuditEntry) int { return a.Time.Compare(b.Time) })
	return all[max(0, len(all)-most):]
}

// auditLine is actionText as a terminal may show it.
func auditLine(a core.AuditEntry) string { return cli.Visible(actionText(a)) }

// actionText is "2026-11-21 17:50:05 uid 1001 (says anna) cancel train-3: refused: it has ended".
// The number is the kernel's word, the name is what a client said of itself.
func actionText(a core.AuditEntry) string {
	who := "uid ?"
	if a.UID != nil {
		who = "uid " + strconv.Itoa(*a.UID)
	}
	if a.User != "" {
		who += " (says " + a.User + ")"
	}
	text := fmt.Sprintf("%s  %s  %s %s", a.Time.Local().Format(time.DateTime+" MST"), who, a.Action,
		a.Object)
	if a.Detail != "" {
		text += " " + a.Detail
	}
	if a.Outcome != "done" {
		text += ": " + a.Outcome
	}
	if a.Reason != nil {
		text += ": " + *a.Reason
	}
	return text
}
