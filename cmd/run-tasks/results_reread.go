package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/definition"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// rereading reads the metrics of a sweep's tasks again, by what tasks.yml says now.
type rereading struct {
	c       *command
	src     source
	sweep   api.Sweep
	with    api.Reread
	project *project

	read, changed int64
	kept          []keptMetrics // tasks of which nothing could be read
	others        int64         // tasks with other reasons than those

	// metrics with values of which none was read again yet: tasks read that had one
	missing map[string]int64
	held    []core.Remeasured
	stored  bool
}

// keptMetrics is tasks that keep the metrics they had for one reason.
type keptMetrics struct {
	why   string
	first task.ID
	tasks int64
}

func (k keptMetrics) String() string {
	if k.tasks == 1 {
		return fmt.Sprintf("1 task kept the metrics it had (%s): %s", k.first, k.why)
	}
	return fmt.Sprintf("%d tasks kept the metrics they had (%s and others): %s", k.tasks, k.first,
		k.why)
}

// reread reads the metrics of a sweep again and stores them. Nothing runs.
func (c *command) reread(ctx *cliv2.Context, src source, s api.Sweep) error {
	dir := ctx.String("d")
	if dir == "" {
		dir = s.Project
	}
	file, _, err := definition.Load(dir, c.reserved())
	if err != nil {
		return err
	}
	t, err := file.Task(s.Definition)
	if err != nil {
		return &cli.Error{Code: cli.Usage, Err: err}
	}
	r := &rereading{c: c, src: src, sweep: s, project: &project{dir: dir, file: file, task: t}}
	now := r.project.record(s.Revision)
	r.with.Metrics, r.with.Objective = append([]metric.Rule{}, now.Recipe.Metrics...), now.Objective
	if err := r.all(ctx.Context); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "metrics of %s were read again, and %d of them changed\n", plural(r.read,
		"task"), r.changed)
	for _, k := range r.kept {
		fmt.Fprintf(c.stderr, "WARNING: %s\n", cli.Visible(k.String()))
	}
	if r.others > 0 {
		fmt.Fprintf(c.stderr, "WARNING: %s kept the metrics they had, for other reasons\n",
			plural(r.others, "more task"))
	}
	return nil
}

// all reads every task that has ended. Nothing is stored before each metric of tasks.yml that had
// values has one again: a mistyped pattern would replace all of them by nothing.
func (r *rereading) all(ctx context.Context) error {
	if err := r.findValues(ctx); err != nil {
		return err
	}
	var next []endedTask
	flush := func() error {
		err := r.some(ctx, next)
		next = nil
		return err
	}
	err := r.tasks(ctx, func(t endedTask) error {
		if next = append(next, t); len(next) < api.MostMeasured {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err == nil {
		err = r.lost()
	}
	if err == nil {
		err = r.store(ctx, true)
	}
	return err
}

// tasks calls each with every task that has ended.
func (r *rereading) tasks(ctx context.Context, each func(endedTask) error) error {
	return r.src.Rows(ctx, r.sweep.ID, api.Query{Issued: true}, func(row *table.Row) error {
		if state, err := task.ParseState(row.State); err != nil || !state.Terminal() ||
			row.Started == nil {
			return nil
		}
		end := task.Outcome{Class: task.Class(row.Class), ExitCode: row.ExitCode}
		return each(endedTask{row.Index, end.Exited(), slices.Clone(row.Metrics)})
	})
}

// findValues finds the metrics of tasks.yml that have values.
func (r *rereading) findValues(ctx context.Context) error {
	r.missing = map[string]int64{}
	return r.tasks(ctx, func(t endedTask) error {
		for _, rule := range r.with.Metrics {
			if _, ok := t.had.Get(rule.Name); ok {
				r.missing[rule.Name] = 0
			}
		}
		return nil
	})
}

// lost refuses to take every value of a metric away.
func (r *rereading) lost() error {
	for _, rule := range r.with.Metrics {
		if n := r.missing[rule.Name]; n > 0 {
			name := cli.Visible(rule.Name)
			return &cli.Error{Code: cli.Invalid,
				Err: fmt.Errorf("%s: no value would be left of metric %s, which %s %s now; "+
					"nothing was changed",
					r.sweep.ID, name, plural(n, "task"), pick(int(n), "has", "have")),
				Remedy: fmt.Sprintf("correct '%s' in tasks.yml, or remove %s from its metrics to "+
					"drop the values",
					cli.Visible(cmp.Or(rule.Pattern, rule.File)), name)}
		}
	}
	return nil
}

// endedTask is a task that has ended.
type endedTask struct {
	index  int64
	exited bool // its program did by itself
	had    metric.Final
}

// some reads some tasks, and stores what was read when it is known that no metric loses all its
// values.
func (r *rereading) some(ctx context.Context, tasks []endedTask) error {
	if len(tasks) == 0 {
		return nil
	}
	measured, err := r.src.measure(ctx, r.sweep, r.with.Metrics, tasks)
	if err != nil {
		return err
	}
	for i, m := range measured {
		r.note(tasks[i], m)
	}
	if len(r.missing) > 0 {
		return nil
	}
	return r.store(ctx, false)
}

// store stores what was read, and at the last the rules even where nothing was.
func (r *rereading) store(ctx context.Context, last bool) error {
	for len(r.held) > 0 || last && !r.stored {
		n := min(len(r.held), api.MostReread)
		r.with.Tasks, r.held = r.held[:n], r.held[n:]
		err := r.src.act(ctx, "results --reread "+r.sweep.ID, func(m *api.Client) error {
			_, err := m.Reread(ctx, r.sweep.ID, r.with)
			return err
		})
		if err != nil {
			return err
		}
		r.stored = true
	}
	return nil
}

// mostReasons is how many different reasons are told why tasks keep their metrics.
const mostReasons = 5

// note counts a task that was read, or could not be.
func (r *rereading) note(t endedTask, m api.MeasuredTask) {
	at := slices.IndexFunc(r.kept, func(k keptMetrics) bool { return k.why == m.Error })
	switch {
	case m.Error == "":
		r.read++
		if !same(t.had, metric.Final(m.Metrics)) {
			r.changed++
		}
		r.noteValues(t, m)
		r.held = append(r.held, m.Remeasured)
	case at >= 0:
		r.kept[at].tasks++
	case len(r.kept) == mostReasons:
		r.others++
	default:
		r.kept = append(r.kept, keptMetrics{m.Error, task.ID{Sweep: r.sweep.ID, Index: t.index}, 1})
	}
}

// noteValues takes note of the metrics that a task had and has.
func (r *rereading) noteValues(t endedTask, m api.MeasuredTask) {
	for _, now := range m.Metrics {
		delete(r.missing, now.Name)
	}
	for _, before := range t.had {
		if n, ok := r.missing[before.Name]; ok {
			r.missing[before.Name] = n + 1
		}
	}
}

// same reports whether two tasks have the same metrics, in whatever order.
func same(a, b metric.Final) bool {
	in := func(of metric.Final) func(metric.FinalValue) bool {
		return func(m metric.FinalValue) bool {
			v, ok := of.Get(m.Name)
			return ok && (v == m.Value || v != v && m.Value != m.Value)
		}
	}
	has, had := in(a), in(b)
	return len(a) == len(b) && !slices.ContainsFunc(a,
		func(m metric.FinalValue) bool { return !had(m) }) &&
		!slices.ContainsFunc(b, func(m metric.FinalValue) bool { return !has(m) })
}
