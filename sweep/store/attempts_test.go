package store_test

import (
	"context"
	"errors"
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
	got, err := s.EarlierAttempts(context.Background(), sw, 4)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "attempts", []core.Attempt{lost, late, full}, got)
	if got, err := s.EarlierAttempts(context.Background(), sw, 6); err != nil || len(got) > 0 {
		t.Errorf("of a task that was never handed out %+v is kept, %v", got, err)
	}
}

// TestAnEndThatIsToldAgain keeps no end of an attempt that has one and is told again in another
// way: by a worker that has forgotten it, or where the master counts a stop as a loss.
func TestAnEndThatIsToldAgain(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	forgotten := &task.Outcome{Class: task.Loss, Reason: "its result was lost with the broker"}
	row := endedTask(4)
	row.Attempt.Number = 9
	newest := row.Attempt
	full := fullTask().Attempt
	counted := core.Attempt{Number: 3, Revision: "r", Worker: "w", Outcome: &task.Outcome{
		Class: task.Loss, Reason: "stopped once too often", Duration: time.Second}}
	stopped := core.Attempt{Number: 3, Worker: "w", Superseded: true, Outcome: &task.Outcome{
		Class: task.Stopped, Reason: "stopped", Duration: time.Second}}
	changes := core.Changes{Tasks: []core.Task{row}, OldAttempts: []core.OldAttempt{
		{Index: 4, Attempt: full}, {Index: 4, Attempt: counted}, {Index: 4, Attempt: stopped}}}
	for _, a := range []core.Attempt{newest, full, counted} {
		changes.OldAttempts = append(changes.OldAttempts, core.OldAttempt{Index: 4,
			Attempt: core.Attempt{Number: a.Number, Worker: a.Worker, Outcome: forgotten,
				Superseded: true}})
	}
	commit(t, s, sw, changes)
	got, err := s.EarlierAttempts(context.Background(), sw, 4)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "attempts", []core.Attempt{counted, full}, got)
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
		want    store.AttemptWorker
	}{
		{sw.Head.ID, 4, 4, store.AttemptWorker{Worker: "w4", Newest: 4}},
		{sw.Head.ID, 4, 3, store.AttemptWorker{Newest: 4}},
		{sw.Head.ID, 4, 2, store.AttemptWorker{Worker: "w2", Newest: 4}},
		{sw.Head.ID, 4, 5, store.AttemptWorker{Newest: 4}},
		{sw.Head.ID, 4, 0, store.AttemptWorker{Newest: 4}},
		{sw.Head.ID, 5, 2, store.AttemptWorker{Worker: "w2", Newest: 2}},
		{sw.Head.ID, 5, 1, store.AttemptWorker{Newest: 2}},
		{sw.Head.ID, 6, 1, store.AttemptWorker{}},
		{"another-1", 4, 4, store.AttemptWorker{}},
	} {
		got, err := s.AttemptWorker(context.Background(), c.sweep, c.index, c.attempt)
		if err != nil || got != c.want {
			t.Errorf("%+v: %+v, %v", c, got, err)
		}
	}
}

// TestDamagedRows: the error of a row that cannot be read names its task; where the task has not
// ended, its sweep cannot go on.
func TestDamagedRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		column, value string
		placement     bool // the error is one of AttemptWorker, too
	}{
		{"attempt", "'first'", true}, {"worker", "x'00'", true}, {"gpus", "'['", false},
		{"charged", "'{'", false}, {"metrics", "'{'", false}, {"idx", "1 << 40", false},
	} {
		t.Run(c.column, func(t *testing.T) {
			t.Parallel()
			s, sw := begin(t, newRecord())
			row := queuedTask(4)
			commit(t, s, sw, core.Changes{Tasks: []core.Task{row}})
			if err := s.Exec(`UPDATE tasks SET ` + c.column + ` = ` + c.value); err != nil {
				t.Fatal(err)
			}
			_, _, err := s.Unfinished(t.Context(), sw, 0)
			if d, ok := errors.AsType[*store.DamagedSweep](err); !ok || d.ID != sw.Head.ID {
				t.Errorf("Unfinished: %v", err)
			}
			_, err = s.AttemptWorker(t.Context(), sw.Head.ID, 4, 1)
			d, ok := errors.AsType[*store.DamagedTask](err)
			if ok != c.placement || ok && (d.Task != task.ID{Sweep: sw.Head.ID, Index: 4}) {
				t.Errorf("AttemptWorker: %v", err)
			}
		})
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
