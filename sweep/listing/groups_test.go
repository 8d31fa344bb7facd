package listing_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/api"
	"mlframework/sweep/group"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// However little a question for groups reads, its answer is what all rows give, also of a sweep
// that was extended.
func TestGroupsAreThoseOfAllRows(t *testing.T) {
	t.Parallel()
	bys := [][]string{{"lr"}, {"lr", "name"}, {"late", "seed"}, {"host", "lr"}, {"state"},
		{"slot", "extra"}, {}}
	wheres := []string{"", "lr=0.1", "seed>=4 and name!=auto", "late=x or lr=0.01",
		"state!=succeeded and seed<5", "index>30", "extra>=1", "state='nothing'"}
	for _, cut := range []bool{false, true} {
		a, id := mixed(t, cut)
		all := rowsOf(t, a, id, api.Query{})
		schema := table.Schema{Parameters: []string{"lr", "name", "seed", "late"},
			Metrics: []string{"loss"}}.With(all)
		for _, by := range bys {
			for _, where := range wheres {
				for _, states := range [][]task.State{nil, {task.Failed, task.Running},
					{task.Pending, task.Succeeded}} {
					for _, metrics := range [][]string{nil, {"extra", "duration"}} {
						name := fmt.Sprintf("by %v of %v where %q states %v cut %t", by, metrics,
							where, states, cut)
						q := api.GroupQuery{Query: api.Query{Where: where, States: states}, By: by,
							Metrics: metrics}
						want := groupsOf(t, id, expected(t, all, schema, where, "", states), schema,
							q)
						got, err := a.Groups(t.Context(), id, q)
						if err != nil {
							t.Fatalf("%s: %v", name, err)
						}
						if d := cmp.Diff(want, got.Table, cmpopts.EquateEmpty()); d != "" {
							t.Errorf("%s (-all rows +answer):\n%s", name, d)
						}
					}
				}
			}
		}
	}
}

func groupsOf(t *testing.T, id string, rows []table.Row, s table.Schema,
	q api.GroupQuery) group.Table {
	t.Helper()
	g, err := group.New(group.Options{Sweep: id, By: q.By, Metrics: q.Metrics,
		Objective: metric.Objective{Metric: "accuracy", Maximize: true}, Schema: s})
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if err := g.Add(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	table, err := g.Table(group.Order{Sort: q.Sort})
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// Groups come in pages, which together are all groups, and only the first where only these are
// wanted.
func TestPagesOfGroups(t *testing.T) {
	t.Parallel()
	a, id := mixed(t, false)
	for _, top := range []int{0, 1, 8, 9, 100} {
		q := api.GroupQuery{Query: api.Query{Top: top, Sort: "-seed"}, By: []string{"seed"}}
		whole, err := a.Groups(t.Context(), id, q)
		if err != nil || whole.Next != "" || int64(len(whole.Groups)) != whole.Total {
			t.Fatalf("top %d: %d of %d groups, next %q: %v", top, len(whole.Groups), whole.Total,
				whole.Next, err)
		}
		var parts []group.Group
		for q.Limit = 4; ; {
			page, err := a.Groups(t.Context(), id, q)
			if err != nil || len(page.Groups) > 4 {
				t.Fatal(len(page.Groups), err)
			}
			parts = append(parts, page.Groups...)
			if q.After = page.Next; q.After == "" {
				break
			}
		}
		if d := cmp.Diff(whole.Groups, parts); d != "" {
			t.Errorf("top %d (-all +in pages):\n%s", top, d)
		}
	}
}

// BenchmarkGroups summarizes 200,000 tasks: by two parameters, and by what only their rows have.
func BenchmarkGroups(b *testing.B) {
	const n = 200_000
	a, id := many(b, n)
	for name, q := range map[string]api.GroupQuery{
		"parameters":  {By: []string{"lr", "name"}},
		"half of all": {By: []string{"lr", "seed"}},
		"host":        {By: []string{"host"}},
		"filtered":    {By: []string{"lr", "name"}, Query: api.Query{Where: "seed < 5"}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			processor := processor(b)
			for b.Loop() {
				if _, err := a.Groups(context.Background(), id, q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(processor().Seconds()*1e6/float64(b.N)/n, "cpu-us/task")
		})
	}
}
