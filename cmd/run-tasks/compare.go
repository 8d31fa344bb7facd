package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/run-tasks/display"
	"mlframework/cmd/run-tasks/project"
	"mlframework/projects"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/table"
)

func compareCommand(c *command) *cliv2.Command {
	return &cliv2.Command{Name: "compare", ArgsUsage: "A B",
		Action: onSource(c, readCompareOptions),
		Usage:  "show how two tasks or two sweeps differ",
		Flags:  append(locationFlags(), flagJSON()),
		Description: `A and B are tasks (SWEEP/INDEX, or INDEX in the newest sweep) or sweeps. Shows
differences in parameters, settings, files, metrics, hosts and GPUs. For sweeps,
it also compares the objective of combinations that succeeded in both.

EXAMPLES:
   run-tasks compare run_training-1/7 run_training-2/7
   run-tasks compare run_training-1 run_training-2`}
}

// compareOptions are the options of `run-tasks compare`.
type compareOptions struct {
	a, b target
	json bool
}

func readCompareOptions(ctx *cliv2.Context) (o compareOptions, err error) {
	args, err := arguments(ctx)
	if err != nil {
		return o, err
	}
	o.json = ctx.Bool("json")
	if o.a, err = parseTarget(args[0]); err == nil {
		o.b, err = parseTarget(args[1])
	}
	if err == nil && o.a.isTask != o.b.isTask {
		err = cli.Wrong("name two tasks, or two sweeps", "cannot compare a task with a sweep")
	}
	return o, err
}

// comparison is how two tasks or sweeps differ.
type comparison struct {
	A      string          `json:"a"`
	B      string          `json:"b"`
	Differ []differentItem `json:"differ"`
	Files  []string        `json:"files"` // "train.py changed"; null: not known
	Same   []string        `json:"same"`  // parameters
	Common *commonTasks    `json:"common,omitempty"`
}

// differentItem is one thing that differs; "" is absent.
type differentItem struct {
	Name string `json:"name"`
	A    string `json:"a"`
	B    string `json:"b"`

	shortA, shortB string // for people; "": as A and B
	note           string
}

// commonTasks compares the objective of combinations that succeeded in two sweeps.
type commonTasks struct {
	Objective string `json:"objective"`
	Tasks     int    `json:"tasks"`
	BetterA   int    `json:"better_a"`
	BetterB   int    `json:"better_b"`
	// of B from A; null: it is not finite
	Mean *float64 `json:"mean_difference"`
}

// add adds something if it differs.
func (c *comparison) add(name, a, b string) {
	if a != b {
		c.Differ = append(c.Differ, differentItem{Name: name, A: a, B: b})
	}
}

// run prints how two tasks or two sweeps differ.
func (o compareOptions) run(ctx context.Context, src source, t *terminal) error {
	a, err := findSweep(ctx, t, src, o.a.sweep, false)
	if err != nil {
		return err
	}
	b, err := findSweep(ctx, t, src, o.b.sweep, false)
	if err != nil {
		return err
	}
	c := &comparison{A: a.ID, B: b.ID, Differ: []differentItem{}, Same: []string{}}
	if o.a.isTask {
		err = c.tasks(ctx, src, a, b, o.a.index, o.b.index)
	} else {
		err = c.sweeps(ctx, src, a, b)
	}
	if err != nil {
		return err
	}
	if o.json {
		return encode(t.stdout, c)
	}
	return c.print(t)
}

// tasks compares two tasks.
func (c *comparison) tasks(ctx context.Context, src source, a, b api.Sweep, i, j int64) error {
	one, err := src.Task(ctx, a.ID, i)
	if err != nil {
		return err
	}
	other, err := src.Task(ctx, b.ID, j)
	if err != nil {
		return err
	}
	x, y := one.Row, other.Row
	c.A, c.B = x.ID, y.ID
	properties := table.Properties(x, y)
	for _, p := range properties {
		if p.Kind == table.ParameterProperty {
			c.property(p)
		}
	}
	c.settings(a.Record, b.Record)
	c.Files = changedFiles(ctx, src, x.Revision, y.Revision)
	for _, p := range properties {
		if p.Kind != table.ParameterProperty {
			c.property(p)
		}
	}
	return nil
}

// sweeps compares two sweeps.
func (c *comparison) sweeps(ctx context.Context, src source, a, b api.Sweep) error {
	c.add("definition", a.Definition, b.Definition)
	for _, p := range table.ParameterProperties(spaceParameters(a.Record),
		spaceParameters(b.Record)) {
		c.property(p)
	}
	c.settings(a.Record, b.Record)
	c.add("revision", a.Record.Recipe.Revision, b.Record.Recipe.Revision)
	c.Files = changedFiles(ctx, src, a.Record.Recipe.Revision, b.Record.Recipe.Revision)
	c.add("tasks", outcomeText(a.Summary), outcomeText(b.Summary))
	best := func(s api.Sweep) (string, error) {
		rows, err := bestRows(ctx, src, s, 1)
		if err != nil || len(rows) == 0 {
			return "", err
		}
		v, _ := rows[0].Metrics.Get(s.Record.Objective.Metric)
		return fmt.Sprintf("%s %s=%s", rows[0].ID, s.Record.Objective.Metric, human.Number(v)), nil
	}
	bestA, err := best(a)
	if err != nil {
		return err
	}
	bestB, err := best(b)
	if err != nil {
		return err
	}
	c.add("best", bestA, bestB)
	c.Common, err = compareCommon(ctx, src, a, b)
	return err
}

