package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/projects"
	"mlframework/sweep"
	"mlframework/sweep/api"
	"mlframework/sweep/master"
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
	where  []string // would take them
	all    bool
}

// onlyMissing leaves out what has succeeded already. It writes nothing.
func (c *command) onlyMissing(ctx *cliv2.Context, d *dryRun, p *project) error {
	m, err := projects.Scan(ctx.Context, p.dir, projects.Options{})
	if err != nil {
		return projectError(err)
	}
	if _, err := os.Stat(filepath.Join(storeFolder, store.File)); named(ctx) == "" && errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	src, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer src.close()
	r := d.record
	r.Recipe.Revision = m.Revision()
	found, err := narrow(ctx.Context, src, &r, codeOf(m, p.task.Parameters))
	if err != nil {
		return err
	}
	if d.record.Ranges, d.total = r.Ranges, api.Total(r); !found {
		d.total = 0
	}
	return nil
}

// slots tells where tasks would run: "gpu1, 4 slots".
func (c *command) slots(ctx *cliv2.Context) (places []string, err error) {
	socket := named(ctx)
	if socket == "" {
		host, _ := os.Hostname()
		return []string{host + ", " + plural(int64(ctx.Int("slots")), "slot")}, nil
	}
	m := c.dial(ctx, socket)
	defer m.Close()
	workers, err := m.Workers(ctx.Context)
	for _, w := range workers {
		place := w.Host + ", " + plural(int64(w.Slots), "slot")
		if w.State != master.WorkerReady {
			place += " (" + w.State + ")"
		}
		places = append(places, place)
	}
	return places, err
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
	for _, place := range d.where {
		fmt.Fprintf(out, "on %s\n", result.Visible(place))
	}
	if len(d.where) == 0 {
		fmt.Fprintln(out, "on no worker yet: the master has none")
	}
	return out.Flush()
}

func combinations(n int64) string { return plural(n, "combination") }

func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
