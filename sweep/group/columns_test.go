package group_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"mlframework/sweep/group"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

// Whatever parameters and metrics are called, every column has a name of its own, and sorting by a
// name finds the column that has it, then the mean of the metric that has it.
func TestNamesOfColumns(t *testing.T) {
	t.Parallel()
	rows := []table.Row{
		ended(0, "n=1 tasks=5 x.sd=7 missing=a n:4 tasks:1 mean:3 sd:2"),
		ended(1, "n=2 tasks=5 x.sd=8 missing=b n:3 tasks:2 mean:1 sd:4"),
		ended(2, "n=3 tasks=5 x.sd=9 missing=c n:2 tasks:3 mean:2 sd:1"),
		ended(3, "n=3 tasks=5 x.sd=9 missing=c n:2 tasks:3 mean:2 sd:1"),
	}
	schema := table.Schema{}.With(rows)
	for name, c := range map[string]struct {
		by, metrics, sort, header, order string // order: of the first tasks
	}{
		"parameter n": {"n", "mean", "-n",
			"n,tasks,mean.n,mean.mean,mean.sd,mean.low,mean.high,mean.missing", "2 1 0"},
		"n of the metric":       {"n", "mean", "-mean.n", "n,tasks,mean.n,", "2 0 1"},
		"parameter and metric":  {"n", "n", "n", "parameters.n,tasks,n.n,n.mean,", "2 1 0"},
		"the parameter of both": {"n", "n", "-parameters.n", "parameters.n,tasks,n.n,", "2 1 0"},
		"metric before n": {"x.sd", "mean,metrics.n", "n",
			"x.sd,tasks,mean.n,mean.mean,mean.sd,mean.low,mean.high,mean.missing,n.n,", "2 1 0"},
		"metric sd":   {"x.sd", "mean,sd", "-sd", "x.sd,tasks,mean.n,", "1 0 2"},
		"metric mean": {"x.sd", "metrics.n,mean", "mean", "x.sd,tasks,n.n,", "1 2 0"},
		"number of tasks": {"n", "metrics.tasks", "-tasks", "n,tasks,tasks.n,tasks.mean,",
			"2 0 1"},
		"metric tasks": {"n", "tasks", "-tasks.mean", "n,tasks,tasks.n,tasks.mean,",
			"2 1 0"},
		"parameter tasks": {"tasks", "mean", "", "parameters.tasks,tasks,mean.n,", "0"},
		"by the metric tasks": {"metrics.tasks", "mean", "-metrics.tasks",
			"metrics.tasks,tasks,mean.n,", "2 1 0"},
		"by the metric itself": {"mean", "mean", "-mean", "metrics.mean,tasks,mean.n,mean.mean,",
			"0 2 1"},
		"parameter missing":      {"missing", "mean", "-missing", "missing,tasks,mean.n,", "2 1 0"},
		"short name of a metric": {"missing", "mean", "-high", "missing,tasks,mean.n,", "2 0 1"},
	} {
		g, err := group.New(group.Options{Sweep: "run-3", By: strings.Split(c.by, ","),
			Metrics: strings.Split(c.metrics, ","), Schema: schema,
			Objective: metric.Objective{Metric: "none"}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		for i := range rows {
			if err := g.Add(&rows[i]); err != nil {
				t.Fatal(err)
			}
		}
		table, err := g.Table(group.Order{Sort: c.sort})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var csv strings.Builder
		if err := table.WriteCSV(&csv); err != nil {
			t.Fatal(err)
		}
		header, _, _ := strings.Cut(csv.String(), "\n")
		if !strings.HasPrefix(header, c.header) {
			t.Errorf("%s: the columns are %s, want %s", name, header, c.header)
		}
		columns := strings.Split(header, ",")
		slices.Sort(columns)
		if len(slices.Compact(slices.Clone(columns))) != len(columns) {
			t.Errorf("%s: two columns have one name: %s", name, header)
		}
		if got := firstTasks(rows, table, c.by); got != c.order {
			t.Errorf("%s: the groups are of tasks %s, want %s", name, got, c.order)
		}
	}
}

// firstTasks are the numbers of the first task of each group.
func firstTasks(rows []table.Row, t group.Table, by string) string {
	var first []string
	for _, g := range t.Groups {
		i := slices.IndexFunc(rows, func(r table.Row) bool {
			column, err := table.Schema{}.With(rows).Column(by)
			text, _ := column.Text(&r)
			return err == nil && text == *g.By[t.By[0]]
		})
		first = append(first, string(rune('0'+i)))
	}
	return strings.Join(first, " ")
}

// A name with a comma that lacks its backquotes is told with them.
func TestNameWithAComma(t *testing.T) {
	t.Parallel()
	s := table.Schema{Parameters: []string{"a,b"}, Metrics: []string{"m"}}
	_, err := group.New(group.Options{By: []string{"a", "b"}, Schema: s})
	const want = "there is no column \"a\"; write `a,b` where that is meant, in backquotes as it " +
		"has a comma"
	if e, ok := errors.AsType[*group.Error](err); !ok || e.Text != want {
		t.Errorf("%v, want %s", err, want)
	}
}
