package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"iter"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/store"
)

// wanted is which results are asked for, and how.
type wanted struct {
	schema result.Schema
	filter *result.Filter
	sort   string
	top    int
}

// results is `run-tasks results`.
func (c *command) results(ctx *cliv2.Context) error {
	id, err := argument(ctx)
	if err != nil {
		return err
	}
	if ctx.Bool("csv") && ctx.Bool("json") {
		return cli.Wrong("", "--csv and --json exclude each other")
	}
	if ctx.Int("top") < 0 {
		return cli.Wrong("", "--top must not be negative")
	}
	reader, s, err := reading(ctx.Context, id)
	if err != nil {
		return err
	}
	defer reader.Close()
	w := wanted{sort: ctx.String("sort"), top: ctx.Int("top")}
	if w.schema, err = schemaOf(ctx.Context, reader, s); err != nil {
		return err
	}
	if w.filter, err = result.ParseFilter(ctx.String("where"), w.schema); err != nil {
		return &cli.Error{Code: cli.Usage, Err: fmt.Errorf("--where: %w", err)}
	}
	switch {
	case ctx.Bool("csv"):
		return w.csv(ctx.Context, c.stdout, reader, s)
	case ctx.Bool("json"):
		return w.json(ctx.Context, c.stdout, reader, s)
	}
	return c.resultsText(ctx.Context, w, reader, s)
}

// schemaOf is the sweep's columns, with the metrics that its tasks printed and nobody declared.
func schemaOf(ctx context.Context, reader *store.Reader, s store.Sweep) (result.Schema, error) {
	schema := s.Record.Schema()
	seen := map[string]bool{}
	for _, m := range schema.Metrics {
		seen[m] = true
	}
	for t, err := range reader.Tasks(ctx, s, store.Query{}) {
		if err != nil {
			return schema, err
		}
		if t.Try.Outcome == nil {
			continue
		}
		for _, m := range t.Try.Outcome.Metrics {
			if !seen[m.Name] {
				seen[m.Name] = true
				schema.Metrics = append(schema.Metrics, m.Name)
			}
		}
	}
	return schema, nil
}

func (c *command) resultsText(ctx context.Context, w wanted, reader *store.Reader, s store.Sweep) error {
	rows, err := w.rows(ctx, s, reader.Tasks(ctx, s, store.Query{}))
	if err != nil {
		return err
	}
	if len(rows) > 0 {
		o := tableOptions(c.stdout, s)
		o.Schema = w.schema
		if err := result.WriteText(c.stdout, rows, o); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(c.stdout, "no task to show")
	}
	if fresh := s.Head.Total - rowCount(s.Head); fresh > 0 && w.filter == nil {
		fmt.Fprintf(c.stderr, "%s not shown: %s\n", plural(fresh, "task"), notBegun(s.Head))
	}
	return c.warnUnranked(ctx, reader, s)
}

func notBegun(h sweep.Head) string {
	if h.Cut {
		return "cancelled before they were handed out (--csv and --json have them)"
	}
	return "not handed out yet (--csv and --json have them)"
}

func rowCount(h sweep.Head) (n int64) {
	for _, count := range h.Rows {
		n += count
	}
	return n
}

// rows reads, filters and orders results: by --sort, else the best first.
func (w wanted) rows(ctx context.Context, s store.Sweep, tasks iter.Seq2[sweep.Task, error]) (rows []result.Row, err error) {
	row := s.Record.Rows(s.Head.ID)
	for t, err := range tasks {
		if err != nil {
			return nil, err
		}
		if r := row(t); w.filter.Match(&r) {
			rows = append(rows, r)
		}
	}
	if w.sort == "" {
		rows = result.Rank(rows, s.Record.Objective)
	} else if err := result.Sort(rows, w.schema, w.sort); err != nil {
		return nil, &cli.Error{Code: cli.Usage, Err: fmt.Errorf("--sort: %w", err)}
	}
	if w.top > 0 && len(rows) > w.top {
		rows = rows[:w.top]
	}
	return rows, ctx.Err()
}

// every yields all tasks of a sweep by index, also those that have no row yet.
func every(ctx context.Context, reader *store.Reader, s store.Sweep) iter.Seq2[sweep.Task, error] {
	return func(yield func(sweep.Task, error) bool) {
		var n int64
		fill := func(before int64) bool {
			for ; n < s.Head.Total && (before < 0 || s.Record.Ranges.At(n) < before); n++ {
				if !yield(sweep.Task{Index: s.Record.Ranges.At(n), State: s.Head.Fresh()}, ctx.Err()) {
					return false
				}
			}
			return true
		}
		for t, err := range reader.Tasks(ctx, s, store.Query{}) {
			if err == nil && !fill(t.Index) || !yield(t, err) || err != nil {
				return
			}
			n++
		}
		fill(-1)
	}
}

// stream hands on results one by one, by index; when an order is asked for, all are read first.
func (w wanted) stream(ctx context.Context, reader *store.Reader, s store.Sweep, each func(*result.Row) error) error {
	tasks := every(ctx, reader, s)
	if w.sort != "" || w.top > 0 {
		rows, err := w.rows(ctx, s, tasks)
		if err != nil {
			return err
		}
		for i := range rows {
			if err := each(&rows[i]); err != nil {
				return err
			}
		}
		return nil
	}
	row := s.Record.Rows(s.Head.ID)
	for t, err := range tasks {
		if err != nil {
			return err
		}
		if r := row(t); w.filter.Match(&r) {
			if err := each(&r); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w wanted) csv(ctx context.Context, out io.Writer, reader *store.Reader, s store.Sweep) error {
	lines := result.NewCSVWriter(out, w.schema)
	if err := w.stream(ctx, reader, s, lines.Write); err != nil {
		return err
	}
	return lines.Flush()
}

func (w wanted) json(ctx context.Context, out io.Writer, reader *store.Reader, s store.Sweep) error {
	buffered := bufio.NewWriter(out)
	err := w.stream(ctx, reader, s, func(r *result.Row) error { return result.WriteJSON(buffered, []result.Row{*r}) })
	if err != nil {
		return err
	}
	return buffered.Flush()
}
