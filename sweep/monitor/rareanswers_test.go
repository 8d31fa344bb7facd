package monitor_test

import (
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/monitor"
)

// What takes long is asked for less often, and anew when the sweep ends.
func TestRareAnswers(t *testing.T) {
	t.Parallel()
	clock := time.Unix(1e9, 0)
	asked := 0
	ask := monitor.AskRarely(func() time.Time { return clock }, func() int {
		clock = clock.Add(time.Second)
		asked++
		return asked
	})
	sweep := func(state core.State, succeeded int64) (s api.Sweep) {
		s.State, s.Counts = state, map[string]int64{"succeeded": succeeded}
		return s
	}
	for i, c := range []struct {
		wait  time.Duration
		sweep api.Sweep
		want  int
		due   time.Duration
	}{
		{0, sweep(core.Open, 1), 1, 0},
		{19 * time.Second, sweep(core.Open, 2), 1, time.Second},
		{2 * time.Second, sweep(core.Open, 3), 2, 0},
		{0, sweep(core.Finished, 4), 3, 0},
		{0, sweep(core.Finished, 4), 3, 20 * time.Second},
		{0, sweep(core.Finished, 5), 4, 0},
		{21 * time.Second, sweep(core.Finished, 5), 5, 0},
	} {
		clock = clock.Add(c.wait)
		if got, due := ask(int64(i), c.sweep); got != c.want || due != c.due {
			t.Errorf("%d: the answer is number %d, due in %v, not %d in %v", i, got, due, c.want,
				c.due)
		}
	}
}
