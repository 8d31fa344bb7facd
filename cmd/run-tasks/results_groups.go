package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/group"
)

// noGroups is what --group-by says for single tasks.
const noGroups = "none"

// grouping reads by what the results of a sweep are grouped, if they are: as asked for, else over
// the repeats of a sweep that has some.
func grouping(ctx *cliv2.Context, s api.Sweep) (q api.GroupQuery, ok bool) {
	q.Metrics, _ = group.Names(ctx.String("metrics")) // checkGroups has seen that they can be read
	if ctx.IsSet("group-by") {
		q.By, _ = group.Names(ctx.String("group-by"))
		return q, ctx.String("group-by") != noGroups
	}
	return q, len(s.Record.Repeats()) > 0
}

// checkGroups finds what does not fit together among the options of groups.
func checkGroups(ctx *cliv2.Context) error {
	for _, name := range []string{"group-by", "metrics"} {
		names, err := group.Names(ctx.String(name))
		switch {
		case !ctx.IsSet(name):
		case ctx.Bool("failures"):
			return cli.Wrong("", "--failures and --%s are mutually exclusive", name)
		case err != nil:
			return cli.Wrong("", "--%s: %s", name, cli.Visible(err.Error()))
		case len(names) == 0:
			return cli.Wrong("", "--%s needs a name", name)
		}
	}
	if ctx.IsSet("metrics") && ctx.String("group-by") == noGroups {
		return cli.Wrong("", "--metrics is for groups: --group-by %s shows every metric", noGroups)
	}
	return nil
}

// resultsGroups is `run-tasks results` of groups.
func (c *command) resultsGroups(ctx *cliv2.Context, src source, s api.Sweep,
	q api.GroupQuery) error {
	page, err := src.Groups(ctx.Context, s.ID, q)
	if err != nil {
		return err
	}
	if !ctx.IsSet("group-by") {
		c.print([]string{fmt.Sprintf("these are means over %s; --group-by %s shows single tasks",
			strings.Join(s.Record.Repeats(), ", "), noGroups)})
	}
	switch {
	case ctx.Bool("csv"):
		return page.WriteCSV(c.stdout)
	case ctx.Bool("json"):
		return page.WriteJSON(c.stdout)
	}
	if len(page.Groups) == 0 {
		fmt.Fprintln(c.stdout, "no task to show")
	} else if err := page.WriteText(c.stdout, display.Width(c.stdout)); err != nil {
		return err
	}
	if s, err = src.Sweep(ctx.Context, s.ID, true); err != nil {
		return err
	}
	if page.Fresh > 0 {
		fmt.Fprintf(c.stderr, "%s not shown: %s\n", plural(page.Fresh, "group"), notBegun(s))
	}
	if q.Top > 0 && q.Sort == "" && page.Objective == "" {
		c.print([]string{"the groups are not ranked: --top shows the first of them by the " +
			"numbers of their tasks; --sort COLUMN orders them"})
	}
	c.warnUnranked(s)
	return nil
}

// bestGroups prints the best points of a sweep that repeats them, by the mean of its objective;
// false: it has none, or too many.
func (c *command) bestGroups(ctx context.Context, src source, s api.Sweep) (shown bool, err error) {
	o, repeats := s.Record.Objective, s.Record.Repeats()
	if o.IsZero() || len(repeats) == 0 {
		return false, nil
	}
	page, err := src.Groups(ctx, s.ID, api.GroupQuery{Query: api.Query{Top: bestShown}})
	if e, ok := errors.AsType[*api.Error](err); ok && e.Parameter == "by" {
		return false, nil
	}
	page.Groups = slices.DeleteFunc(page.Groups, func(g group.Group) bool {
		return g.Metrics[o.Metric].N == 0
	})
	if err != nil || len(page.Groups) == 0 {
		return false, err
	}
	title := fmt.Sprintf("best by mean %s over %s (%s)", o.Metric, strings.Join(repeats, ", "), o)
	fmt.Fprintln(c.stdout, "\n"+cli.Visible(title))
	return true, page.WriteText(c.stdout, display.Width(c.stdout))
}
