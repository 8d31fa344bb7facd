package table_test

import (
	"slices"
	"testing"

	"mlframework/sweep/table"
)

// A filter takes parameters from dimensions, and its parts look at no more than they have to.
func TestSplit(t *testing.T) {
	t.Parallel()
	values := map[string][]string{"lr": {"0.1", "0.2", "auto"}, "unit": {"8", "16"}}
	stride := map[string]int64{"lr": 2, "unit": 1}
	dimension := func(name string) table.Dimension {
		return table.Dimension{Values: int64(len(values[name])),
			At: func(index int64) int64 {
				return index / stride[name] % int64(len(values[name]))
			},
			Value: func(n int64) (string, bool) { return values[name][n], true }}
	}
	s := table.Schema{Parameters: []string{"lr", "unit"}, Metrics: []string{"loss"},
		Dimension: dimension}
	const all, none = "012345", ""
	for _, tt := range []struct {
		filter                 string
		byIndex, byState, rest string // what of a row without anything but index each picks
		fields                 table.Fields
		metrics                []string
	}{
		{"", all, all, all, 0, nil},
		{"lr < 0.2", "01", all, all, 0, nil},
		{"lr * unit > 1", "123", all, all, 0, nil},
		{"lr ~ a or unit = 16", "1345", all, all, 0, nil},
		{"lr < 0.2 and index > 0 and unit * 2 = 32 * lr / lr", "1", all, all, 0, nil},
		{"1 + 1 = 3", none, all, all, 0, nil},
		{"state = failed and unit = 8", "024", none, all, 0, nil},
		{"loss < 1 and lr = auto", "45", all, none, table.FieldMetrics, []string{"loss"}},
		{"not loss > lr", all, all, all, table.FieldMetrics, []string{"loss"}},
		{"state = failed or lr * unit < 2", all, all, "012", table.FieldState, nil},
		{"duration > index", all, all, none, table.FieldDuration, nil},
	} {
		f, err := table.ParseFilter(tt.filter, s)
		if err != nil {
			t.Fatalf("%s: %v", tt.filter, err)
		}
		byIndex, byState, rest := f.Split()
		for _, part := range []struct {
			name   string
			filter *table.Filter
			want   string
		}{{"index", byIndex, tt.byIndex}, {"state", byState, tt.byState}, {"rest", rest, tt.rest}} {
			got := ""
			for i := range int64(6) {
				if part.filter.Match(&table.Row{Index: i}) {
					got += string(rune('0' + i))
				}
			}
			if got != part.want {
				t.Errorf("%s: by %s it picks %q, want %q", tt.filter, part.name, got, part.want)
			}
		}
		if byIndex.Fields() != 0 || rest.Fields() != tt.fields ||
			!slices.Equal(rest.Metrics(), tt.metrics) {
			t.Errorf("%s: fields %b and %b, metrics %v", tt.filter, byIndex.Fields(), rest.Fields(),
				rest.Metrics())
		}
	}
}
