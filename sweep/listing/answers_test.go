package listing_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// mixed returns a sweep of tasks in every state, also such that have no row: with an extension that
// lacks a parameter and has another, with metrics that are no numbers, and with gaps between the
// indexes when it is cut.
func mixed(t *testing.T, cut bool) (*listing.Archive, string) {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := core.Record{Version: task.Version,
		Space:      parameters(t, "lr: [0.1, 0.01]\nname: [b10, b9, auto, 7]\nseed: [0, 9, 1)\n"),
		Extensions: []*space.Space{parameters(t, "lr: [0.5]\nseed: [20, 26, 1)\nlate: [x, 5]\n")},
		Objective:  metric.Objective{Metric: "accuracy", Maximize: true},
		Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"}, Revision: "r1",
			Metrics: []metric.Rule{{Name: "loss"}}}}
	total := int64(2*4*9 + 6*2)
	if cut {
		r.Ranges = core.Ranges{{From: 3, To: 40}, {From: 50, To: total}}
		total = r.Ranges.Len()
	}
	sw, err := s.Add(t.Context(), store.NewSweep{Record: r, Total: total, Submitted: began})
	if err != nil {
		t.Fatal(err)
	}
	var tasks []core.Task
	head := sw.Head
	for n := range total {
		i := r.Ranges.At(n)
		if i%7 == 3 { // never handed out
			continue
		}
		tasks = append(tasks, mixedTask(i))
		head.Rows[tasks[len(tasks)-1].State]++
	}
	rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record,
		Changes: core.Changes{Head: head, Tasks: tasks}}
	if err := s.Commit(t.Context(), &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
		t.Fatal(err)
	}
	return &listing.Archive{Store: &s.Reader}, head.ID
}

func mixedTask(i int64) core.Task {
	t := endedTask(i)
	o := t.Attempt.Outcome
	switch i % 11 {
	case 1:
		o.Metrics = nil
	case 2:
		o.Metrics = metric.Final{{Name: "loss", Value: math.NaN()},
			{Name: "accuracy", Value: math.NaN()}}
	case 4:
		o.Metrics = append(o.Metrics, metric.FinalValue{Name: "extra", Value: float64(i % 3)})
	case 5:
		t = core.Task{Index: i, State: task.Running, Attempts: 1,
			Attempt: core.Attempt{Number: 1, Worker: "w1", Start: t.Attempt.Start,
				Started: t.Attempt.Started}}
	case 6:
		t.State, o.Class, o.Reason = task.Cancelled, task.Stopped, "cancelled by ann"
	case 7:
		t = core.Task{Index: i, State: task.Queued}
	}
	return t
}

