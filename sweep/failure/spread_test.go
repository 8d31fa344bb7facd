package failure_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/failure"
)

// Failures of several sweeps that are alike are one group, which says where and when they were.
func TestGroupsOfSweeps(t *testing.T) {
	t.Parallel()
	at := func(minute int) time.Time { return time.Date(2026, 11, 28, 10, minute, 0, 0, time.UTC) }
	of := func(sweep, reason string, index int64, host string, when time.Time) failure.Failure {
		return failure.Failure{Class: "error", Reason: reason, Sweep: sweep, Index: index,
			Host: host, Time: when}
	}
	all := []failure.Failure{
		of("train-2", "no file /a/1", 4, "gpu2", at(5)),
		of("train-2", "no file /a/2", 5, "gpu1", at(3)),
		of("train-2", "no file /a/2", 6, "", time.Time{}),
		of("train-1", "no file /a/2", 0, "gpu1", at(2)),
		of("train-1", "other", 1, "gpu1", at(1)),
		of("eval-1", "other", 1, "gpu1", at(1)),
		of("eval-1", "text", 0, "gpu1", at(0)),
		of("train-0", "word", 0, "gpu1", at(0)),
	}
	groups, others := groupsOf(t, all)
	want := []failure.Group{
		{Failure: of("train-2", "no file …", 4, "gpu2", at(5)), Count: 4, Spread: failure.Spread{
			Sweeps: []failure.SweepCount{{"train-2", 3, 4}, {"train-1", 1, 0}},
			Hosts:  []string{"gpu2", "gpu1"}, First: at(2), Last: at(5)}},
		{Failure: of("train-1", "other", 1, "gpu1", at(1)), Count: 2, Spread: failure.Spread{
			Sweeps: []failure.SweepCount{{"train-1", 1, 1}, {"eval-1", 1, 1}},
			Hosts:  []string{"gpu1"}, First: at(1), Last: at(1)}},
		{Failure: of("eval-1", "text", 0, "gpu1", at(0)), Count: 1, Spread: failure.Spread{
			Sweeps: []failure.SweepCount{{"eval-1", 1, 0}}, Hosts: []string{"gpu1"},
			First: at(0), Last: at(0)}},
		{Failure: of("train-0", "word", 0, "gpu1", at(0)), Count: 1, Spread: failure.Spread{
			Sweeps: []failure.SweepCount{{"train-0", 1, 0}}, Hosts: []string{"gpu1"},
			First: at(0), Last: at(0)}},
	}
	if diff := cmp.Diff(want, groups); diff != "" || others != 0 {
		t.Errorf("%d others: %s", others, diff)
	}
	all = nil
	for i := range 50 {
		f := of(fmt.Sprintf("train-%d", i/2), "same", int64(i), fmt.Sprintf("gpu%d", i), at(i))
		all = append(all, f)
	}
	groups, _ = groupsOf(t, all)
	if g := groups[0]; g.Count != 50 || len(g.Sweeps) != 20 || g.MoreSweeps != 5 ||
		g.Sweeps[19].Count != 2 || len(g.Hosts) != 20 || !g.MoreHosts || g.Last != at(49) {
		t.Errorf("of many sweeps: %+v", g)
	}
}
