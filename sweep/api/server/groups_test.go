package server_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
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
	bys := [][]string{{"lr"}, {"lr", "name"}, {"late", "seed"}, {"host", "lr"}, {"state"}, {"slot", "extra"}, {}}
	wheres := []string{"", "lr=0.1", "seed>=4 and name!=auto", "late=x or lr=0.01",
		"state!=succeeded and seed<5", "index>30", "extra>=1", "state='nothing'"}
	for _, cut := range []bool{false, true} {
		a, id := mixed(t, cut)
		all := rowsOf(t, a, id, api.Query{})
		schema := table.Schema{Parameters: []string{"lr", "name", "seed", "late"},
			Metrics: []string{"loss"}}.With(all)
		for _, by := range bys {
			for _, where := range wheres {
				for _, states := range [][]task.State{nil, {task.Failed, task.Running}, {task.Pending, task.Succeeded}} {
					for _, metrics := range [][]string{nil, {"extra", "duration"}} {
						name := fmt.Sprintf("by %v of %v where %q states %v cut %t", by, metrics, where, states, cut)
						q := api.GroupQuery{Query: api.Query{Where: where, States: states}, By: by, Metrics: metrics}
						want := groupsOf(t, id, expected(t, all, schema, where, "", states), schema, q)
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

// Groups come in pages, which together are all groups, and only the first where only these are wanted.
func TestPagesOfGroups(t *testing.T) {
	t.Parallel()
	a, id := mixed(t, false)
	for _, top := range []int{0, 1, 8, 9, 100} {
		q := api.GroupQuery{Query: api.Query{Top: top, Sort: "-seed"}, By: []string{"seed"}}
		whole, err := a.Groups(t.Context(), id, q)
		if err != nil || whole.Next != "" || int64(len(whole.Groups)) != whole.Total {
			t.Fatalf("top %d: %d of %d groups, next %q: %v", top, len(whole.Groups), whole.Total, whole.Next, err)
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

// A master answers as its store does, and one of before that question is asked for the tasks.
func TestGroupsOfMasters(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.hire("w1", 2, func(g given) *task.Outcome {
		o := well(g)
		if g.Index == 3 {
			o.Class, o.Metrics = task.Error, nil
		}
		return o
	})
	id := s.submit(5)
	s.becomes(id, map[string]int64{"succeeded": 4, "failed": 1})
	for _, c := range []*api.Client{s.client, old(t, s.socket())} {
		q := api.GroupQuery{Query: api.Query{Where: "index > 0", Top: 1}, By: []string{"host"},
			Metrics: []string{"duration"}}
		got, err := c.Groups(t.Context(), id, q)
		if err != nil || len(got.Groups) != 1 {
			t.Fatal(got, err)
		}
		one := got.Groups[0]
		missing := []group.Missing{{Why: "failed", Tasks: 1, First: id + "/3"}}
		if d := cmp.Diff(missing, one.Metrics["duration"].Missing); d != "" || one.Tasks != 4 ||
			one.Metrics["duration"].N != 3 || *one.By["host"] != "gpu1" {
			t.Errorf("%+v %s", one, d)
		}
		if got, err = c.Groups(t.Context(), "", api.GroupQuery{}); err != nil ||
			!slices.Equal(got.By, []string{"i"}) || got.Total != 5 {
			t.Errorf("by what varies: %+v, %v", got.Table, err)
		}
		for _, q := range []struct {
			by, sort, where string
			metrics         []string
			want            string
		}{
			{by: "none-of-it", want: `by: there is no column "none-of-it"`},
			{by: "i", metrics: []string{"lost"}, want: `of: there is no column "lost"`},
			{by: "i", metrics: []string{"host"}, want: "of: host is not a metric"},
			{by: "i", sort: "host", want: `sort: there is no column "host" among the groups`},
			{by: "i", where: "i=", want: "where: column"},
		} {
			_, err := c.Groups(t.Context(), id,
				api.GroupQuery{Query: api.Query{Sort: q.sort, Where: q.where}, By: []string{q.by},
					Metrics: q.metrics})
			e, ok := err.(*api.Error)
			if !ok || !strings.HasPrefix(e.Parameter+": "+e.Text, q.want) {
				t.Errorf("%+v: %v", q, err)
			}
		}
		if _, err := c.Groups(t.Context(), "none-1", api.GroupQuery{}); err == nil ||
			!strings.Contains(err.Error(), "none-1") {
			t.Errorf("of a sweep that is not there: %v", err)
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
