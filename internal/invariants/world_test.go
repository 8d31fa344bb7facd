package invariants_test

import (
	"context"
	"testing"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// at is a time in seconds from a beginning.
func at(seconds float64) time.Time {
	return time.Unix(1_800_000_000, 0).UTC().Add(time.Duration(seconds * float64(time.Second)))
}

// world is the history of one sweep, train-1, made by hand: rows of tasks, attempts that they left
// behind, and what a test has seen of them.
type world struct {
	record   core.Record
	head     core.Head
	rows     []core.Task
	tries    []core.OldAttempt
	evidence invariants.Evidence
}

// honest is a world in which everything went as promised:
//
//	train-1/0  succeeded at once, on w1
//	train-1/1  began on w1, which was killed, and succeeded on w2 in attempt 3; 2 never began
//	train-1/2  failed, was forgiven, and failed again
//	train-1/3  was cancelled while it ran
//	train-1/4  was lost with w1, which came back: the late result does not count
//	train-1/5  was cancelled with the sweep before it was handed out
func honest() *world {
	w := &world{
		record: core.Record{Version: task.Version, Space: new(space.Space),
			Retry: task.Retry{Error: 1, Lost: 3}, Recipe: task.Recipe{Definition: "train"}},
		rows: []core.Task{
			row(0, task.Succeeded, 1, try(1, "w1", 1, task.Success)),
			row(1, task.Succeeded, 2, try(3, "w2", 5, task.Success)),
			row(2, task.Failed, 2, try(2, "w2", 4, task.Error)),
			row(3, task.Cancelled, 1, try(1, "w2", 8, task.Stopped)),
			row(4, task.Succeeded, 2, try(2, "w2", 7, task.Success)),
		},
		tries: []core.OldAttempt{
			{Index: 1, Attempt: try(1, "w1", 2, task.Loss)},
			{Index: 2, Attempt: try(1, "w1", 2, task.Error)},
			{Index: 4, Attempt: try(1, "w1", 2.5, task.Loss)},
			{Index: 4, Attempt: late(1, "w1", task.Success)},
		},
	}
	w.rows[1].Charged, w.rows[2].Charged, w.rows[4].Charged = task.Retry{Lost: 1}, task.Retry{
		Error: 1}, task.Retry{Lost: 1}
	w.head = core.Head{State: core.Cancelled, Ended: at(10), Total: 6, Issued: 5,
		UnissuedCancelled: true,
		Rows:              core.Counts{task.Succeeded: 3, task.Failed: 1, task.Cancelled: 1}}
	w.evidence = invariants.Evidence{
		Confirmed: map[string]int64{"train-1": 6},
		Starts: []invariants.Start{
			start(0, 1, "w1", 1), start(1, 3, "w2", 5), start(1, 1, "w1", 2), start(2, 1, "w1", 2),
			start(2, 2, "w2", 4),
			start(3, 1, "w2", 8), start(4, 1, "w1", 2.5), start(4, 2, "w2", 7),
		},
		Faults: []invariants.Fault{{Worker: "w1", From: at(3), To: at(3.5), What: "killed"}},
		Cancelled: []invariants.Cancel{{Sweep: "train-1", Index: invariants.Whole, At: at(8.5),
			Quiet: at(9)}},
		Output: func(task.ID, core.Attempt) (int64, int64, error) { return 7, 0, nil },
	}
	return w
}

func row(index int64, s task.State, attempts int, t core.Attempt) core.Task {
	return core.Task{Index: index, State: s, Attempts: attempts, Attempt: t}
}

// try is an attempt that took a second and printed 7 bytes.
func try(number int, worker string, began float64, class task.Class) core.Attempt {
	return core.Attempt{Number: number, Revision: "r", Worker: worker, Started: at(began),
		Outcome: &task.Outcome{Class: class, Duration: time.Second, Stdout: task.Output{Bytes: 7}}}
}

func late(number int, worker string, class task.Class) core.Attempt {
	t := try(number, worker, 0, class)
	t.Started, t.Superseded = time.Time{}, true
	return t
}

func start(index int64, attempt int, worker string, seconds float64) invariants.Start {
	return invariants.Start{Task: task.ID{Sweep: "train-1", Index: index}, Attempt: attempt,
		Worker: worker, PID: 100, Time: at(seconds)}
}

// share has attempts 1 of tasks 1 and 2, which begin at the same time and end a second later, have
// some of one GPU.
func (w *world) share(count float64) {
	w.record.Recipe.GPUs.Count = count
	for _, n := range []int{2, 3} {
		w.evidence.Starts[n].GPUs, w.evidence.Starts[n].Ended = []string{"GPU-1"}, at(3)
	}
}

// check writes the world to a store and checks it.
func (w *world) check(t *testing.T) []invariants.Violation {
	t.Helper()
	ctx := context.Background()
	s, err := store.Open(ctx, t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	sw, err := s.Add(ctx, store.NewSweep{Record: w.record, Total: w.head.Total, Submitted: at(0)})
	if err != nil {
		t.Fatal(err)
	}
	w.head.ID = sw.Head.ID
	rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record,
		Changes: core.Changes{Head: w.head, Tasks: w.rows, OldAttempts: w.tries}}
	if err := s.Commit(ctx, &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
		t.Fatal(err)
	}
	found, err := invariants.Check(ctx, &s.Reader, w.evidence)
	if err != nil {
		t.Fatal(err)
	}
	return found
}
