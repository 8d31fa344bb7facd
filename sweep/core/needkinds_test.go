package core_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// An idle worker without room for many sweeps gets the task of one that comes, for which it has room,
// although it tells nothing new.
func TestIdleWorkerGetsWhatFits(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		before int  // sweeps that fit nowhere
		ended  bool // they are cancelled before the one that fits comes
	}{
		"after one":                {1, false},
		"after one that is gone":   {1, true},
		"after many":               {100, false},
		"after many that are gone": {100, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var large []gpuSweep
			for i := range c.before {
				large = append(large,
					gpuSweep{needs: task.GPUs{Count: 1, Memory: int64(40+i) * gib}})
			}
			site := newGPUSite(t, large)
			beats := []task.Heartbeat{gpuWorker("w", 8, gpusOf(1, "T4", 16*gib))}
			effectsOf(site, core.Input{Heartbeats: beats}, at(1))
			for i := range c.before {
				if c.ended {
					cancel := core.CancelSweep{Sweep: fmt.Sprintf("train-%d", i), Reason: "enough"}
					effectsOf(site, core.Input{Command: cancel}, at(1.1))
				}
			}
			small := core.Record{Space: spaceOf(t, "i: [0, 1]"),
				Recipe: task.Recipe{Needs: task.Needs{GPUs: task.GPUs{Count: 0.5}}}}
			site.Add(core.Loaded{Seq: 999, Record: small,
				Head: core.Head{ID: "eval-1", State: core.Open, Total: 2}})
			got := placedTasks(effectsOf(site, core.Input{}, at(1.2)))
			want := map[string]map[string]int{"w": {"eval-1": 2}}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
