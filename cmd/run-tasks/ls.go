package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/task"
)

func listCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "ls", Usage: "list sweeps", Action: onSource(c, readListOptions),
		Flags: append(locationFlags(), flagJSON()),
		Description: `EXAMPLES:
   run-tasks ls
   # the sweeps of this machine, as JSON
   run-tasks ls --local --json`}
}

// listOptions are the options of `run-tasks ls`.
type listOptions struct{ json bool }

func readListOptions(ctx *cliv2.Context) (listOptions, error) {
	if ctx.NArg() > 0 {
		return listOptions{}, stray(ctx.Args().First())
	}
	return listOptions{json: ctx.Bool("json")}, nil
}

// run lists the sweeps of a source, the newest first.
func (o listOptions) run(ctx context.Context, src source, t *terminal) error {
	sweeps, err := src.Sweeps(ctx, "", 0)
	if err != nil {
		return err
	}
	slices.Reverse(sweeps)
	all := make([]*core.Summary, len(sweeps))
	for i := range sweeps {
		all[i] = &sweeps[i]
	}
	addWaits(ctx, src, all...)
	t.warn(healthWarnings(ctx, src)...)
	switch {
	case len(sweeps) == 0:
		fmt.Fprintln(t.stderr, "no sweeps yet")
		return nil
	case o.json:
		for _, s := range sweeps {
			if err := encode(t.stdout, s); err != nil {
				return err
			}
		}
		return nil
	}
	for _, line := range sweepTable(sweeps).Lines(display.Width(t.stdout)) {
		fmt.Fprintln(t.stdout, line)
	}
	t.warn(damagedWarnings(sweeps)...)
	return nil
}

// sweepTable has columns for cancelled tasks and priorities if there are any.
func sweepTable(sweeps []core.Summary) *cli.Table {
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
			took = s.RanFor().Round(time.Second).String()
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
	return t
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
	text := human.Size(bytes)
	if whole, rest, ok := strings.Cut(text, "."); ok && len(whole) > 1 {
		text = whole + rest[1:] // the digit is not worth its room
	}
	return text
}

// cancelled returns how many tasks of a sweep were cancelled.
func cancelled(s core.Summary) int64 { return s.Counts[task.Cancelled.String()] }