// property adds a property if it differs, and notes parameters that are the same.
func (c *comparison) property(p table.Property) {
	if !p.Differs() {
		if p.Kind == table.ParameterProperty {
			c.Same = append(c.Same, p.Name)
		}
		return
	}
	item := differentItem{Name: p.Name, A: p.Text(0), B: p.Text(1)}
	if p.Kind == table.MetricProperty {
		x, errX := strconv.ParseFloat(item.A, 64)
		y, errY := strconv.ParseFloat(item.B, 64)
		if errX == nil {
			item.shortA = human.Number(x)
		}
		if errY == nil {
			item.shortB = human.Number(y)
		}
		if errX == nil && errY == nil {
			item.note = fmt.Sprintf("%+.4g", y-x)
		}
		if item.shortA == item.shortB {
			item.shortA, item.shortB = "", ""
		}
	}
	c.Differ = append(c.Differ, item)
}

// settings adds what the definitions say differently.
func (c *comparison) settings(a, b core.Record) {
	for _, d := range a.Changes(b) {
		if d.Was == "" { // variables, which say both
			c.Differ = append(c.Differ, differentItem{Name: d.Key, B: d.Is})
			continue
		}
		c.add(d.Key, d.Was, d.Is)
	}
}

// spaceParameters are the parameters of a sweep with all their values.
func spaceParameters(r core.Record) (all table.Parameters) {
	for _, p := range viewOf(r.Space).Parameters {
		_, values, _ := strings.Cut(p.Text, ": ")
		all = append(all, table.Parameter{Name: p.Name, Value: values})
	}
	return all
}

// changedFiles says which files of the project differ between two revisions, if both are still
// here; nil: it is not known.
func changedFiles(ctx context.Context, src source, a, b string) []string {
	if a == b {
		return []string{}
	}
	revisions, err := revisionsOf(ctx, src)
	if err != nil || revisions == "" {
		return nil
	}
	scan := func(revision string) (*projects.Manifest, error) {
		return projects.Scan(ctx, filepath.Join(revisions, revision),
			projects.Options{Snapshot: true})
	}
	old, err := scan(a)
	if err != nil {
		return nil
	}
	now, err := scan(b)
	if err != nil {
		return nil
	}
	return append([]string{}, projects.Code{}.Changes(now, old)...)
}

// compareCommon compares the objective of the combinations that succeeded in both sweeps; nil if
// they have no common objective or combination.
func compareCommon(ctx context.Context, src source, a, b api.Sweep) (*commonTasks, error) {
	o := a.Record.Objective
	if o.IsZero() || o.Metric != b.Record.Objective.Metric || a.Record.EachWorker ||
		b.Record.EachWorker {
		return nil, nil
	}
	values := map[string]float64{}
	read := func(s api.Sweep, each func(key string, v float64)) error {
		return src.Rows(ctx, s.ID, api.Query{Issued: true}, func(r *table.Row) error {
			if v, ok := r.Metrics.Get(o.Metric); ok && table.IsRanked(o, r) {
				each(combinationKey(r), v)
			}
			return nil
		})
	}
	err := read(a, func(key string, v float64) { values[key] = v })
	if err != nil {
		return nil, err
	}
	c, sum := &commonTasks{Objective: o.String()}, 0.
	err = read(b, func(key string, v float64) {
		was, common := values[key]
		if !common {
			return
		}
		c.Tasks++
		sum += v - was
		switch {
		case v == was:
		case (v > was) == o.Maximize:
			c.BetterB++
		default:
			c.BetterA++
		}
	})
	if c.Tasks == 0 {
		return nil, err
	}
	if mean := sum / float64(c.Tasks); !math.IsNaN(mean) && !math.IsInf(mean, 0) {
		c.Mean = &mean
	}
	return c, err
}

// print prints the comparison as a table.
func (c *comparison) print(t *terminal) error {
	if len(c.Differ)+len(c.Files) == 0 {
		fmt.Fprintf(t.stdout, "%s and %s do not differ\n", c.A, c.B)
	}
	out := cli.NewTable("", c.A, c.B, "")
	for _, d := range c.Differ {
		out.Add(cli.Visible(d.Name), orAbsent(cmp.Or(d.shortA, d.A)), orAbsent(cmp.Or(d.shortB,
			d.B)), d.note)
	}
	if len(c.Differ) > 0 {
		for _, line := range out.Lines(display.Width(t.stdout)) {
			fmt.Fprintln(t.stdout, line)
		}
	}
	if len(c.Files) > 0 {
		fmt.Fprintf(t.stdout, "files: %s\n", cli.Visible(human.ListFirst(c.Files)))
	}
	if len(c.Same) > 0 {
		fmt.Fprintf(t.stdout, "same in both: %s\n", cli.Visible(human.ListFirst(c.Same)))
	}
	if m := c.Common; m != nil {
		mean := ""
		if m.Mean != nil {
			mean = fmt.Sprintf("; mean difference %+.4g", *m.Mean)
		}
		fmt.Fprintf(t.stdout, "%s succeeded in both (%s): %s is better in %d, %s in %d%s\n",
			project.Combinations(int64(m.Tasks)), m.Objective, c.A, m.BetterA, c.B, m.BetterB, mean)
	}
	return nil
}

func orAbsent(text string) string {
	if text == "" {
		return "-"
	}
	return cli.Visible(text)
}
