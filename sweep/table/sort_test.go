package table_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

func TestSort(t *testing.T) {
	t.Parallel()
	row := func(id, host, lr, seed string, metrics ...metric.FinalValue) table.Row {
		return table.Row{ID: id, Host: host, Metrics: metrics,
			Parameters: table.Parameters{{Name: "lr", Value: lr}, {Name: "seed", Value: seed},
				{Name: "host", Value: "p" + id}}}
	}
	acc := func(v float64) metric.FinalValue { return metric.FinalValue{Name: "acc", Value: v} }
	rows := []table.Row{
		row("s-1/10", "gpu10", "1e-3", "9007199254740993", acc(0.5)),
		row("s-1/9", "", "0.01", "9007199254740992", acc(nan)),
		row("s-1/2", "gpu2", "0.1", "-9007199254740993"),
		row("s-1/1", "gpu2", "auto", "-9007199254740992", acc(10)),
	}
	s := table.Schema{}.With(rows)
	for by, want := range map[string][]string{
		"id":  {"s-1/1", "s-1/2", "s-1/9", "s-1/10"},
		"-id": {"s-1/10", "s-1/9", "s-1/2", "s-1/1"},
		// equal ones keep their order, absent last
		"host":        {"s-1/2", "s-1/1", "s-1/10", "s-1/9"},
		"-host":       {"s-1/10", "s-1/2", "s-1/1", "s-1/9"},
		"acc":         {"s-1/10", "s-1/1", "s-1/9", "s-1/2"}, // nan, then absent
		"-acc":        {"s-1/1", "s-1/10", "s-1/9", "s-1/2"},
		"metrics.acc": {"s-1/10", "s-1/1", "s-1/9", "s-1/2"},
		"lr":          {"s-1/9", "s-1/2", "s-1/10", "s-1/1"}, // "auto": all of it is text
		// whole numbers that floating point cannot tell apart
		"seed":             {"s-1/2", "s-1/1", "s-1/9", "s-1/10"},
		"-seed":            {"s-1/10", "s-1/9", "s-1/1", "s-1/2"},
		"started":          {"s-1/10", "s-1/9", "s-1/2", "s-1/1"},
		"-attempts":        {"s-1/10", "s-1/9", "s-1/2", "s-1/1"},
		"-parameters.host": {"s-1/10", "s-1/9", "s-1/2", "s-1/1"},
	} {
		got := append([]table.Row(nil), rows...)
		if err := table.Sort(got, s, by); err != nil {
			t.Errorf("%s: %v", by, err)
		}
		if d := cmp.Diff(want, ids(got)); d != "" {
			t.Errorf("%s (-want +got):\n%s", by, d)
		}
	}
}

func TestSortNamesTheColumnsThereAre(t *testing.T) {
	t.Parallel()
	s := table.Schema{Parameters: []string{"lr", "host"}, Metrics: []string{"accuracy", "lr"}}
	err := table.Sort(nil, s, "-acuracy")
	want := `there is no column "acuracy"; did you mean accuracy? the columns are id, sweep, ` +
		`definition, index, state, lr, parameters.host, accuracy, metrics.lr, argv, attempts, ` +
		`host, slot, gpus, started, duration, exit_code, reason, revision`
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestSchemaKnowsDeclaredNamesFirst(t *testing.T) {
	t.Parallel()
	rows := []table.Row{full(), {Parameters: table.Parameters{{Name: "x"}, {Name: "lr"}},
		Metrics: metric.Final{{Name: "f1"}}}}
	got := table.Schema{Parameters: []string{"lr"}, Metrics: []string{"accuracy"}}.With(rows)
	want := table.Schema{Parameters: []string{"lr", "name", "x"}, Metrics: []string{"accuracy",
		"loss", "f1"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}
