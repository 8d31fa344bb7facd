package worker_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"mlframework/sweep/task"
	"mlframework/sweep/worker"
)

// The record of starts says that it lacks one: else the task that killed its worker would not be
// charged for that. It changes a limit of this process, so it is not parallel.
func TestARecordOfStartsThatLacksOneSaysSo(t *testing.T) {
	start := func(index int64) task.Event {
		return task.Event{Version: task.Version, Kind: task.StartedEvent, Worker: "w1",
			Sweep: "train-1", Index: index, Attempt: 1, Start: &task.Start{Host: "gpu1"}}
	}
	full := func(t *testing.T, l *worker.StartLog, slot int, e task.Event) {
		release := noFileLonger(t, 0)
		defer release()
		l.Record(slot, e)
	}
	for _, c := range []struct {
		name  string
		work  func(t *testing.T, l *worker.StartLog, folder string)
		want  []int64
		whole bool
	}{
		{"nothing began", func(*testing.T, *worker.StartLog, string) {}, nil, true},
		{"all", func(t *testing.T, l *worker.StartLog, _ string) {
			l.Record(0, start(1000))
			l.Record(1, start(1))
			l.Record(0, start(2)) // shorter than the one before
		}, []int64{2, 1}, true},
		{"the first of a slot cannot be written", func(t *testing.T, l *worker.StartLog, _ string) {
			l.Record(0, start(1))
			full(t, l, 1, start(2))
		}, []int64{1}, false},
		{"another one cannot be written", func(t *testing.T, l *worker.StartLog, _ string) {
			l.Record(0, start(1))
			l.Record(1, start(2))
			full(t, l, 1, start(3))
		}, []int64{1}, false},
		{"the next one can be written", func(t *testing.T, l *worker.StartLog, _ string) {
			full(t, l, 0, start(1))
			l.Record(0, start(2))
		}, []int64{2}, true},
		{"a file cannot be made", func(t *testing.T, l *worker.StartLog, folder string) {
			l.Record(0, start(1))
			if err := os.Mkdir(filepath.Join(folder, "1"), 0o700); err != nil {
				t.Fatal(err)
			}
			l.Record(1, start(2))
			if err := os.RemoveAll(filepath.Join(folder, "1")); err != nil {
				t.Fatal(err)
			}
			l.Record(2, start(3))
		}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			spool := filepath.Join(t.TempDir(), "events")
			l, _, whole := worker.NewStartLog(spool)
			if whole {
				t.Error("of the first process nothing is known, and it is told to be complete")
			}
			c.work(t, l, spool+".begun")
			_, events, whole := worker.NewStartLog(spool)
			var came []int64
			for _, e := range events {
				came = append(came, e.Index)
			}
			if !slices.Equal(came, c.want) || whole != c.whole {
				t.Errorf("starts of %v, complete: %t; want %v, %t", came, whole, c.want, c.whole)
			}
		})
	}
}
