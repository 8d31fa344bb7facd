package table_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

func filterRows() []table.Row {
	rows := []table.Row{
		{ID: "s-1/0", Index: 0, State: "succeeded", Host: "gpu1", Duration: ptr(30.0),
			ExitCode: ptr(0),
			Parameters: table.Parameters{{Name: "lr", Value: "0.10"},
				{Name: "note", Value: "a b (c)"}, {Name: "größe", Value: "9"}},
			Metrics: metric.Final{{Name: "acc", Value: 0.9}}},
		{ID: "s-1/1", Index: 1, State: "succeeded", Host: "gpu2", Duration: ptr(7200.0),
			ExitCode: ptr(0), Started: ptr(clock),
			Parameters: table.Parameters{{Name: "lr", Value: "1e-3"}, {Name: "note", Value: "it's"},
				{Name: "größe", Value: "10"}},
			Metrics: metric.Final{{Name: "acc", Value: nan}}},
		{ID: "s-1/2", Index: 2, State: "failed", ExitCode: ptr(1),
			Parameters: table.Parameters{{Name: "lr", Value: "auto"}, {Name: "note", Value: ""},
				{Name: "größe", Value: "x"}}},
	}
	return rows
}

func TestWhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ expr, want string }{
		{"", "012"}, {"  ", "012"},
		{"state=failed", "2"}, {"state == failed", "2"}, {"state!=failed", "01"},
		{"not state=failed", "01"},
		{"lr=0.1", "0"}, {"lr='0.1'", ""}, {"lr='0.10'", "0"}, {"lr<=0.001", "1"},
		{"lr>0.0001 and lr<1", "01"},
		{"größe>9", "12"}, // the number 10, and x as text
		{"acc>0.8", "0"}, {"acc<0.8", ""}, {"acc!=0.9", "12"}, {"acc=nan", "1"}, {"acc=NaN", "1"},
		{"acc=''", "2"}, {"acc!=''", "01"},
		{"host=''", "2"}, {"host<zzz", "01"}, {"host ~ '^gpu[12]$'", "01"}, {"host~1", "0"},
		{"host!~1", "12"},
		{"duration>90m", "1"}, {"duration<=30", "0"}, {"duration=30s", "0"}, {"duration>1h", "1"},
		{"note='a b (c)'", "0"}, {`note="it's"`, "1"}, {`note='it\'s'`, "1"}, {`'note'=''`, "2"},
		{"started>=2026-03-04", "1"}, {"started~05:06", "1"},
		{"state=failed or acc>0.8 and host=gpu2", "2"},
		{"(state=failed or acc>0.8) and host=gpu1", "0"},
		{"NOT (state=failed OR index=0)", "1"}, {"not not index=0", "0"},
		{"index>=1 and index<2", "1"},
		{"parameters.lr=auto", "2"}, {"metrics.acc>0", "0"}, {"exit_code!=0", "2"},
		{"id='s-1/2'", "2"}, {"id=s-1/2", "2"},
		{"größe * lr < 0.05", "1"}, {"größe * lr != 1", "01"}, {"acc * 2 = 1.8", "0"},
		{"duration / 60 in [0.5, 120]", "01"}, {"duration in [30s, 2h]", "01"},
		{"host in [gpu2, gpu3] or state = failed", "12"}, {"lr not in [0.1, auto]", "1"},
		{"exit_code > index - 1", "0"}, {"index = exit_code", "0"},
		{"90m < duration", "1"}, {"log10(lr) = -1", "0"}, {"max(index, exit_code) >= 1", "12"},
		{"1 / index < 2", "12"}, {"1 + 1 = 2", "012"},
		{"0.9 = acc", "0"}, {"acc > lr", "0"}, {"acc > `lr`", "0"},
		{"index % 2 = 0 and not state = failed", "0"},
	} {
		rows := filterRows()
		got, err := table.Where(rows, table.Schema{}.With(rows), tt.expr)
		if err != nil {
			t.Errorf("%s: %v", tt.expr, err)
		}
		numbers := ""
		for _, r := range got {
			numbers += r.ID[4:]
		}
		if numbers != tt.want {
			t.Errorf("%s picks %q, want %q", tt.expr, numbers, tt.want)
		}
	}
}

