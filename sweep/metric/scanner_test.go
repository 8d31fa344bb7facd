package metric_test

import (
	"io"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"mlframework/sweep/metric"
)

var (
	clock   = time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	sameNaN = cmpopts.EquateNaNs()
	nan     = math.NaN()
	inf     = math.Inf(1)
)

func accuracyRules(t testing.TB) *metric.Rules {
	t.Helper()
	return mustCompile(t, metric.Rule{Name: "accuracy",
		Pattern: `validation accuracy[ =:]+([-+0-9.eE]+)`})
}

func mustCompile(t testing.TB, rules ...metric.Rule) *metric.Rules {
	t.Helper()
	r, err := metric.Compile(rules)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// scan feeds chunks to a scanner of rules.
func scan(t testing.TB, rules *metric.Rules, chunks ...string) ([]metric.Sample,
	[]metric.Rejected) {
	t.Helper()
	var got []metric.Sample
	s := rules.NewScanner(func() time.Time { return clock },
		func(x metric.Sample) { got = append(got, x) })
	for _, c := range chunks {
		if n, err := io.WriteString(s, c); n != len(c) || err != nil {
			t.Fatalf("Write = %d, %v; want %d, nil", n, err, len(c))
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return got, s.Rejected()
}

func at(line int64, name string, value float64) metric.Sample {
	return metric.Sample{Name: name, Value: value, Line: line, Time: clock}
}

func step(n int64, s metric.Sample) metric.Sample {
	s.Step = &n
	return s
}

func TestScannerFindsWhatRulesMatch(t *testing.T) {
	t.Parallel()
	word := metric.Rule{Name: "accuracy", Pattern: `validation accuracy[ =:]+(\S+)`}
	for _, tt := range []struct {
		name, in string
		rules    []metric.Rule
		want     []metric.Sample
		rejected []metric.Rejected
	}{
		{"one line", "epoch 1\nvalidation accuracy: 0.5\n", nil,
			[]metric.Sample{at(2, "accuracy", 0.5)}, nil},
		{"last line without an end", "validation accuracy = 5e-1", nil,
			[]metric.Sample{at(1, "accuracy", 0.5)}, nil},
		{"every match", "validation accuracy 1\nx\nvalidation accuracy 2 validation accuracy 3\n",
			nil,
			[]metric.Sample{at(1, "accuracy", 1), at(3, "accuracy", 2), at(3, "accuracy", 3)}, nil},
		{"line ends",
			"validation accuracy 1\r\nvalidation accuracy 2\r10% validation accuracy " +
				"3\rvalidation accuracy 4\n\n" +
				"validation accuracy 5", nil,
			[]metric.Sample{at(1, "accuracy", 1), at(2, "accuracy", 2), at(2, "accuracy", 3),
				at(2, "accuracy", 4),
				at(4, "accuracy", 5)}, nil},
		{"no match across lines", "validation accuracy\n0.5\nvalidation accuracy:\r0.5\n", nil, nil,
			nil},
		{"the end of a sentence", "The validation accuracy: 0.75.\n", nil,
			[]metric.Sample{at(1, "accuracy", 0.75)}, nil},
		{"not a number, and infinite",
			"validation accuracy nan\nvalidation accuracy -inf\nvalidation accuracy 1e999\n" +
				"validation accuracy Infinity\n",
			[]metric.Rule{word},
			[]metric.Sample{at(1, "accuracy", nan), at(2, "accuracy", -inf), at(3, "accuracy", inf),
				at(4, "accuracy", inf)}, nil},
		{"matched but no number",
			"validation accuracy 1,23\nvalidation accuracy 97/100\nvalidation accuracy 0.5\n",
			[]metric.Rule{word}, []metric.Sample{at(3, "accuracy", 0.5)},
			[]metric.Rejected{{Name: "accuracy", Count: 2, Line: 1, Text: "1,23"}}},
		{"thousands and percent",
			"validation accuracy 1,234\nvalidation accuracy -1,234,567.5%.\n" +
				"validation accuracy 97%\n",
			[]metric.Rule{word}, []metric.Sample{at(1, "accuracy", 1234),
				at(2, "accuracy", -1234567.5), at(3, "accuracy", 97)}, nil},
		{"colours", "\x1b[32mvalidation \x1b[1maccuracy\x1b[0m: 0.\x1b[4m9\x1b[0m\n" +
			"\x1b]8;;http://x\x07validation accuracy: 0.8\x1b]8;;\x1b\\ \x1b[2K\n", nil,
			[]metric.Sample{at(1, "accuracy", 0.9), at(2, "accuracy", 0.8)}, nil},
		{"the group named value", "lr 0.1 loss 0.3\n",
			[]metric.Rule{{Name: "loss", Pattern: `lr (\S+) loss (?P<value>\S+)`}},
			[]metric.Sample{at(1, "loss", 0.3)}, nil},
		{"rules without a fixed text", "Loss: 3\nACC 4\n",
			[]metric.Rule{{Name: "loss", Pattern: `(?i)loss: (\d+)`},
				{Name: "any", Pattern: `(\d+)$`}},
			[]metric.Sample{at(1, "loss", 3), at(1, "any", 3), at(2, "any", 4)}, nil},
		{"an optional group", "loss x\nloss 3\n",
			[]metric.Rule{{Name: "loss", Pattern: `loss (\d)?`}},
			[]metric.Sample{at(2, "loss", 3)}, nil},
		{"bytes that are no text", "\x00\xff\xfe\nvalidation accuracy 1\x00\xff\n\x1b[", nil,
			[]metric.Sample{at(2, "accuracy", 1)}, nil},
		{"a pattern for invalid bytes", "\xff=3\n",
			[]metric.Rule{{Name: "x", Pattern: "\uFFFD=(\\d)"}},
			[]metric.Sample{at(1, "x", 3)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := accuracyRules(t)
			if tt.rules != nil {
				rules = mustCompile(t, tt.rules...)
			}
			got, rejected := scan(t, rules, tt.in)
			if d := cmp.Diff(tt.want, got, sameNaN); d != "" {
				t.Errorf("samples (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.rejected, rejected); d != "" {
				t.Errorf("rejected (-want +got):\n%s", d)
			}
		})
	}
}

func TestScannerReadsJSONLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, in string
		want     []metric.Sample
		rejected []metric.Rejected
	}{
		{"with a step", `{"metrics": {"loss": 0.3, "acc": 1e-1}, "step": 4}`,
			[]metric.Sample{step(4, at(1, "loss", 0.3)), step(4, at(1, "acc", 0.1))}, nil},
		{"among others, in any order",
			"x\n  {\"time\": 1, \"step\": 5.0, \"metrics\": {\"z\": 1, \"a\": 2}, \"n\": null}\ny",
			[]metric.Sample{step(5, at(2, "z", 1)), step(5, at(2, "a", 2))}, nil},
		{"a step that is none", `{"metrics": {"a": 1}, "step": "x"}` + "\n" +
			`{"metrics": {"a": 2}, "step": 1.5}`,
			[]metric.Sample{at(1, "a", 1), at(2, "a", 2)}, nil},
		{"Python's numbers",
			`{"metrics": {"a": NaN, "b": -Infinity, "NaN \"": Infinity, "d": null, "e": 1e999}}`,
			[]metric.Sample{at(1, "a", nan), at(1, "b", -inf), at(1, `NaN "`, inf), at(1, "d", nan),
				at(1, "e", inf)}, nil},
		{"what is no number",
			`{"metrics": {"a": true, "b": "0.5", "c": {"d": 1}, "e": [1], "f": 2}}`,
			[]metric.Sample{at(1, "f", 2)},
			[]metric.Rejected{{"a", 1, 1, "true"}, {"b", 1, 1, `"0.5"`}, {"c", 1, 1, `{"d": 1}`},
				{"e", 1, 1, `[1]`}}},
		{"names without bounds", `{"metrics": {"": 1, "` + strings.Repeat("é", 65) + `": 2}}`, nil,
			[]metric.Rejected{{"", 1, 1, "1"}, {strings.Repeat("é", 40), 1, 1, "2"}}},
		{"not ours", `{"metrics": 3}` + "\n" + `{"metrics": {"a": 1}` + "\n" +
			`["metrics", {"a": 1}]` + "\n" +
			`x {"metrics": {"a": 1}}` + "\n" + `{"METRICS": {"a": 1}}` + "\n" +
			`{"x": {"metrics": {"a": 1}}}`, nil, nil},
		{"rules beside it, for other names only",
			`{"metrics": {"accuracy": 1}, "t": "validation accuracy 2 took 3s"}`,
			[]metric.Sample{at(1, "accuracy", 1), at(1, "took", 3)}, nil},
		{"in colours", "\x1b[32m{\"metrics\": {\"a\": 1}}\x1b[0m\r\n",
			[]metric.Sample{at(1, "a", 1)}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			rules := mustCompile(t, metric.Rule{Name: "accuracy",
				Pattern: `validation accuracy (\d)`},
				metric.Rule{Name: "took", Pattern: `took (\d)s`})
			got, rejected := scan(t, rules, tt.in)
			if d := cmp.Diff(tt.want, got, sameNaN); d != "" {
				t.Errorf("samples (-want +got):\n%s", d)
			}
			if d := cmp.Diff(tt.rejected, rejected); d != "" {
				t.Errorf("rejected (-want +got):\n%s", d)
			}
		})
	}
}

func TestScannerFindsSteps(t *testing.T) {
	t.Parallel()
	rules := mustCompile(t, metric.Rule{Name: "acc", Pattern: `(?:step (?P<step>\S+): )?acc=(\S+)`},
		metric.Rule{Name: "loss", Pattern: `loss=(?P<value>\S+) \((?P<step>.*?)\)`})
	got, _ := scan(t, rules,
		"step 3: acc=0.5\nacc=0.6\nstep x: acc=0.7\nloss=1 (1e3) loss=2 ( 4 )\n")
	want := []metric.Sample{step(3, at(1, "acc", 0.5)), at(2, "acc", 0.6), at(3, "acc", 0.7),
		step(1000, at(4, "loss", 1)), step(4, at(4, "loss", 2))}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
