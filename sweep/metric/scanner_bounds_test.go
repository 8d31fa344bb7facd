package metric_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/metric"
)

func TestScannerLooksAtTheBeginningOfALongLine(t *testing.T) {
	t.Parallel()
	const match = "validation accuracy 0.5"
	for _, tt := range []struct {
		name, line string
		want       int
	}{
		{"before the cut", match + " " + strings.Repeat("x", metric.MaxLine), 1},
		{"after the cut", strings.Repeat("x", metric.MaxLine) + match, 0},
		{"ends with the longest line", strings.Repeat("x", metric.MaxLine-len(match)) + match, 1},
		{"touches the cut: the number may go on",
			strings.Repeat("x", metric.MaxLine-len(match)) + match + "1", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			in := "first\n" + tt.line + "\nvalidation accuracy 1\n"
			for _, chunks := range [][]string{{in}, {in[:3], in[3:60000], in[60000:]}} {
				got, _ := scan(t, accuracyRules(t), chunks...)
				if len(got) != tt.want+1 || got[tt.want].Line != 3 {
					t.Errorf("in %d chunks: got %v, want %d in the long line and one in line 3",
						len(chunks), got, tt.want)
				}
			}
		})
	}
}

// Not parallel: it measures this process's memory.
func TestScannerMemoryIsBounded(t *testing.T) {
	noise := make([]byte, 1<<20)
	for i := range noise {
		noise[i] = "\x00\xff\x1b[{\"validation accuracy "[i%24]
	}
	s := accuracyRules(t).NewScanner(time.Now,
		func(metric.Sample) { t.Error("found a metric in noise") })
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range 1 << 10 { // 1 GiB without a line end
		if _, err := s.Write(noise); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if allocated := after.TotalAlloc - before.TotalAlloc; allocated > 2<<20 {
		t.Errorf("allocated %d bytes for one endless line, want less than 2 MiB", allocated)
	}
}

func TestScannerCountsManyNamesBounded(t *testing.T) {
	t.Parallel()
	var in strings.Builder
	for i := range 5000 {
		in.WriteString(`{"metrics": {"n` + strings.Repeat("x", i%200) + `": "no"}}` + "\n")
	}
	_, rejected := scan(t, accuracyRules(t), in.String())
	if len(rejected) != 100 {
		t.Errorf("%d names counted, want 100", len(rejected))
	}
}

func TestScannerAfterClose(t *testing.T) {
	t.Parallel()
	s := accuracyRules(t).NewScanner(time.Now, func(metric.Sample) {})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("second Close: %v", err)
	}
	if _, err := s.Write([]byte("x")); err == nil {
		t.Error("Write after Close succeeded")
	}
}

// A pattern for which every match looks at the rest of the line takes quadratic time without a
// bound.
func TestScannerBoundsTheMatchesOfALine(t *testing.T) {
	t.Parallel()
	rules := mustCompile(t, metric.Rule{Name: "x", Pattern: `(1).*y|(?:1)`},
		metric.Rule{Name: "y", Pattern: `(1)`})
	got, _ := scan(t, rules, strings.Repeat("1", 5000)+"\n")
	if len(got) != 1000 {
		t.Errorf("%d samples, want 1000", len(got))
	}
}
