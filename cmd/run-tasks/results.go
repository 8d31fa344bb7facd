package main

import (
	"errors"
	"fmt"
	"sync"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/table"
)

// results is `run-tasks results`. The table for people has the best first, unless an order is asked
// for, and only what has begun; the others have every task. Where the sweep repeats its points, and
// where it is asked for, they are summarized.
func (c *command) results(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	if ctx.Bool("csv") && ctx.Bool("json") {
		return cli.Wrong("", "--csv and --json are mutually exclusive")
	}
	if ctx.Int("top") < 0 {
		return cli.Wrong("", "--top must not be negative")
	}
	if err := checkGroups(ctx); err != nil {
		return err
	}
	if ctx.Bool("failures") {
		return c.resultsFailures(ctx, id)
	}
	text := !ctx.Bool("csv") && !ctx.Bool("json")
	src, s, err := c.openSweep(ctx, id, false)
	if err != nil {
		return err
	}
	defer src.close()
	if ctx.Bool("reread") || namesMetrics(ctx) {
		if err := c.reread(ctx, src, s); err != nil {
			return err
		}
		if s, err = src.Sweep(ctx.Context, s.ID, text); err != nil {
			return err
		}
	}
	q := api.Query{Where: ctx.String("where"), Sort: ctx.String("sort"), Top: ctx.Int("top"),
		Issued: text}
	if groups, ok := grouping(ctx, s); ok {
		groups.Query = q
		return c.resultsGroups(ctx, src, s, groups)
	}
	if ctx.IsSet("metrics") {
		return cli.Wrong("", "--metrics is for groups: add --group-by COLUMN,...")
	}
	q.Best = q.Sort == "" && (text || q.Top > 0)
	if q.Best && q.Top > 0 && s.Record.Objective.IsZero() {
		c.print([]string{s.ID + " has no objective: --top shows the first of its tasks by their " +
			"numbers; --sort COLUMN orders them"})
	}
	switch {
	case ctx.Bool("csv"):
		return src.Results(ctx.Context, s.ID, q, api.CSV, c.stdout)
	case ctx.Bool("json"):
		return src.Results(ctx.Context, s.ID, q, api.JSON, c.stdout)
	}
	return c.resultsText(ctx, q, src, s)
}

func (c *command) resultsText(ctx *cliv2.Context, q api.Query, src source,
	s api.Sweep) (err error) {
	aside := &spool{}
	defer func() { err = errors.Join(err, aside.close()) }()
	options := tableOptions(c.stdout, s)
	// a table of all keeps its rows until the last: it can rank them itself
	if q.Best && q.Top == 0 {
		q.Best = false
		options.Order = table.NewRanking(s.Record.Objective)
	}
	table := table.NewTextWriter(options, aside)
	if err := src.Rows(ctx.Context, s.ID, q, table.Write); err != nil {
		return err
	}
	var checked api.Sweep
	var unchecked error
	var checks sync.WaitGroup // while this process makes the lines
	checks.Go(func() { checked, unchecked = src.Sweep(ctx.Context, s.ID, true) })
	if table.Rows() == 0 {
		fmt.Fprintln(c.stdout, "no task to show")
	} else {
		err = table.Flush(c.stdout)
	}
	checks.Wait()
	if err := errors.Join(err, unchecked); err != nil {
		return err
	}
	s.Checks = checked.Checks
	if fresh := s.Total - s.Issued; fresh > 0 && q.Where == "" {
		fmt.Fprintf(c.stderr, "%s not shown: %s\n", plural(fresh, "task"), notBegun(s))
	}
	c.warnUnranked(s)
	return nil
}

func notBegun(s api.Sweep) string {
	if s.State == core.Cancelled {
		return "cancelled before they were handed out (--csv and --json have them)"
	}
	return "not handed out yet (--csv and --json have them)"
}
