package monitor_test

import (
	"testing"

	"mlframework/sweep/monitor"
)

func TestWords(t *testing.T) {
	t.Parallel()
	for got, want := range map[string]string{
		monitor.Size(0):         "0 B",
		monitor.Size(1023):      "1023 B",
		monitor.Size(1536):      "1.5 KiB",
		monitor.Size(1 << 40):   "1.0 TiB",
		monitor.Size(1<<30 - 1): "1.0 GiB",
		monitor.Count(999):      "999",
		monitor.Count(1234567):  "1\u202f234\u202f567",
		monitor.Rate(0):         "",
		monitor.Rate(123.4):     "123/s",
		monitor.Rate(.5):        "0.5/s",
		monitor.Rate(.02):       "1.2/min",
		monitor.Rate(.001):      "3.6/h",
	} {
		if got != want {
			t.Errorf("%q; want %q", got, want)
		}
	}
}

// Nothing of a filter is lost, wherever the master says that it is wrong.
func TestPointAt(t *testing.T) {
	t.Parallel()
	for _, where := range []string{"größe=<b> and x", "", "a", "\x1b[31m(\u202ex", "\xff\xfe=1"} {
		whole, _, _ := monitor.PointAt(where, 0)
		for column := -2; column < 30; column++ {
			before, at, after := monitor.PointAt(where, column)
			if got := before + at + after; got != whole {
				t.Errorf("column %d of %q: %q %q %q", column, where, before, at, after)
			}
		}
	}
}
