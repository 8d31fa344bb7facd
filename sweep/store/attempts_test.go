package store_test

import (
	"context"
	"math"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/result"
	"mlframework/sweep/task"
)

// TestTries keeps attempts that were left behind. The end of one that counted is no superseded result when it is
// reported again; a late result of one that was declared lost is.
func TestTries(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	full := fullTask().Try
	lost := core.Try{Number: 2, Revision: "r", Worker: "w", Outcome: &task.Outcome{Class: task.Loss, Reason: "away"}}
	late := core.Try{Number: 2, Worker: "w", Outcome: &task.Outcome{Class: task.Success, Duration: time.Second}, Superseded: true}
	again := core.Try{Number: 8, Worker: full.Worker, Outcome: full.Outcome, Superseded: true}
	row := endedTask(4)
	row.Try.Number = 9
	newest := core.Try{Number: 9, Worker: row.Try.Worker, Outcome: row.Try.Outcome, Superseded: true}
	elsewhere := newest
	elsewhere.Worker = "other"
	for range 2 {
		commit(t, s, sw, core.Changes{Tasks: []core.Task{row}, Tries: []core.OldTry{
			{Index: 4, Try: full}, {Index: 4, Try: lost}, {Index: 4, Try: late}, {Index: 4, Try: again}, {Index: 4, Try: newest}, {Index: 4, Try: elsewhere}, {Index: 5, Try: lost},
		}})
	}
	got, err := s.Tries(context.Background(), sw, 4)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "attempts", []core.Try{lost, late, full, elsewhere}, got)
}

func TestSamples(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	step := int64(7)
	first := []result.Sample{{Name: "loss", Value: 0.25, Line: 3, Step: &step, Stream: "stdout", Time: at(1)}, {Name: "loss", Value: math.NaN(), Line: 4, Time: at(2)}}
	second := []result.Sample{{Name: "loss", Value: 0.125, Line: 5, Stream: "stdout", Time: at(0)}} // the clock was set back
	commit(t, s, sw, core.Changes{Samples: []core.Samples{{Index: 4, Attempt: 1, Points: first}, {Index: 4, Attempt: 2, Points: second}}})
	commit(t, s, sw, core.Changes{Samples: []core.Samples{{Index: 4, Attempt: 1, Points: first}, {Index: 4, Attempt: 1, Points: second}}}) // the first again
	for attempt, want := range map[int][]result.Sample{1: append(first[:2:2], second...), 2: second, 3: nil} {
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
	silent.Try.Outcome.Metrics = nil
	nan.Try.Outcome.Metrics = result.Final{{Name: "accuracy", Value: math.NaN()}}
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
