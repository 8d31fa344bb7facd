package main

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
)

func TestPrunePlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	const day = 24 * time.Hour
	sweep := func(id string, state core.State, age time.Duration, running int64) core.Summary {
		s := core.Summary{ID: id, State: state, Counts: map[string]int64{"running": running}}
		if age >= 0 {
			ended := now.Add(-age)
			s.Ended = &ended
		}
		return s
	}
	all := []core.Summary{
		sweep("old-1", core.Finished, 40*day, 0),
		sweep("cancelled-1", core.Cancelled, 30*day, 0),
		sweep("stopping-1", core.Cancelled, 30*day, 1),
		sweep("paused-1", core.Paused, -1, 0),
		sweep("open-1", core.Open, -1, 2),
		sweep("new-1", core.Finished, day, 0),
	}
	for name, c := range map[string]struct {
		rules pruneRules
		want  []string
	}{
		"no option":                  {},
		"sweeps that ended long ago": {pruneRules{old: true, age: 30 * day}, []string{"old-1", "cancelled-1"}},
		"all that have ended": {pruneRules{old: true},
			[]string{"old-1", "cancelled-1", "new-1"}},
		"none is so old": {pruneRules{old: true, age: 50 * day}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff(c.want, planPrune(c.rules, all, now).ids()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
