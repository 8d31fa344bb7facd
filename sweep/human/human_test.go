package human_test

import (
	"math"
	"strings"
	"testing"

	"mlframework/sweep/human"
)

func TestNumbersAndDurations(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for seconds, want := range map[float64]string{
		0: "0ms", 0.42: "420ms", 0.9996: "1.0s", 12.34: "12.3s", 59.96: "1m00s", 245: "4m05s",
		7380:   "2h03m",
		3599.7: "1h00m", 273600: "3d04h", -1: "-", nan: "-", 1e300: "1e+300s",
	} {
		if got := human.Duration(seconds); got != want {
			t.Errorf("Duration(%v) = %s, want %s", seconds, got, want)
		}
	}
	for v, want := range map[float64]string{0.1: "0.1", 1.0 / 3: "0.333333", 1e-5: "1e-05",
		1234567: "1.23457e+06", nan: "nan"} {
		if got := human.Number(v); got != want {
			t.Errorf("Number(%v) = %s, want %s", v, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", strings.Repeat("ö", 300): strings.Repeat("ö", 300),
		strings.Repeat("ü", 301): strings.Repeat("ü", 300) + "…",
	} {
		if got := human.Truncate(text); got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}
