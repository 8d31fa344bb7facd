package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/infra"
	"mlframework/sweep/api"
	"mlframework/sweep/result"
)

// audited is how many actions are shown unless --tail says another number.
const audited = 50

// audit prints who did what, the newest last.
func (c *command) audit(ctx context.Context, w wish, s *site.Site, cluster *infra.Cluster) error {
	client := s.Client(cluster.Dial())
	client.Waiting = func(text string) { fmt.Fprintln(c.stderr, "note: "+cli.Visible(text)) }
	defer client.Close()
	most := w.tail
	if most == 0 {
		most = audited
	}
	page, err := client.Audit(ctx, api.AuditQuery{Limit: most})
	if err != nil {
		return err
	}
	slices.Reverse(page.Actions)
	for _, a := range page.Actions {
		if w.json {
			if err := result.WriteJSONLine(c.stdout, a); err != nil {
				return err
			}
			continue
		}
		fmt.Fprintln(c.stdout, cli.Visible(actionText(a)))
	}
	return nil
}

// actionText is "2026-11-21 17:50:05  uid 1001 (says anna)  cancel train-3: refused: it has ended". The number is the kernel's word, the
// name is what a client said of itself.
func actionText(a api.Action) string {
	who := "uid ?"
	if a.UID != nil {
		who = "uid " + strconv.Itoa(*a.UID)
	}
	if a.User != "" {
		who += " (says " + a.User + ")"
	}
	text := fmt.Sprintf("%s  %s  %s %s", a.Time.Local().Format(time.DateTime), who, a.Action, a.Object)
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
