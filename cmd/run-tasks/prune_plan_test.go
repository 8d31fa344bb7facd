package main

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
)

func TestPrunePlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	sweep := func(id string, state core.State, age time.Duration, running int64,
		tasks ...prunableTask) prunable {
		s := core.Summary{ID: id, State: state, Counts: map[string]int64{"running": running}}
		if age >= 0 {
			ended := now.Add(-age)
			s.Ended = &ended
		}
		return prunable{s, id == "ranked-1", tasks}
	}
	failed, good, best := prunableTask{index: 0, failed: true}, prunableTask{index: 1},
		prunableTask{index: 2, best: true}
	all := []prunable{
		sweep("old-1", core.Finished, 40*day, 0),
		sweep("cancelled-1", core.Cancelled, 30*day, 0),
		sweep("stopping-1", core.Cancelled, 30*day, 1),
		sweep("paused-1", core.Paused, -1, 0),
		sweep("open-1", core.Open, -1, 2),
		sweep("ranked-1", core.Finished, 2*day, 0, failed, good, best),
		sweep("plain-1", core.Finished, day, 0, failed, good),
	}
	for name, c := range map[string]struct {
		rules pruneRules
		want  []string
	}{
		"no option":                  {},
		"sweeps that ended long ago": {pruneRules{old: true, age: 30 * day}, []string{"old-1", "cancelled-1"}},
		"all that have ended": {pruneRules{old: true},
			[]string{"old-1", "cancelled-1", "ranked-1", "plain-1"}},
		"outputs of tasks that failed": {pruneRules{failed: true}, []string{"ranked-1 0", "plain-1 0"}},
		"outputs of all but the best":  {pruneRules{keepBest: 1}, []string{"ranked-1 0 1"}},
		"outputs of either":            {pruneRules{failed: true, keepBest: 1}, []string{"ranked-1 0 1", "plain-1 0"}},
		"outputs in old sweeps": {pruneRules{failed: true, old: true, age: 2 * day},
			[]string{"ranked-1 0"}},
		"none is so old": {pruneRules{old: true, age: 50 * day}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, p := range planPrune(c.rules, all, now) {
				text := p.ID
				for n := range p.tasks.Len() {
					text += fmt.Sprintf(" %d", p.tasks.At(n))
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