func parameters(t *testing.T, text string) *space.Space {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// However little a question reads, its answer is what filtering and sorting all rows gives.
func TestAnswersAreThoseOfAllRows(t *testing.T) {
	t.Parallel()
	wheres := []string{"", "lr=0.1", "seed>=4 and name!=auto", "name=''", "late=x or lr=0.01",
		"state=failed", "state!=succeeded and seed<5",
		"state=running or name=7", "not state=pending", "host=gpu1", "index>30",
		"accuracy>0.03 and lr=0.1", "loss=nan or accuracy=nan",
		"extra>=1", "reason~cancelled", "started>'2026-01-02T03:04:05.03'", "duration<10ms",
		"exit_code=1 and lr=0.01", "argv~'seed=3'",
		"id~3$", "state='nothing'", "attempts=0", "gpus=''", "slot=1 and seed=8",
		"lr * seed > 0.3", "seed % 3 = 1 and lr in [0.1, 0.01]", "lr < seed / 40 or accuracy > lr",
		"seed > index / 5 and index % 2 = 0",
		"extra + loss >= 1", "loss < `extra`", "name not in [auto, 7]",
		"duration / attempts > 5ms or duration > 0.005", "1 + 1 = 3",
		"1 + 1 < 3 and state=failed"}
	sorts := []string{"", "best", "lr", "-name", "seed", "-late", "state", "-index", "accuracy",
		"-accuracy", "-extra", "host", "started", "duration", "reason", "id", "attempts"}
	asked := 0
	for _, cut := range []bool{false, true} {
		a, id := mixed(t, cut)
		all := rowsOf(t, a, id, api.Query{})
		schema := table.Schema{Parameters: []string{"lr", "name", "seed", "late"},
			Metrics: []string{"loss"}}.With(all)
		for _, where := range wheres {
			for _, by := range sorts {
				for _, states := range [][]task.State{nil, {task.Failed, task.Running},
					{task.Pending, task.Succeeded}} {
					if asked++; asked%4 != 0 { // all of them take minutes with the race detector
						continue
					}
					name := fmt.Sprintf("where %q sort %q states %v cut %t", where, by, states, cut)
					want := expected(t, all, schema, where, by, states)
					q := api.Query{Where: where, Sort: by, States: states, Best: by == "best"}
					if q.Best {
						q.Sort = ""
					}
					if d := cmp.Diff(indexes(want), indexes(rowsOf(t, a, id, q)),
						cmpopts.EquateEmpty()); d != "" {
						t.Errorf("%s (-all rows +answer):\n%s", name, d)
					}
					top := q
					top.Top = 5
					if d := cmp.Diff(indexes(want[:min(5, len(want))]),
						indexes(rowsOf(t, a, id, top)), cmpopts.EquateEmpty()); d != "" {
						t.Errorf("%s, the first 5 (-all rows +answer):\n%s", name, d)
					}
					if d := cmp.Diff(indexes(want), indexes(paged(t, a, id, q, 7)),
						cmpopts.EquateEmpty()); d != "" {
						t.Errorf("%s, in pages (-all rows +answer):\n%s", name, d)
					}
				}
			}
		}
	}
}

// A row is whole however it was found.
func TestRowsAreWhole(t *testing.T) {
	t.Parallel()
	a, id := mixed(t, false)
	all := rowsOf(t, a, id, api.Query{})
	for _, q := range []api.Query{{Sort: "index"}, {Where: "index>=0"},
		{Where: "not host=nowhere"}} {
		if d := cmp.Diff(all, rowsOf(t, a, id, q), cmpopts.EquateNaNs(),
			cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%+v: %s", q, d)
		}
	}
}

// picked returns the rows that an expression picks.
func picked(rows []table.Row, s table.Schema, where string) (all []table.Row, err error) {
	f, err := table.ParseFilter(where, s)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		if f.Match(&rows[i]) {
			all = append(all, rows[i])
		}
	}
	return all, nil
}

// ranking returns rows best first; ties are in the order of index.
func ranking(rows []table.Row, o metric.Objective) (all []table.Row) {
	rows = slices.Clone(rows)
	slices.SortStableFunc(rows, func(a, b table.Row) int { return int(a.Index - b.Index) })
	sorter := table.NewRanking(o)
	for i := range rows {
		sorter.Add(&rows[i], int64(i))
	}
	for _, at := range sorter.Sorted() {
		all = append(all, rows[at])
	}
	return all
}

func expected(t *testing.T, all []table.Row, s table.Schema, where, by string,
	states []task.State) []table.Row {
	t.Helper()
	rows, err := picked(all, s, where)
	if err != nil {
		t.Fatal(err)
	}
	if len(states) > 0 {
		rows = slices.DeleteFunc(slices.Clone(rows), func(r table.Row) bool {
			return !slices.ContainsFunc(states, func(s task.State) bool {
				return s.String() == r.State
			})
		})
	}
	switch by {
	case "":
	case "best":
		rows = ranking(rows, metric.Objective{Metric: "accuracy", Maximize: true})
	default:
		var err error
		if rows, err = sorted(rows, s, by); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

func rowsOf(t *testing.T, a *listing.Archive, id string, q api.Query) (rows []table.Row) {
	t.Helper()
	if err := a.Rows(context.Background(), id, q,
		func(r *table.Row) error { rows = append(rows, *r); return nil }); err != nil {
		t.Fatalf("%+v: %v", q, err)
	}
	return rows
}

func paged(t *testing.T, a *listing.Archive, id string, q api.Query, size int) (rows []table.Row) {
	t.Helper()
	for q.Limit = size; ; {
		page, err := a.Tasks(context.Background(), id, q)
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, page.Tasks...)
		if q.After = page.Next; q.After == "" {
			return rows
		}
	}
}

// sorted returns rows in the order of a column.
func sorted(rows []table.Row, s table.Schema, by string) (all []table.Row, err error) {
	sorter, err := table.NewSorter(s, by)
	if err != nil {
		return nil, err
	}
	for i := range rows {
		sorter.Add(&rows[i], int64(i))
	}
	for _, at := range sorter.Sorted() {
		all = append(all, rows[at])
	}
	return all, nil
}
