package main

import (
	"context"
	"fmt"
	"slices"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/definition"
	"mlframework/sweep/master"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// rereadAtOnce is of how many tasks values are stored together.
const rereadAtOnce = 200

// rereading reads the metrics of a sweep's tasks again, by what tasks.yml says now.
type rereading struct {
	c       *command
	src     source
	sweep   api.Sweep
	with    api.Reread
	project *project

	read, changed int64
	kept          int64 // tasks of which nothing could be read
	first         error // why, of the first of them
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
	r.with.Metrics, r.with.Objective = append([]result.Rule{}, now.Recipe.Metrics...), now.Objective
	if err := r.all(ctx.Context); err != nil {
		return err
	}
	fmt.Fprintf(c.stderr, "metrics of %s were read again, and %d of them changed\n", plural(r.read, "task"), r.changed)
	if r.kept > 0 {
		fmt.Fprintf(c.stderr, "WARNING: %s kept the metrics they had: %v\n", plural(r.kept, "task"), r.first)
	}
	if src.folder(s.ID) == "" && slices.ContainsFunc(r.with.Metrics, func(m result.Rule) bool { return m.File != "" }) {
		fmt.Fprintln(c.stderr, "WARNING: files on hosts are not read again: metrics of files keep their values")
	}
	return nil
}

func (r *rereading) all(ctx context.Context) error {
	stored := false
	store := func() error {
		stored = true
		err := r.src.act(ctx, "results --reread "+r.sweep.ID, func(m *api.Client) error {
			_, err := m.Reread(ctx, r.sweep.ID, r.with)
			return err
		})
		r.with.Tasks = nil
		return err
	}
	err := r.src.Rows(ctx, r.sweep.ID, api.Query{Begun: true}, func(row *result.Row) error {
		if state, err := task.ParseState(row.State); err != nil || !state.Terminal() || row.Started == nil {
			return nil
		}
		measured, err := r.task(ctx, row)
		if err != nil {
			if r.kept++; r.first == nil {
				r.first = err
			}
			return ctx.Err()
		}
		if r.with.Tasks = append(r.with.Tasks, measured); len(r.with.Tasks) == rereadAtOnce {
			return store()
		}
		return nil
	})
	if err == nil && (!stored || len(r.with.Tasks) > 0) {
		err = store()
	}
	return err
}

// task reads what a task's newest attempt left.
func (r *rereading) task(ctx context.Context, row *result.Row) (m master.Remeasured, err error) {
	try, err := r.c.newTrial(r.project.record(""), false)
	if err != nil {
		return m, err
	}
	if err := try.task(ctx, r.src, row); err != nil {
		return m, err
	}
	defer try.close()
	all := try.final()
	if try.files == nil { // on a host: what was read of files stays
		for _, rule := range r.with.Metrics {
			if i := slices.IndexFunc(row.Metrics, func(m result.Metric) bool { return m.Name == rule.Name }); i >= 0 && rule.File != "" {
				all = append(all, row.Metrics[i])
			}
		}
	} else {
		m.Unmeasured = try.files.Problems()
	}
	r.read++
	if !same(row.Metrics, all) {
		r.changed++
	}
	m.Index, m.Metrics, m.Stdout, m.Stderr = row.Index, result.Stored(all), try.last["stdout"], try.last["stderr"]
	return m, nil
}

// same reports whether two tasks have the same metrics, in whatever order.
func same(a, b result.Final) bool {
	in := func(of result.Final) func(result.Metric) bool {
		return func(m result.Metric) bool {
			v, ok := of.Get(m.Name)
			return ok && (v == m.Value || v != v && m.Value != m.Value)
		}
	}
	has, had := in(a), in(b)
	return len(a) == len(b) && !slices.ContainsFunc(a, func(m result.Metric) bool { return !had(m) }) && !slices.ContainsFunc(b, func(m result.Metric) bool { return !has(m) })
}

// close ends the reading of files.
func (t *trial) close() {
	if t.files != nil {
		_ = t.files.Close() // it was only read
	}
}