func TestFilterErrorsNameThePlaceAndTheWayOut(t *testing.T) {
	t.Parallel()
	const value = "write one; quote it if it has spaces or ( ) = < > ~ ! * in it"
	const compare = "write one of = != < <= > >= ~ !~ in and a value"
	s := table.Schema{Parameters: []string{"größe"}, Metrics: []string{"accuracy"}}
	for expr, want := range map[string]string{
		"state=": "column 7: a value is missing after =; " + value,
		"state": "column 6: a comparison is missing after state; " + compare +
			", or state = true if it is a boolean",
		"state failed": "column 7: a comparison is missing after state; " + compare +
			", or state = true if it is a boolean",
		"state=failed and":        "column 17: a comparison is missing here; write NAME = VALUE",
		"duration > 1x":           `column 12: "1x" is not a duration; write seconds, or a duration such as 90m or 1h30m`,
		"1x < duration":           `column 1: "1x" is not a duration; write seconds, or a duration such as 90m or 1h30m`,
		"state = failled":         `column 9: there is no state "failled"; did you mean failed? the states are ` + states,
		"state in [failed, Lost]": `column 19: there is no state "Lost"; did you mean lost? the states are ` + states,
		"(state=failed":           "column 1: this ( is never closed; add a )",
		"state=failed)":           `column 13: unexpected ")"; join comparisons with and, or`,
		"state=failed && index=1": `column 14: unexpected "&&"; join comparisons with and, or`,
		"größe=1 or state = 'fai": "column 20: this ' is never closed; add a '",
		"index < größe-index":     `column 9: "größe-index" is one word; put spaces around + - / % to calculate, or quotes around text`,
		"größe ! 3":               "column 7: ! stands alone; write != or !~, or the word not",
		"state~'[a'": "column 7: missing closing ]: `[a`; write a regular " +
			"expression as in Go (RE2)",
		"index=1 and acuracy>0.9": "column 13: there is no column \"acuracy\"; did you mean " +
			"accuracy? the columns are " + columnNames,
		"\x1b=1": "column 1: there is no column \"\\x1b\"; the columns are " +
			columnNames,
		strings.Repeat("(",
			1000): "column 102: the expression is nested too deep; use at most 100 levels",
		strings.Repeat("x", 10001): "column 1: the expression is too long; use at most 10000 bytes",
	} {
		_, err := table.ParseFilter(expr, s)
		var filterError *table.FilterError
		if !errors.As(err, &filterError) {
			t.Errorf("%s: got %v, want a FilterError", expr, err)
			continue
		}
		if d := cmp.Diff(want, err.Error()); d != "" {
			t.Errorf("%s (-want +got):\n%s", expr, d)
		}
	}
}

const states = "pending, queued, claimed, running, succeeded, failed, timeout, oom, lost, cancelled"

const columnNames = "id, sweep, definition, index, state, größe, accuracy, argv, attempts, " +
	"host, slot, gpus, started, duration, exit_code, reason, revision"

func TestNoFilterMatchesEverything(t *testing.T) {
	t.Parallel()
	var none *table.Filter
	if !none.Match(&table.Row{}) || !new(table.Filter).Match(&table.Row{}) {
		t.Error("no filter must match")
	}
}

// FuzzFilter: any text is a filter or an error that points into it, and a filter can be asked about
// any row.
func FuzzFilter(f *testing.F) {
	for _, seed := range []string{"state=failed and (lr>=0.01 or not acc~'x')",
		`note="\"" or host!=''`, "((((", "!", "größe<9"} {
		f.Add(seed)
	}
	rows := filterRows()
	s := table.Schema{}.With(rows)
	f.Fuzz(func(t *testing.T, expr string) {
		filter, err := table.ParseFilter(expr, s)
		if err != nil {
			var filterError *table.FilterError
			if !errors.As(err, &filterError) {
				t.Fatalf("error is %T", err)
			}
			if at := filterError.Column; at < 1 || at > utf8.RuneCountInString(expr)+1 {
				t.Errorf("column %d of %q", at, expr)
			}
			if filterError.Problem == "" || filterError.Remedy == "" ||
				!strings.HasPrefix(err.Error(), "column ") {
				t.Errorf("error says too little: %v", err)
			}
			return
		}
		negated, err := table.ParseFilter("not ("+expr+")", s)
		if err != nil && strings.TrimSpace(expr) != "" && len(expr) < 9000 &&
			!strings.Contains(err.Error(), "too deep") {
			t.Fatalf("not (%s): %v", expr, err)
		}
		for i := range rows {
			if got := filter.Match(&rows[i]); err == nil && negated.Match(&rows[i]) == got {
				t.Errorf("%s and its contrary agree", expr)
			}
		}
	})
}
