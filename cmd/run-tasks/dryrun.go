package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"mlframework/projects"
	"mlframework/sweep"
	"mlframework/sweep/result"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
)

// dryTask is one task of a dry run, as JSON.
type dryTask struct {
	ID         string      `json:"id"` // NAME/INDEX
	Index      int64       `json:"index"`
	Argv       []string    `json:"argv"`
	Parameters space.Point `json:"parameters"`
}

// dryRun is what would be run.
type dryRun struct {
	record sweep.Record
	total  int64
	slots  int
	all    bool
}

// onlyMissing leaves out what has succeeded already. It writes nothing.
func (d *dryRun) onlyMissing(ctx context.Context, p *project) error {
	m, err := projects.Scan(ctx, p.dir, projects.Options{})
	if err != nil {
		return projectError(err)
	}
	reader, err := store.OpenReader(ctx, storeFolder)
	if errors.Is(err, store.ErrNone) {
		return nil
	} else if err != nil {
		return err
	}
	defer reader.Close()
	points, all, err := missing(ctx, reader, d.record, codeOf(m, p.task.Parameters))
	if err == nil && !all {
		d.record.Ranges, d.total = points, points.Len()
	}
	return err
}

func (d dryRun) writeJSON(w io.Writer) error {
	out := bufio.NewWriter(w)
	lines := json.NewEncoder(out)
	lines.SetEscapeHTML(false)
	flags := d.record.Space.Flags(d.record.Style)
	for n := range d.shown() {
		i := d.record.Ranges.At(n)
		argv := flags.Append(d.record.Recipe.Command[:len(d.record.Recipe.Command):len(d.record.Recipe.Command)], i)
		id := fmt.Sprintf("%s/%d", d.record.Recipe.Definition, i)
		if err := lines.Encode(dryTask{id, i, argv, d.record.Space.Point(i)}); err != nil {
			return err
		}
	}
	return out.Flush()
}

// shown yields the tasks to show, counted within the sweep: all, or the first and the last.
func (d dryRun) shown() func(func(int64) bool) {
	return func(yield func(int64) bool) {
		step := int64(1)
		if !d.all {
			step = max(1, d.total-1)
		}
		for n := int64(0); n < d.total && yield(n); n += step {
		}
	}
}

func (d dryRun) writeText(w io.Writer) error {
	out := bufio.NewWriter(w)
	r := d.record
	fmt.Fprintf(out, "%s: %s\n", r.Recipe.Definition, combinations(d.total))
	for _, p := range r.Space.Parameters() {
		fmt.Fprintf(out, "  %s\n", result.Visible(p.String()))
	}
	flags := r.Space.Flags(r.Style)
	for n := range d.shown() {
		i := r.Ranges.At(n)
		argv := flags.Append(r.Recipe.Command[:len(r.Recipe.Command):len(r.Recipe.Command)], i)
		if _, err := fmt.Fprintf(out, "%s/%d\t%s\n", r.Recipe.Definition, i, result.Visible(result.CommandLine(argv))); err != nil {
			return err
		}
		if !d.all && d.total > 2 && n == 0 {
			fmt.Fprintf(out, "... %d more (--all shows them)\n", d.total-2)
		}
	}
	host, _ := os.Hostname()
	fmt.Fprintf(out, "on %s, %s\n", host, plural(int64(d.slots), "slot"))
	return out.Flush()
}

func combinations(n int64) string { return plural(n, "combination") }

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
