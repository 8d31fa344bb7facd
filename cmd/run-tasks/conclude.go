package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// How much the end of a sweep shows; `results` and `show` have all of it.
const (
	bestShown   = 10
	failedShown = 5
)

// conclude says how a sweep stands once it is idle, and returns the error that gives the exit code.
func (c *command) conclude(ctx context.Context, reader *store.Reader, id string, l look, interrupted bool) error {
	s, err := stands(ctx, reader, id)
	if err != nil {
		return err
	}
	if !l.quiet && !l.json {
		if err := c.report(ctx, reader, s); err != nil {
			return err
		}
	}
	if err := c.warnUnranked(ctx, reader, s); err != nil {
		return err
	}
	if s.Head.State == sweep.Paused {
		fmt.Fprintf(c.stderr, "%s is paused (%s): run-tasks resume %s goes on\n", id, cli.Visible(s.Head.Reason), id)
	}
	switch {
	case interrupted && s.Head.State != sweep.Finished:
		return cli.Code(cli.Interrupted)
	case s.Head.Rows[task.Succeeded] < s.Head.Total:
		return cli.Code(cli.Failed)
	}
	return nil
}

// report prints counts, the best tasks, what failed, and where the files are.
func (c *command) report(ctx context.Context, reader *store.Reader, s store.Sweep) error {
	fmt.Fprintf(c.stdout, "\n%s: %s\n", s.Head.ID, outcomeText(s.Head))
	if err := c.best(ctx, reader, s); err != nil {
		return err
	}
	if err := c.failures(ctx, reader, s); err != nil {
		return err
	}
	if err := c.mixed(ctx, reader, s); err != nil {
		return err
	}
	if s.Head.Counts().Done() > 0 {
		fmt.Fprintf(c.stdout, "\nfiles: %s   all results: run-tasks results %s\n", filepath.Join(outputFolder, s.Head.ID)+string(filepath.Separator), s.Head.ID)
	}
	return nil
}

// outcomeText is "24 tasks: 23 succeeded, 1 failed, in 38.2s".
func outcomeText(h sweep.Head) string {
	var parts []string
	counts := h.Counts()
	for i := len(task.States) - 1; i >= 0; i-- {
		if n := counts[task.States[i]]; n > 0 {
			parts = append([]string{fmt.Sprintf("%d %s", n, task.States[i])}, parts...)
		}
	}
	text := plural(h.Total, "task") + ": " + strings.Join(parts, ", ")
	if !h.Ended.IsZero() {
		text += ", in " + result.HumanDuration(h.Ended.Sub(h.Submitted).Seconds())
	}
	return text
}

func (c *command) best(ctx context.Context, reader *store.Reader, s store.Sweep) error {
	o := s.Record.Objective
	if o.IsZero() {
		return nil
	}
	query := store.Query{Best: -1, Limit: bestShown}
	if o.Maximize {
		query.Best = 1
	}
	rows, err := rowsOf(ctx, reader, s, query)
	if err != nil || len(rows) == 0 {
		return err
	}
	title := fmt.Sprintf("best by %s (%s)", o.Metric, o)
	if s.Head.Rows[task.Succeeded] > int64(len(rows)) {
		title = fmt.Sprintf("best %d by %s (%s)", len(rows), o.Metric, o)
	}
	fmt.Fprintln(c.stdout, "\n"+cli.Visible(title))
	return result.WriteText(c.stdout, rows, tableOptions(c.stdout, s))
}

// rowsOf reads tasks as rows of results.
func rowsOf(ctx context.Context, reader *store.Reader, s store.Sweep, q store.Query) (rows []result.Row, err error) {
	row := s.Record.Rows(s.Head.ID)
	for t, err := range reader.Tasks(ctx, s, q) {
		if err != nil {
			return nil, err
		}
		rows = append(rows, row(t))
	}
	return rows, nil
}

// tableOptions fit a table of a sweep's results to where it goes.
func tableOptions(w io.Writer, s store.Sweep) result.TableOptions {
	return result.TableOptions{Width: width(w), Objective: s.Record.Objective, Schema: s.Record.Schema(), Location: local()}
}

// width is the number of columns of a terminal, 0 for anything else.
func width(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if columns, _, err := term.GetSize(int(f.Fd())); err == nil {
			return columns
		}
	}
	return 0
}

func (c *command) failures(ctx context.Context, reader *store.Reader, s store.Sweep) error {
	total := s.Head.Counts().Failures()
	if total == 0 {
		return nil
	}
	rows, err := rowsOf(ctx, reader, s, store.Query{States: []task.State{task.Failed, task.Timeout, task.OOM, task.Lost}, Limit: failedShown})
	if err != nil {
		return err
	}
	fmt.Fprintln(c.stdout)
	for _, r := range rows {
		fmt.Fprintln(c.stdout, endText(r))
	}
	if rest := total - int64(len(rows)); rest > 0 {
		fmt.Fprintf(c.stdout, "... and %d more: run-tasks results %s --where 'state!=succeeded'\n", rest, s.Head.ID)
	}
	if len(rows) > 0 {
		fmt.Fprintf(c.stdout, "what they printed: run-tasks logs %s   again: run-tasks retry %s\n", rows[0].ID, s.Head.ID)
	}
	return nil
}

// mixed says when results of different revisions stand side by side.
func (c *command) mixed(ctx context.Context, reader *store.Reader, s store.Sweep) error {
	revisions, err := reader.Revisions(ctx, s)
	if err != nil || len(revisions) < 2 {
		return err
	}
	fmt.Fprintf(c.stdout, "\nattempts ran %d revisions of the project: compare them by the column revision\n", len(revisions))
	return nil
}

// warnUnranked says loudly which tasks ended well and never printed what they are ranked by.
func (c *command) warnUnranked(ctx context.Context, reader *store.Reader, s store.Sweep) error {
	count, first, err := reader.Unranked(ctx, s, 3)
	if err != nil || count == 0 {
		return err
	}
	var ids []string
	for _, t := range first {
		ids = append(ids, task.ID{Sweep: s.Head.ID, Index: t.Index}.String())
	}
	if count > int64(len(ids)) {
		ids = append(ids, "...")
	}
	log := filepath.Join(taskFolder(task.ID{Sweep: s.Head.ID, Index: first[0].Index}), "stdout.log")
	fmt.Fprintf(c.stderr, "WARNING: no metrics: %s succeeded without printing a number for the objective, %s (%s)\n  see what is picked: run-tasks test-metrics %s < %s\n",
		plural(count, "task"), cli.Visible(s.Record.Objective.Metric), strings.Join(ids, ", "), s.Definition, log)
	return nil
}
