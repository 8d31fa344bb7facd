package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// list is `run-tasks ls`.
func (c *command) list(ctx *cliv2.Context) error {
	if ctx.NArg() > 0 {
		return stray(ctx.Args().First())
	}
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer src.close()
	sweeps, err := src.Sweeps(ctx.Context, "", 0)
	if err != nil {
		return err
	}
	if len(sweeps) == 0 {
		c.warnMissing(ctx.Context, src)
		fmt.Fprintln(c.stderr, "no sweeps yet")
		return nil
	}
	slices.Reverse(sweeps)
	all := make([]*core.Summary, len(sweeps))
	for i := range sweeps {
		all[i] = &sweeps[i]
	}
	addWaits(ctx.Context, src, all...)
	c.warnMissing(ctx.Context, src)
	if ctx.Bool("json") {
		return c.listJSON(sweeps)
	}
	return errors.Join(c.listText(sweeps), c.warnDamaged(sweeps))
}

// warnDamaged says of which sweeps only a part could be listed.
func (c *command) warnDamaged(sweeps []core.Summary) error {
	for _, s := range sweeps {
		if s.Revision == "" && s.Reason != nil {
			text := fmt.Sprintf("WARNING: %s: %s", s.ID, *s.Reason)
			if _, err := fmt.Fprintln(c.stderr, cli.Visible(text)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *command) listJSON(sweeps []core.Summary) error {
	for _, s := range sweeps {
		if err := encode(c.stdout, s); err != nil {
			return err
		}
	}
	return nil
}

// listText shows cancelled tasks and priorities where there are any.
func (c *command) listText(sweeps []core.Summary) error {
	ranked := slices.ContainsFunc(sweeps, func(s core.Summary) bool { return s.Priority != 0 })
	some := slices.ContainsFunc(sweeps, func(s core.Summary) bool { return cancelled(s) > 0 })
	columns := []string{"SWEEP", "STATE", "TASKS", "SUCCEEDED", "FAILED", "SUBMITTED", "TOOK", "SIZE"}
	if some {
		columns = slices.Insert(columns, 5, "CANCELLED")
	}
	if ranked {
		columns = append(columns, "PRIORITY")
	}
	t := cli.NewTable(columns...)
	for _, s := range sweeps {
		_, failed := display.Tally(s)
		took := ""
		if s.Ended != nil { // while it runs, and after a kill, Ran is that of its last change
			took = ranFor(s).Round(time.Second).String()
		}
		state := string(s.State)
		if s.Waits != nil {
			state += ", waits"
		}
		if s.Silent != nil {
			state += ", no heartbeat"
		}
		row := []string{s.ID, state, fmt.Sprint(s.Total),
			fmt.Sprint(s.Counts[task.Succeeded.String()]), fmt.Sprint(failed),
			dateText(s.Submitted), took, sizeText(s.Bytes)}
		if some {
			row = slices.Insert(row, 5, fmt.Sprint(cancelled(s)))
		}
		if ranked {
			row = append(row, strconv.Itoa(s.Priority))
		}
		t.Add(row...)
	}
	t.OmitEmpty("SIZE")
	for _, line := range t.Lines(display.Width(c.stdout)) {
		fmt.Fprintln(c.stdout, line)
	}
	return nil
}

// recentDates is how old a date is, at most, that is shown with its time of day.
const recentDates = 180 * 24 * time.Hour

// dateText is a time as ls(1) shows it.
func dateText(t time.Time) string {
	if age := time.Since(t); age > recentDates || age < -recentDates {
		return t.In(timeZone()).Format("Jan _2  2006")
	}
	return t.In(timeZone()).Format("Jan _2 15:04")
}

// sizeText is the size of outputs; "": it is not known.
func sizeText(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	text := size(bytes)
	if whole, rest, ok := strings.Cut(text, "."); ok && len(whole) > 1 {
		text = whole + rest[1:] // the digit is not worth its room
	}
	return text
}

// cancelled returns how many tasks of a sweep were cancelled.
func cancelled(s core.Summary) int64 { return s.Counts[task.Cancelled.String()] }
