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
	"mlframework/sweep/human"
)

// noGroups is what --group-by says for single tasks.
const noGroups = "none"

// groupOptions are the options of `run-tasks results` about groups.
type groupOptions struct {
	given   bool     // --group-by is given
	none    bool     // with noGroups
	by      []string // columns
	metrics []string // none: that of the objective
}

// readGroupOptions refuses options that do not go together.
func readGroupOptions(ctx *cliv2.Context) (o groupOptions, err error) {
	for _, one := range []struct {
		name  string
		names *[]string
	}{{"group-by", &o.by}, {"metrics", &o.metrics}} {
		*one.names, err = group.Names(ctx.String(one.name))
		switch {
		case !ctx.IsSet(one.name):
		case ctx.Bool("failures"):
			return o, cli.Wrong("", "--failures and --%s are mutually exclusive", one.name)
		case err != nil:
			return o, cli.Wrong("", "--%s: %s", one.name, cli.Visible(err.Error()))
		case len(*one.names) == 0:
			return o, cli.Wrong("", "--%s needs a name", one.name)
		}
	}
	o.given, o.none = ctx.IsSet("group-by"), ctx.String("group-by") == noGroups
	if ctx.IsSet("metrics") && o.none {
		return o, cli.Wrong("", "--metrics is for groups: --group-by %s shows every metric",
			noGroups)
	}
	return o, nil
}

// query returns by what the results of a sweep are grouped: by the columns of --group-by, or over
// the repeats of a sweep that has some. It is false if they are not grouped.
func (o groupOptions) query(s api.Sweep) (q api.GroupQuery, grouped bool) {
	q.Metrics = o.metrics
	if o.given {
		q.By = o.by
		return q, !o.none
	}
	return q, len(s.Record.Repeats()) > 0
}

// writeGroups prints results in groups.
func (o resultsOptions) writeGroups(ctx context.Context, src source, t *terminal, s api.Sweep,
	q api.GroupQuery) error {
	page, err := src.Groups(ctx, s.ID, q)
	if err != nil {
		return err
	}
	if !o.groups.given {
		t.note(fmt.Sprintf("these are means over %s; --group-by %s shows single tasks",
			strings.Join(s.Record.Repeats(), ", "), noGroups))
	}
	switch o.format {
	case api.CSV:
		return page.WriteCSV(t.stdout)
	case api.JSON:
		return page.WriteJSON(t.stdout)
	}
	if len(page.Groups) == 0 {
		fmt.Fprintln(t.stdout, "no task to show")
	} else if err := page.WriteText(t.stdout, display.Width(t.stdout)); err != nil {
		return err
	}
	if s, err = src.Sweep(ctx, s.ID, true); err != nil {
		return err
	}
	if page.Fresh > 0 {
		fmt.Fprintf(t.stderr, "%s not shown: %s\n", human.Plural(page.Fresh, "group"), notBegun(s))
	}
	if q.Top > 0 && q.Sort == "" && page.Objective == "" {
		t.note("the groups are not ranked: --top shows the first of them by the numbers of their " +
			"tasks; --sort COLUMN orders them")
	}
	warnMetrics(t, s)
	return nil
}

// bestGroups prints the best combinations of a sweep that repeats them, by the mean of its
// objective. Shown is false if it has none, or too many to rank.
func (p *sweepReport) bestGroups(ctx context.Context) (shown bool, err error) {
	s := p.sweep
	o, repeats := s.Record.Objective, s.Record.Repeats()
	if o.IsZero() || len(repeats) == 0 {
		return false, nil
	}
	page, err := p.src.Groups(ctx, s.ID, api.GroupQuery{Query: api.Query{Top: bestShown}})
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
	fmt.Fprintln(p.stdout, "\n"+cli.Visible(title))
	return true, page.WriteText(p.stdout, display.Width(p.stdout))
}
