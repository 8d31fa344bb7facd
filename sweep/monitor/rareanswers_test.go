package monitor_test

import (
	"testing"
	"time"

	"mlframework/sweep/monitor"
)

// What takes long is asked for less often while its subject changes, and at once when that ends.
func TestRareAnswers(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1e9, 0)
	asked := 0
	ask := monitor.AskRarely(func() time.Time { return clock }, func() int {
		clock = clock.Add(time.Second)
		asked++
		return asked
	})
	for i, c := range []struct {
		wait    time.Duration
		changes bool
		want    int
	}{{0, true, 1}, {19 * time.Second, true, 1}, {2 * time.Second, true, 2}, {0, true, 2},
		{0, false, 3}, {0, true, 3}, {0, false, 4}} {
		clock = clock.Add(c.wait)
		if got := ask(int64(i), c.changes); got != c.want {
			t.Errorf("%d: the answer is number %d, not %d", i, got, c.want)
		}
	}
}
