package listing_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// manySweeps makes a store of sweeps with tasks in every state. Sweeps have columns that others do
// not have, and a column that is a number in one is a text in another.
func manySweeps(t *testing.T, w *rand.Rand, n int) *listing.Archive {
	t.Helper()
	s, err := store.Open(t.Context(), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	spaces := []string{"lr: [0.1, 0.01, auto]\nseed: [0, 9, 1)\n", "lr: [3, 0.2]\n",
		"depth: [1, 2, 3]\n",
		"size: [5, b]\nlr: [7]\n"}
	for range n {
		sp := parameters(t, spaces[w.IntN(len(spaces))])
		r := core.Record{Version: task.Version, Space: sp, Recipe: task.Recipe{
			Definition: []string{"train", "evaluate"}[w.IntN(2)], Command: []string{"train.py"},
			Revision: "r1", Metrics: []metric.Rule{{Name: "accuracy"}}}}
		total := sp.Len()
		if total > 8 && w.IntN(2) == 0 {
			r.Ranges = core.Ranges{{From: 2, To: 4}, {From: 6, To: total}}
			total = r.Ranges.Len()
		}
		sw, err := s.Add(t.Context(), store.NewSweep{Record: r, Total: total, Submitted: began})
		if err != nil {
			t.Fatal(err)
		}
		var tasks []core.Task
		head := sw.Head
		head.UnissuedCancelled = w.IntN(4) == 0
		for n := range total {
			if i := r.Ranges.At(n); w.IntN(3) > 0 { // others have no row yet
				tasks = append(tasks, mixedTask(i+w.Int64N(1000)))
				tasks[len(tasks)-1].Index = i
				head.Rows[tasks[len(tasks)-1].State]++
			}
		}
		changes := core.Changes{Head: head, Tasks: tasks}
		rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record, Changes: changes}
		if err := s.Commit(t.Context(), &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
			t.Fatal(err)
		}
	}
	return &listing.Archive{Store: &s.Reader}
}

// everyTask asks every sweep for its tasks, the newest first. Without is how many sweeps lack a
// column.
func everyTask(t *testing.T, a *listing.Archive, q api.Query) (rows []table.Row, without int) {
	t.Helper()
	sweeps, err := a.Sweeps(t.Context(), "", 0)
	if err != nil {
		t.Fatal(err)
	}
	q.Limit, q.After = 0, ""
	for _, s := range slices.Backward(sweeps) {
		counts := int64(0)
		for _, state := range q.States {
			counts += s.Counts[state.String()]
		}
		if len(q.States) > 0 && counts == 0 {
			continue // a sweep that cannot have such tasks is not asked for its columns
		}
		by := q.Sort
		q := q
		q.Sort = ""
		if _, err := a.Tasks(t.Context(), s.ID, api.Query{Sort: by}); err != nil {
			without++
			continue
		}
		page, err := a.Tasks(t.Context(), s.ID, q)
		if err != nil {
			without++
			continue
		}
		rows = append(rows, page.Tasks...)
	}
	return rows, without
}

func ids(rows []table.Row) (all []string) {
	for _, r := range rows {
		all = append(all, r.ID)
	}
	return all
}

// A list of all sweeps' tasks has on its pages the tasks that every sweep has for the query, in its
// order, each once.
func TestAllTasksAreThoseOfEverySweep(t *testing.T) {
	t.Parallel()
	w := rand.New(rand.NewPCG(1, 2))
	for range 3 {
		a := manySweeps(t, w, 1+w.IntN(15))
		for _, where := range []string{"", "host=gpu1", "host=none", "seed>3", "depth=2 or index=1",
			"lr=auto",
			"loss>0", "state!=failed and lr<1", "seed * lr > 1", "host~gpu and accuracy>0.2",
			"sweep='train-1'"} {
			for _, by := range []string{"", "lr", "-lr", "duration", "-host", "state", "size",
				"-accuracy", "index",
				"depth", "-started"} {
				q := api.Query{Where: where, Sort: by, Limit: 1 + w.IntN(40)}
				if w.IntN(3) == 0 {
					q.States = []task.State{task.States[w.IntN(len(task.States))], task.Pending}
				}
				checkAllTasks(t, a, q)
			}
		}
	}
}

func checkAllTasks(t *testing.T, a *listing.Archive, q api.Query) {
	t.Helper()
	want, without := everyTask(t, a, q)
	all := table.Schema{Parameters: []string{"lr", "seed", "depth", "size"},
		Metrics: []string{"accuracy"}}
	if q.Sort != "" && len(want) > 0 {
		var err error
		if want, err = sorted(want, all.With(want), q.Sort); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for pages := 0; pages == 0 || q.After != ""; pages++ {
		page, err := a.AllTasks(t.Context(), q)
		if _, refused := errors.AsType[*api.Error](err); refused && without > 0 && len(want) == 0 {
			return
		}
		if err != nil {
			t.Fatalf("%+v: %v", q, err)
		}
		if pages == 0 && page.Next == "" && page.WithoutColumn != without {
			t.Fatalf("%+v: %d sweeps lack a column, want %d", q, page.WithoutColumn, without)
		}
		if len(page.Tasks) > q.Limit || page.Next != "" && len(page.Tasks) < q.Limit {
			t.Fatalf("%+v: a page of %d", q, len(page.Tasks))
		}
		got, q.After = append(got, ids(page.Tasks)...), page.Next
	}
	if fmt.Sprint(got) != fmt.Sprint(ids(want)) {
		t.Fatalf("%+v:\n%v\nwant\n%v", q, got, ids(want))
	}
}

func TestAllTasksRefusesAWrongQuery(t *testing.T) {
	t.Parallel()
	a := manySweeps(t, rand.New(rand.NewPCG(3, 4)), 12)
	for _, c := range []struct {
		q                api.Query
		parameter, error string
	}{
		{api.Query{Where: "lr<"}, "where", "a value is missing"},
		{api.Query{Where: "state=runing"}, "where", "did you mean running"},
		{api.Query{Where: "banana=1"}, "where", `there is no column "banana"`},
		{api.Query{Sort: "banana"}, "sort", `there is no column "banana"`},
		{api.Query{Limit: -1}, "limit", "negative"},
		{api.Query{After: "x"}, "after", "x is not the next of a page"},
		{api.Query{After: "none-1/0"}, "after", "none-1/0 is not the next of a page"},
		{api.Query{After: "train-1/-1"}, "after", "is not the next of a page"},
		{api.Query{After: "train-1/0", Sort: "host"}, "after", "is not the next of a page"},
		{api.Query{After: "100000", Sort: "host"}, "after", "ends after 100000 tasks"},
	} {
		_, err := a.AllTasks(t.Context(), c.q)
		e, ok := errors.AsType[*api.Error](err)
		if !ok || e.Parameter != c.parameter || !strings.Contains(e.Error(), c.error) {
			t.Errorf("%+v: %v", c.q, err)
		}
	}
}
