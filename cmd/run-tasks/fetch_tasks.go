package main

import (
	"context"
	"maps"
	"slices"

	"mlframework/cmd/internal/cli"
	"mlframework/infra"
	"mlframework/sweep/api"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// fetchPlan is which outputs are fetched.
type fetchPlan struct {
	infra.Outputs
	hosts map[string][]int64 // tasks
	begun map[int64]bool     // whether a task has started, and so had a folder
	// combinations is how many of a sweep that repeats them --top chose; 0: it chose tasks.
	combinations int
}

// tasks is how many tasks' outputs are fetched.
func (w fetchPlan) tasks() (n int) {
	for _, indexes := range w.hosts {
		n += len(indexes)
	}
	return n
}

// fetchedSweep finds the sweep whose outputs are meant. Of the best tasks it needs an objective.
func fetchedSweep(ctx context.Context, q queries, name string, top int) (api.Sweep, error) {
	s, err := sweepOf(ctx, q, name, false)
	if err == nil && top > 0 && s.Record.Objective.IsZero() {
		err = cli.Wrong("name another sweep, or use --where to select tasks",
			"%s has no objective to rank its tasks by", s.ID)
	}
	return s, err
}

// cleared reports whether in a task's folder only outputs are left. One that runs has its copy of
// the project there, and one that was lost may have.
func cleared(state string) bool {
	return slices.Contains([]string{task.Succeeded.String(), task.Failed.String(),
		task.Timeout.String(), task.OOM.String()}, state)
}

// plan chooses the tasks whose outputs are fetched.
func (o fetchOptions) plan(ctx context.Context, src source, s api.Sweep) (w fetchPlan, err error) {
	w = fetchPlan{Outputs: infra.Outputs{Sweep: s.ID, Files: o.files},
		hosts: map[string][]int64{}, begun: map[int64]bool{}}
	revisions := map[string]bool{}
	q := api.Query{Issued: true, Where: o.where, Top: o.top}
	isMeant := func(r *table.Row) bool { return !o.isTask || r.Index == o.index }
	switch ranked := q.Top > 0; {
	case ranked && len(s.Record.Repeats()) > 0 && !o.ungroup:
		best, err := bestCombinations(ctx, src, s, q.Where, q.Top)
		if err != nil {
			return w, err
		}
		isMeant, w.combinations, q.Top = best.has, len(best.of), 0
	case ranked:
		isMeant = func(r *table.Row) bool { return table.IsRanked(s.Record.Objective, r) }
		q.Best = true
	}
	pruned := false
	err = src.Rows(ctx, s.ID, q, func(r *table.Row) error {
		if s.Record.Pruned.Has(r.Index) {
			pruned = pruned || isMeant(r)
			return nil
		}
		if r.Host != "" && isMeant(r) {
			w.hosts[r.Host] = append(w.hosts[r.Host], r.Index)
			w.begun[r.Index] = r.Started != nil
			if !cleared(r.State) {
				revisions[r.Revision] = true
			}
		}
		return nil
	})
	w.Revisions = slices.Sorted(maps.Keys(revisions))
	if err == nil && len(w.hosts) == 0 && pruned {
		return w, cli.Wrong("run-tasks results "+s.ID+" still has their results",
			"the outputs of the selected tasks of %s were removed", s.ID)
	}
	if err == nil && len(w.hosts) == 0 {
		what := "none of the selected tasks of %s has started"
		if o.top > 0 {
			what = "none of the selected tasks of %s has succeeded with its objective"
		}
		err = cli.Wrong("run-tasks show "+s.ID+" shows how it stands", what, s.ID)
	}
	return w, err
}
