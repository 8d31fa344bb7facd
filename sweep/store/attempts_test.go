package store_test

import (
	"context"
	"math"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// TestTries keeps attempts that were left behind. The end of one that counted is no superseded
// result when it is reported again; a late result of one that was declared lost is. A result of
// another worker than the one that an attempt was placed on, or of an attempt that there never was,
// is not kept.
func TestTries(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	full := fullTask().Attempt
	lost := core.Attempt{Number: 2, Revision: "r", Worker: "w",
		Outcome: &task.Outcome{Class: task.Loss, Reason: "away"}}
	late := core.Attempt{Number: 2, Worker: "w",
		Outcome: &task.Outcome{Class: task.Success, Duration: time.Second}, Superseded: true}
	again := core.Attempt{Number: 8, Worker: full.Worker, Outcome: full.Outcome, Superseded: true}
	row := endedTask(4)
	row.Attempt.Number = 9
	newest := core.Attempt{Number: 9, Worker: row.Attempt.Worker, Outcome: row.Attempt.Outcome,
		Superseded: true}
	elsewhere, other, never := newest, late, late
	elsewhere.Worker, other.Worker, never.Number = "other", "other", 10
	for range 2 {
		commit(t, s, sw, core.Changes{Tasks: []core.Task{row}, OldAttempts: []core.OldAttempt{
			{Index: 4, Attempt: full}, {Index: 4, Attempt: lost}, {Index: 4, Attempt: other},
			{Index: 4, Attempt: late}, {Index: 4, Attempt: again}, {Index: 4, Attempt: newest},
			{Index: 4, Attempt: elsewhere}, {Index: 4, Attempt: never},
			{Index: 5, Attempt: lost}, {Index: 6, Attempt: late},
		}})
	}
	got, err := s.Tries(context.Background(), sw, 4)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "attempts", []core.Attempt{lost, late, full}, got)
	if got, err := s.Tries(context.Background(), sw, 6); err != nil || len(got) > 0 {
		t.Errorf("of a task that was never handed out %+v is kept, %v", got, err)
	}
}

// TestPlacement finds the worker of the newest attempt, of those left behind, and of none that
// there never was.
func TestPlacement(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	lost := core.Attempt{Number: 2, Worker: "w2", Outcome: &task.Outcome{Class: task.Loss}}
	late := lost
	late.Outcome, late.Superseded = &task.Outcome{Class: task.Success}, true
	row := queuedTask(4)
	row.Attempt = core.Attempt{Number: 4, Worker: "w4"}
	back := queuedTask(5) // given up before it began
	back.State, back.Attempt = task.Pending, core.Attempt{Number: 2}
	commit(t, s, sw, core.Changes{Tasks: []core.Task{row, back}, OldAttempts: []core.OldAttempt{
		{Index: 4, Attempt: lost}, {Index: 4, Attempt: late}, {Index: 5, Attempt: lost},
	}})
	for _, c := range []struct {
		sweep   string
		index   int64
		attempt int
		want    store.Placement
	}{
		{sw.Head.ID, 4, 4, store.Placement{Worker: "w4", Newest: 4}},
		{sw.Head.ID, 4, 3, store.Placement{Newest: 4}},
		{sw.Head.ID, 4, 2, store.Placement{Worker: "w2", Newest: 4}},
		{sw.Head.ID, 4, 5, store.Placement{Newest: 4}},
		{sw.Head.ID, 4, 0, store.Placement{Newest: 4}},
		{sw.Head.ID, 5, 2, store.Placement{Worker: "w2", Newest: 2}},
		{sw.Head.ID, 5, 1, store.Placement{Newest: 2}},
		{sw.Head.ID, 6, 1, store.Placement{}},
		{"another-1", 4, 4, store.Placement{}},
	} {
		got, err := s.Placement(context.Background(), c.sweep, c.index, c.attempt)
		if err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

func TestSamples(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	step := int64(7)
	first := []metric.Sample{{Name: "loss", Value: 0.25, Line: 3, Step: &step, Stream: "stdout",
		Time: at(1)}, {Name: "loss", Value: math.NaN(), Line: 4, Time: at(2)}}
	// the clock was set back
	second := []metric.Sample{{Name: "loss", Value: 0.125, Line: 5, Stream: "stdout", Time: at(0)}}
	commit(t, s, sw,
		core.Changes{Samples: []core.Samples{{Index: 4, Attempt: 1, Points: first},
			{Index: 4, Attempt: 2, Points: second}}})
	// the first again
	commit(t, s, sw,
		core.Changes{Samples: []core.Samples{{Index: 4, Attempt: 1, Points: first},
			{Index: 4, Attempt: 1, Points: second}}})
	for attempt, want := range map[int][]metric.Sample{1: append(first[:2:2], second...), 2: second,
		3: nil} {
		got, err := s.Series(context.Background(), sw, 4, attempt)
		if err != nil {
			t.Fatal(err)
		}
		differs(t, "series", want, got)
	}
}

// TestUnranked counts tasks that succeeded without a number for the objective.
func TestUnranked(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	silent, nan, failed := endedTask(1), endedTask(2), endedTask(9)
	silent.Attempt.Outcome.Metrics = nil
	nan.Attempt.Outcome.Metrics = metric.Final{{Name: "accuracy", Value: math.NaN()}}
	commit(t, s, sw, core.Changes{Tasks: []core.Task{endedTask(0), silent, nan, failed}})
	sw.Head.Rows = core.Counts{task.Succeeded: 3, task.Failed: 1}
	for limit, want := range map[int][]core.Task{1: {silent}, 5: {silent, nan}} {
		count, nan, first, err := s.Unranked(context.Background(), sw, limit)
		if err != nil || count != 2 || nan != 1 {
			t.Errorf("%d, %d with nan, %v", count, nan, err)
		}
		differs(t, "first", want, first)
	}
}
