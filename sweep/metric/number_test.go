package metric_test

import (
	"testing"

	"mlframework/sweep/metric"
)

// TestPatternEndsInNumber reads numbers of which a pattern matches only the first part.
func TestPatternEndsInNumber(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		pattern, line string
		want          float64
	}{
		{"=([0-9.]+)", "loss=7.53e-05", 7.53e-05},
		{"=([0-9.]+)", "loss=7.53E+2, acc", 753},
		{"=([0-9.]+)", "loss=1,234.5", 1234.5},
		{"=([0-9]+)", "loss=12.5%", 12.5},
		{"=([0-9]{2})", "loss=1234", 1234},
		{"=([0-9]+)", "loss=3.", 3},
		{"=([0-9.]+)", "loss=0.5,100", 0.5},
		{"=([0-9.]+)", "loss=0.5,0.7", 0.5},
		{`=(\S+)`, "(loss=0.5)", 0.5},
		{`=(\S+)`, "loss=0.5; acc", 0.5},
		// the pattern says itself what follows
		{"=([0-9]+)[.]", "loss=12.5", 12},
		// no numbers: a version, a name, a date
		{"=([0-9]+)", "version=1.2.3", 1},
		{"=([0-9]+)", "commit=3e7f", 3},
		{"=([0-9]+)", "day=12.5.2026", 12},
	} {
		rules := mustCompile(t, metric.Rule{Name: "loss", Pattern: tt.pattern})
		got, rejected := scan(t, rules, tt.line+"\n")
		if len(got) != 1 || got[0].Value != tt.want || len(rejected) > 0 {
			t.Errorf("%s in %q: %v, rejected %v; want %v", tt.pattern, tt.line, got, rejected, tt.want)
		}
	}
}
