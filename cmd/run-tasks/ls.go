package main

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/core"
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

// listText shows priorities where there are any.
func (c *command) listText(sweeps []core.Summary) error {
	ranked := slices.ContainsFunc(sweeps, func(s core.Summary) bool { return s.Priority != 0 })
	columns := []string{"SWEEP", "STATE", "TASKS", "DONE", "FAILED", "SUBMITTED", "TOOK"}
	if ranked {
		columns = append(columns, "PRIORITY")
	}
	t := cli.NewTable(columns...)
	for _, s := range sweeps {
		done, failed := display.Tally(s)
		took := ""
		if s.Ended != nil { // while it runs, and after a kill, Ran is that of its last change
			took = ranFor(s).Round(time.Second).String()
		}
		row := []string{s.ID, string(s.State), fmt.Sprint(s.Total), fmt.Sprint(done),
			fmt.Sprint(failed), s.Submitted.In(timeZone()).Format(time.DateTime), took}
		if ranked {
			row = append(row, strconv.Itoa(s.Priority))
		}
		t.Add(row...)
	}
	return t.Write(c.stdout)
}
