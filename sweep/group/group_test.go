package group_test

import (
	"errors"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/group"
	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

var update = flag.Bool("update", false, "write the golden file anew")

// ended is a task of run-3 that succeeded, with parameters and metrics as "lr=0.1 seed=2
// accuracy:0.9".
func ended(index int64, words string) table.Row {
	r := table.Row{Index: index, State: "succeeded", Attempts: 1, Host: "gpu1"}
	for word := range strings.FieldsSeq(words) {
		if name, value, ok := strings.Cut(word, "="); ok {
			r.Parameters = append(r.Parameters, table.Parameter{Name: name, Value: value})
			continue
		}
		name, value, _ := strings.Cut(word, ":")
		v, _ := metric.ParseNumber(value)
		r.Metrics = append(r.Metrics, metric.FinalValue{Name: name, Value: v})
	}
	return r
}

func in(state string, r table.Row) table.Row {
	r.State = state
	if state == "pending" {
		r.Attempts = 0
	}
	return r
}

// repeats is a sweep of four points and three seeds, of which some went wrong.
func repeats() []table.Row {
	return []table.Row{
		ended(0, "lr=0.1 unit=64 seed=0 accuracy:0.90 loss:1"),
		ended(1, "lr=0.1 unit=64 seed=1 accuracy:0.91 loss:2"),
		ended(2, "lr=0.1 unit=64 seed=2 accuracy:0.92 loss:inf"),
		ended(3, "lr=0.1 unit=128 seed=0 accuracy:0.95 loss:3"),
		in("failed", ended(4, "lr=0.1 unit=128 seed=1 accuracy:0.99")),
		ended(5, "lr=0.1 unit=128 seed=2 loss:4"),
		ended(6, "lr=0.01 unit=64 seed=0 accuracy:nan loss:5"),
		in("running", ended(7, "lr=0.01 unit=64 seed=1 accuracy:0.99 loss:6")),
		in("running", ended(8, "lr=0.01 unit=64 seed=2 accuracy:0.98 loss:7")),
		in("pending", ended(9, "lr=0.01 unit=128 seed=0")),
		in("pending", ended(10, "lr=0.01 unit=128 seed=1")),
		in("pending", ended(11, "lr=0.01 unit=128 seed=2")),
	}
}

var schema = table.Schema{Parameters: []string{"lr", "unit", "seed"},
	Metrics: []string{"accuracy", "loss"}}

var accuracy = metric.Objective{Metric: "accuracy", Maximize: true}

func summarize(t *testing.T, rows []table.Row, o group.Options, order group.Order) (
	group.Table, error,
) {
	t.Helper()
	o.Sweep = "run-3"
	if o.Schema.Parameters == nil {
		o.Schema = schema
	}
	g, err := group.New(o)
	if err != nil {
		return group.Table{}, err
	}
	for i := range rows {
		if err := g.Add(&rows[i]); err != nil {
			return group.Table{}, err
		}
	}
	return g.Table(order)
}

// brief is a table on few lines: the values, "n of tasks", and for each metric mean, deviation,
// interval and what is missing.
func brief(table group.Table) (lines []string) {
	for _, g := range table.Groups {
		var words []string
		for _, name := range table.By {
			text := "-"
			if v := g.By[name]; v != nil {
				text = *v
			}
			words = append(words, name+"="+text)
		}
		for _, m := range table.Metrics {
			s := g.Metrics[m]
			words = append(words, fmt.Sprintf("%s %d/%d %s %s %s %s", m, s.N, g.Tasks,
				group.Number(s.Mean), group.DeviationText(s.SD), group.IntervalText(s),
				group.MissingText(s.Missing)))
		}
		lines = append(lines, strings.TrimRight(strings.Join(words, " "), " "))
	}
	return lines
}

func TestGroups(t *testing.T) {
	t.Parallel()
	const (
		all      = "[0.885159, 0.934841]"
		failed   = "run-3/4 failed; run-3/5 without a value"
		notOver  = "run-3/6 nan; 2 running, first run-3/7"
		pending  = "3 pending, first run-3/9"
		unit128  = "lr=0.1 unit=128 accuracy 1/3 0.95 - - " + failed
		unit64   = "lr=0.1 unit=64 accuracy 3/3 0.91 0.01 " + all
		small64  = "lr=0.01 unit=64 accuracy 0/3 - - - " + notOver
		small128 = "lr=0.01 unit=128 accuracy 0/3 - - - " + pending
	)
	byPoint := group.Options{By: []string{"lr", "unit"}, Objective: accuracy}
	for name, c := range map[string]struct {
		o     group.Options
		order group.Order
		rows  []table.Row
		want  []string
	}{
		"ranked by the mean": {o: byPoint, want: []string{unit128, unit64, small64, small128}},
		"lower is better": {o: group.Options{By: []string{"lr", "unit"},
			Objective: metric.Objective{Metric: "accuracy"}}, want: []string{unit64, unit128,
			small64, small128}},
		"by a parameter": {o: byPoint, order: group.Order{Sort: "lr"},
			want: []string{small64, small128, unit64, unit128}},
		"by a parameter, downwards": {o: byPoint, order: group.Order{Sort: "-unit"},
			want: []string{unit128, small128, unit64, small64}},
		"by the number of values": {o: byPoint, order: group.Order{Sort: "-n"},
			want: []string{unit64, unit128, small64, small128}},
		"by the deviation": {o: byPoint, order: group.Order{Sort: "accuracy.sd"},
			want: []string{unit64, unit128, small64, small128}},
		"by the mean, upwards": {o: byPoint, order: group.Order{Sort: "accuracy"},
			want: []string{unit64, unit128, small64, small128}},
		"the first": {o: byPoint, order: group.Order{Most: 1},
			want: []string{unit128}},
		"a page": {o: byPoint, order: group.Order{Skip: 1, Most: 2},
			want: []string{unit64, small64}},
		"a page of the first": {o: byPoint, order: group.Order{Top: 2, Skip: 1, Most: 2},
			want: []string{unit64}},
		"beyond the last": {o: byPoint, order: group.Order{Skip: 9}},
		"only what was handed out": {o: byPoint, order: group.Order{Issued: true},
			want: []string{unit128, unit64, small64}},
		"another metric, not ranked": {o: group.Options{By: []string{"unit"}, Objective: accuracy,
			Metrics: []string{"loss"}},
			want: []string{"unit=64 loss 3/6 2.66667 2.08 [-2.50448, 7.83781] run-3/2 inf; " +
				"2 running, first run-3/7",
				"unit=128 loss 2/6 3.5 0.707 [-2.8531, 9.8531] run-3/4 " +
					"failed; " + pending}},
		"without an objective: all": {o: group.Options{By: []string{"seed"}}, rows: repeats()[:3],
			want: []string{"seed=0 accuracy 1/1 0.9 - -  loss 1/1 1 - -",
				"seed=1 accuracy 1/1 0.91 - -  loss 1/1 2 - -",
				"seed=2 accuracy 1/1 0.92 - -  loss 0/1 - - - run-3/2 inf"}},
		"no column: one group": {o: group.Options{Objective: accuracy}, rows: repeats()[:4],
			want: []string{"accuracy 4/4 0.92 0.0216 [0.885626, 0.954374]"}},
		"ties are in order": {o: byPoint,
			rows: []table.Row{ended(1, "lr=3 unit=1 accuracy:2"),
				ended(2, "lr=2 unit=1 accuracy:2"), ended(0, "lr=1 unit=1 accuracy:2")},
			want: []string{"lr=1 unit=1 accuracy 1/1 2 - -", "lr=3 unit=1 accuracy 1/1 2 - -",
				"lr=2 unit=1 accuracy 1/1 2 - -"}},
		"equal values": {o: byPoint,
			rows: []table.Row{ended(0, "lr=1 unit=1 accuracy:2"),
				ended(1, "lr=1 unit=1 accuracy:2")},
			want: []string{"lr=1 unit=1 accuracy 2/2 2 0 [2, 2]"}},
		"a parameter that some lack": {o: byPoint, rows: []table.Row{ended(0, "lr=1 accuracy:2"),
			ended(1, "unit=1 lr=1 accuracy:1")}, want: []string{"lr=1 unit=- accuracy 1/1 2 - -",
			"lr=1 unit=1 accuracy 1/1 1 - -"}},
		"absent is last": {o: byPoint, order: group.Order{Sort: "-unit"},
			rows: []table.Row{ended(0, "lr=1 accuracy:2"), ended(1, "unit=1 lr=1 accuracy:1")},
			want: []string{"lr=1 unit=1 accuracy 1/1 1 - -", "lr=1 unit=- accuracy 1/1 2 - -"}},
		"by host": {o: group.Options{By: []string{"host", "state"}, Objective: accuracy},
			rows: repeats()[3:5], want: []string{"host=gpu1 state=succeeded accuracy 1/1 0.95 - -",
				"host=gpu1 state=failed accuracy 0/1 - - - run-3/4 failed"}},
		"timeouts that are ranked": {o: group.Options{By: []string{"lr"},
			Objective: metric.Objective{Metric: "accuracy", Timeouts: true}},
			rows: []table.Row{in("timeout", ended(0, "lr=1 accuracy:2"))},
			want: []string{"lr=1 accuracy 1/1 2 - -"}},
		"timeouts that are not": {o: group.Options{By: []string{"lr"}, Objective: accuracy},
			rows: []table.Row{in("timeout", ended(0, "lr=1 accuracy:2"))},
			want: []string{"lr=1 accuracy 0/1 - - - run-3/0 timeout"}},
		"a column named twice": {o: group.Options{By: []string{"lr", "lr"}, Objective: accuracy,
			Metrics: []string{"accuracy", "metrics.accuracy"}}, rows: repeats()[:1],
			want: []string{"lr=0.1 accuracy 1/1 0.9 - -"}},
		"a parameter named as a sum": {o: group.Options{By: []string{"tasks"}, Objective: accuracy,
			Schema: table.Schema{Parameters: []string{"tasks"}, Metrics: []string{"accuracy"}}},
			rows: []table.Row{ended(0, "tasks=7 accuracy:1")},
			want: []string{"parameters.tasks=7 accuracy 1/1 1 - -"}},
		"-inf, of what is not ranked": {o: group.Options{By: []string{"lr"},
			Metrics: []string{"loss"}}, rows: []table.Row{ended(0, "lr=1 loss:-inf")},
			want: []string{"lr=1 loss 0/1 - - - run-3/0 -inf"}},
		"the duration, without any": {o: group.Options{By: []string{"lr"},
			Schema: table.Schema{Parameters: []string{"lr"}}}, rows: []table.Row{ended(0, "lr=1")},
			want: []string{"lr=1 duration 0/1 - - - run-3/0 without a value"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.rows == nil {
				c.rows = repeats()
			}
			got, err := summarize(t, c.rows, c.o, c.order)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, brief(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			for _, g := range got.Groups {
				for name, s := range g.Metrics {
					tasks := s.N
					for _, m := range s.Missing {
						tasks += m.Tasks
					}
					if tasks != g.Tasks {
						t.Errorf("%s: %d values and %v are not %d tasks", name, s.N, s.Missing,
							g.Tasks)
					}
				}
			}
		})
	}
}

// The filter of a group picks its tasks and no others.
func TestWhere(t *testing.T) {
	t.Parallel()
	s := table.Schema{Parameters: []string{"a b", "in", "x", "state"},
		Metrics: []string{"accuracy"}}
	var rows []table.Row
	for i, x := range []string{"1", "1.0", "", "it's", `\`, "x", "in", "nan"} {
		r := ended(int64(i), "accuracy:1 in=0")
		r.Parameters = append(r.Parameters, table.Parameter{Name: "x", Value: x},
			table.Parameter{Name: "a b", Value: "`" + x})
		if i%2 == 0 {
			r.Parameters = r.Parameters[:2]
		}
		rows = append(rows, r)
	}
	means, err := summarize(t, rows, group.Options{By: []string{"x", "a b", "in",
		"parameters.state", "metrics.accuracy", "host"}, Schema: s}, group.Order{})
	if err != nil {
		t.Fatal(err)
	}
	for i, g := range means.Groups {
		f, err := table.ParseFilter(g.Where(means.By), s)
		if err != nil {
			t.Fatal(err)
		}
		got := slices.DeleteFunc(slices.Clone(rows), func(r table.Row) bool { return !f.Match(&r) })
		if len(got) != 1 || got[0].Index != int64(i) {
			t.Errorf("%s: %v", g.Where(means.By), got)
		}
	}
}

func TestWrongQuestions(t *testing.T) {
	t.Parallel()
	many := table.Schema{Parameters: []string{"lr"}}
	for i := range 17 {
		many.Metrics = append(many.Metrics, fmt.Sprint("m", i))
	}
	for name, c := range map[string]struct {
		o    group.Options
		sort string
		want string
	}{
		"no such column": {o: group.Options{By: []string{"lrr"}},
			want: `there is no column "lrr"; did you mean lr? the columns are id, `},
		"no such metric": {o: group.Options{By: []string{"lr"}, Metrics: []string{"los"}},
			want: `there is no column "los"; did you mean loss? `},
		"not a metric": {o: group.Options{By: []string{"lr"}, Metrics: []string{"host"}},
			want: "host is not a metric, and not the duration: it has no mean"},
		"many metrics": {o: group.Options{By: []string{"lr"}, Schema: many},
			want: "17 metrics are more than 16; name those that are wanted (--metrics)"},
		"no such order": {o: group.Options{By: []string{"lr"}, Objective: accuracy},
			sort: "-acuracy.sd",
			want: `there is no column "acuracy.sd" among the groups; did you mean accuracy.sd? the columns are lr, tasks, accuracy.n, `},
		"of no group": {o: group.Options{By: []string{"lr"}, Objective: accuracy},
			sort: "unit", want: `there is no column "unit" among the groups; `},
		"too many groups": {o: group.Options{By: []string{"lr", "unit", "seed"}, Max: 11},
			want: "there are more than 11 groups: seed alone has 3 values or more; group by " +
				"columns with fewer values, or look at fewer tasks (--where) or at single ones " +
				"(--group-by none)"},
		"as many as there": {o: group.Options{By: []string{"lr", "unit", "seed"}, Max: 12}},
	} {
		_, err := summarize(t, repeats(), c.o, group.Order{Sort: c.sort})
		if err == nil {
			err = errors.New("")
		}
		if !strings.HasPrefix(err.Error(), c.want) || c.want == "" && err.Error() != "" {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}

// TestCoverage makes a thousand sweeps of one point each, of a known mean: the interval holds it in
// about 95 % of them, however few repeats there are.
func TestCoverage(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{2, 3, 5, 10} {
		random := rand.New(rand.NewPCG(1, uint64(n)))
		covered := 0
		for range 1000 {
			mean, deviation := random.NormFloat64(), math.Exp(random.NormFloat64())
			var rows []table.Row
			for i := range n {
				r := ended(i, "lr=0.1")
				r.Metrics = metric.Final{{Name: "accuracy",
					Value: mean + deviation*random.NormFloat64()}}
				rows = append(rows, r)
			}
			table, err := summarize(t, rows, group.Options{By: []string{"lr"}, Objective: accuracy},
				group.Order{})
			if err != nil {
				t.Fatal(err)
			}
			if s := table.Groups[0].Metrics["accuracy"]; *s.Low <= mean && mean <= *s.High {
				covered++
			}
		}
		t.Logf("%d repeats: %.1f %%", n, float64(covered)/10)
		if covered < 920 || covered > 980 {
			t.Errorf("of 1000 intervals over %d repeats %d hold the mean", n, covered)
		}
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	one := group.Options{By: []string{"lr", "unit"}, Objective: accuracy}
	both := group.Options{By: []string{"lr", "unit"}, Metrics: []string{"accuracy", "loss"},
		Objective: accuracy}
	var out strings.Builder
	write := func(title string, o group.Options, rows []table.Row, form func(group.Table) error) {
		fmt.Fprintf(&out, "# %s\n", title)
		table, err := summarize(t, rows, o, group.Order{})
		if err == nil {
			err = form(table)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	text := func(width int) func(group.Table) error {
		return func(table group.Table) error { return table.WriteText(&out, width) }
	}
	write("text", one, repeats(), text(0))
	write("nothing is missing", one, repeats()[:3], text(80))
	write("80 columns", both, repeats(), text(80))
	write("60 columns", both, repeats(), text(60))
	write("40 columns", one, repeats()[:9], text(40))
	one.By = append(one.By, "seed")
	write("the same in all", one, []table.Row{repeats()[0], repeats()[3], repeats()[6]}, text(80))
	write("one group, 30 columns", one, repeats()[:1], text(30))
	one.By = one.By[:2]
	odd := []table.Row{ended(0, "lr=\x1b[31m unit==1+1 accuracy:1")}
	write("text that is not only text", one, odd, text(80))
	write("CSV", both, append(repeats(), odd...),
		func(table group.Table) error { return table.WriteCSV(&out) })
	write("JSON", both, append(repeats()[:6], odd...),
		func(table group.Table) error { return table.WriteJSON(&out) })
	const golden = "testdata/write.txt"
	want, err := os.ReadFile(golden)
	if *update {
		err = os.WriteFile(golden, []byte(out.String()), 0o666)
		want = []byte(out.String())
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"),
		strings.Split(out.String(), "\n")); diff != "" {
		t.Errorf("%s (-file +written):\n%s", golden, diff)
	}
}

func BenchmarkAdd(b *testing.B) {
	rows := make([]table.Row, 0, 10_000)
	for i := range int64(10_000) {
		rows = append(rows, ended(i, fmt.Sprintf("lr=%d unit=%d seed=%d accuracy:%d", i%10,
			i/10%100, i/1000, i)))
	}
	bound := func(name string) table.Dimension {
		every := map[string]int64{"lr": 1, "unit": 10}[name]
		values := map[string]int64{"lr": 10, "unit": 100}[name]
		return table.Dimension{Values: values,
			At: func(i int64) int64 { return i / every % values }, Value: func(n int64) (string,
				bool) {
				return fmt.Sprint(n), true
			}}
	}
	for name, bind := range map[string]func(string) table.Dimension{"rows": nil, "bound": bound} {
		b.Run(name, func(b *testing.B) {
			schema := schema
			schema.Dimension = bind
			g, err := group.New(group.Options{By: []string{"lr", "unit"}, Objective: accuracy,
				Schema: schema})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				_ = g.Add(&rows[i%len(rows)])
			}
		})
	}
}
