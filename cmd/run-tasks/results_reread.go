package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/human"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// rereading reads the metrics of a sweep's tasks again, by what tasks.yml says now.
type rereading struct {
	src   source
	sweep api.Sweep
	with  api.Reread

	read, changed int64
	kept          []keptMetrics // tasks of which nothing could be read
	others        int64         // tasks with other reasons than those
	ended         int64         // tasks that had ended then, and were not cancelled
	running       int64         // tasks that ran then by other metrics
	then          core.Summary  // the sweep when the new metrics were stored
	incomplete    []incompleteMetric

	// by metric: the number of tasks read so far that had a value of it, for metrics with a new
	// rule that has found no value yet
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

// found is which values of a metric could be read again.
type found int

const (
	onlyLast  found = iota // the last one, which the task has now
	onlyLater              // one later than the value that the task keeps
	nothing                // none; the task keeps its value
)

// incompleteMetric counts the tasks for which not all values of a metric could be read again.
type incompleteMetric struct {
	rule  metric.Rule
	found found
	first task.ID
	tasks int64
}

func (m incompleteMetric) String() string {
	of := fmt.Sprintf("metric %s of %s (%s%s)", m.rule.Name, human.Plural(m.tasks, "task"), m.first,
		human.Pick(int(m.tasks), "", " and others"))
	switch {
	case m.found == onlyLater:
		return fmt.Sprintf("%s keeps its value: %s holds only a later one", of, m.rule.File)
	case m.found == nothing && m.rule.File != "":
		return fmt.Sprintf("WARNING: %s keeps its value: %s does not exist or contains no value",
			of, m.rule.File)
	case m.found == nothing:
		return fmt.Sprintf("WARNING: %s keeps its value: the output contains no value", of)
	}
	return fmt.Sprintf("WARNING: %s is the last value of %s: its rule is new, and earlier values "+
		"of the file are unknown", of, m.rule.File)
}

// unfinished says how a sweep stands after an error, once the new rules are stored.
func (r *rereading) unfinished() string {
	return fmt.Sprintf("the new metrics of %s are stored, with the values of %s: run it again for "+
		"the others", r.sweep.ID, human.Plural(r.read-int64(len(r.held)), "task"))
}

// all reads every task that has ended. Nothing is stored until each new rule, of a metric that has
// values, has found one: the rule may be mistyped.
func (r *rereading) all(ctx context.Context) error {
	if err := r.findValues(ctx); err != nil {
		return err
	}
	var next []endedTask
	err := r.tasks(ctx, func(t endedTask) error {
		if next = append(next, t); len(next) < api.MostMeasured {
			return nil
		}
		err := r.some(ctx, next)
		next = nil
		return err
	})
	if err == nil {
		err = r.some(ctx, next)
	}
	if err == nil {
		err = r.lost()
	}
	if err == nil {
		err = r.store(ctx, true)
	}
	return err
}

// tasks calls each with every task that has ended and had begun. It counts those that have ended
// other than cancelled, and those that run by other metrics.
func (r *rereading) tasks(ctx context.Context, each func(endedTask) error) error {
	r.ended, r.running = 0, 0
	return r.src.Rows(ctx, r.sweep.ID, api.Query{Issued: true}, func(row *table.Row) error {
		state, err := task.ParseState(row.State)
		switch {
		case err != nil:
		case state == task.Running:
			if row.Started != nil && len(r.sweep.Record.SameMetrics(r.with.Metrics, core.Attempt{
				Revision: row.Revision, Started: *row.Started})) < len(r.with.Metrics) {
				r.running++
			}
		case state.Terminal():
			if state != task.Cancelled {
				r.ended++
			}
			if row.Started != nil {
				return each(endedTask{row.Index, slices.Clone(row.Metrics)})
			}
		}
		return nil
	})
}

// earlier is how many tasks are measured by the metrics of before: those that had been handed out
// when the new ones were stored, and were not read.
func (r *rereading) earlier() int64 {
	if slices.Equal(r.sweep.Record.Recipe.Metrics, r.with.Metrics) {
		return r.running
	}
	return handedOut(r.then.Counts) - r.ended
}

// handedOut is how many tasks workers have, or ended. Those that were cancelled, of which many were
// never handed out, do not count.
func handedOut(counts map[string]int64) (n int64) {
	for _, state := range task.States {
		if state != task.Pending && state != task.Cancelled {
			n += counts[state.String()]
		}
	}
	return n
}

// findValues finds the metrics of tasks.yml that have values and a new rule.
func (r *rereading) findValues(ctx context.Context) error {
	r.missing = map[string]int64{}
	isNew := func(rule metric.Rule) bool {
		return !slices.ContainsFunc(r.sweep.Record.Recipe.Metrics, func(was metric.Rule) bool {
			was.Take = rule.Take
			return was == rule
		})
	}
	return r.tasks(ctx, func(t endedTask) error {
		for _, rule := range r.with.Metrics {
			if _, ok := t.had.Get(rule.Name); ok && isNew(rule) {
				r.missing[rule.Name] = 0
			}
		}
		return nil
	})
}

// lost returns an error if a new rule finds no value of a metric that has values.
func (r *rereading) lost() error {
	for _, rule := range r.with.Metrics {
		if n := r.missing[rule.Name]; n > 0 {
			name := cli.Visible(rule.Name)
			return &cli.Error{Code: cli.Invalid,
				Err: fmt.Errorf("%s: found no value for metric %s, although %s %s one; nothing "+
					"was changed", r.sweep.ID, name, human.Plural(n, "task"),
					human.Pick(int(n), "has", "have")),
				Remedy: r.correct(rule)}
		}
	}
	return nil
}

// correct tells how to correct a rule that finds no value.
func (r *rereading) correct(rule metric.Rule) string {
	text := "correct '" + cli.Visible(cmp.Or(rule.Pattern, rule.File)) + "'"
	if r.sweep.Record.CommandLine {
		return text
	}
	return text + " in tasks.yml, or remove " + cli.Visible(rule.Name) + " from its metrics to " +
		"drop the values"
}

// endedTask is a task that has ended.
type endedTask struct {
	index int64
	had   metric.Final
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
	if len(r.missing) > 0 || len(r.held) < api.MostReread {
		return nil
	}
	return r.store(ctx, false)
}

// store stores what was read, and at the last the rules even where nothing was.
func (r *rereading) store(ctx context.Context, last bool) error {
	if len(r.held) == 0 && (r.stored || !last) {
		return nil
	}
	return r.src.act(ctx, func(m *api.Client) error {
		for len(r.held) > 0 || !r.stored {
			n := min(len(r.held), api.MostReread)
			r.with.Tasks = r.held[:n]
			s, err := m.Reread(ctx, r.sweep.ID, r.with)
			if err != nil {
				return err
			}
			if !r.stored {
				r.then = s
			}
			r.held, r.stored = r.held[n:], true
		}
		return nil
	})
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
		r.noteIncomplete(m.Index, m.Gone, nothing)
		r.noteIncomplete(m.Index, m.Kept, onlyLater)
		r.noteIncomplete(m.Index, m.Incomplete, onlyLast)
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
		if !slices.Contains(m.Gone, now.Name) {
			delete(r.missing, now.Name)
		}
	}
	for _, before := range t.had {
		if n, ok := r.missing[before.Name]; ok {
			r.missing[before.Name] = n + 1
		}
	}
}

// noteIncomplete counts a task for which not all values of some metrics could be read again.
func (r *rereading) noteIncomplete(index int64, names []string, values found) {
	for _, name := range names {
		rule := metric.Rule{Name: name}
		if at := slices.IndexFunc(r.with.Metrics, func(r metric.Rule) bool {
			return r.Name == name
		}); at >= 0 {
			rule = r.with.Metrics[at]
		}
		if values != nothing && (rule.Take == "" || rule.Take == metric.Last) {
			continue
		}
		at := slices.IndexFunc(r.incomplete, func(m incompleteMetric) bool {
			return m.rule == rule && m.found == values
		})
		if at < 0 {
			at = len(r.incomplete)
			r.incomplete = append(r.incomplete, incompleteMetric{rule: rule, found: values,
				first: task.ID{Sweep: r.sweep.ID, Index: index}})
		}
		r.incomplete[at].tasks++
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
