package main

import (
	"context"
	"fmt"
	"io"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// sweepReport prints how a sweep stands.
type sweepReport struct {
	*terminal
	src   source
	sweep api.Sweep
}

// best prints the first of the ranking: combinations, or single tasks.
func (p *sweepReport) best(ctx context.Context) error {
	if shown, err := p.bestGroups(ctx); shown || err != nil {
		return err
	}
	s, o := p.sweep, p.sweep.Record.Objective
	rows, err := bestRows(ctx, p.src, s, bestShown)
	if err != nil || len(rows) == 0 {
		return err
	}
	title := fmt.Sprintf("best by %s (%s)", o.Metric, o)
	if s.Counts[task.Succeeded.String()] > int64(len(rows)) {
		title = fmt.Sprintf("best %d by %s (%s)", len(rows), o.Metric, o)
	}
	if len(rows) > 1 && allEqual(rows, o.Metric) {
		title += ": all have the same " + o.Metric
	}
	fmt.Fprintln(p.stdout, "\n"+cli.Visible(title))
	return table.WriteText(p.stdout, rows, tableOptions(p.stdout, s))
}

// allEqual reports whether tasks have the same value of a metric, so that their order says nothing.
func allEqual(rows []table.Row, name string) bool {
	first, _ := rows[0].Metrics.Get(name)
	return !slices.ContainsFunc(rows, func(r table.Row) bool {
		v, _ := r.Metrics.Get(name)
		return v != first
	})
}

// bestRows are the first tasks of the ranking so far.
func bestRows(ctx context.Context, src source, s api.Sweep, most int) (rows []table.Row,
	err error) {
	o := s.Record.Objective
	if o.IsZero() {
		return nil, nil
	}
	err = src.Rows(ctx, s.ID, api.Query{Best: true, Issued: true, Top: most},
		func(r *table.Row) error {
			if table.IsRanked(o, r) {
				rows = append(rows, *r)
			}
			return nil
		})
	return rows, err
}

// tableOptions fit a table of a sweep's results to where it goes.
func tableOptions(w io.Writer, s api.Sweep) table.TableOptions {
	return table.TableOptions{Width: display.Width(w), Objective: s.Record.Objective,
		Schema: s.Record.Schema(), Location: timeZone()}
}
