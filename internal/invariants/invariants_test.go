package invariants_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// Honest histories are clean, with and without what a test has seen.
func TestHonest(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*world){
		"all evidence":    func(*world) {},
		"the store alone": func(w *world) { w.evidence = invariants.Evidence{} },
		"another sweep only": func(w *world) {
			w.rows[0].State = task.Running
			w.evidence.Sweeps =
				[]string{"train-2"}
		},
		"output cut, with a mark": func(w *world) {
			for i := range w.rows {
				w.rows[i].Attempt.Outcome.Stdout = task.Output{Bytes: 5, Printed: 9,
					Truncated: true}
			}
		},
		"a person stopped all, and let it go on": func(w *world) {
			w.tries = append(w.tries,
				core.OldAttempt{Index: 0, Attempt: try(1, "w1", 1, task.Stopped)})
			w.rows[0].Attempt, w.rows[0].Attempts = try(2, "w1", 3, task.Success), 2
			w.evidence.Starts = append(w.evidence.Starts, start(0, 2, "w1", 3))
			w.evidence.Faults = append(w.evidence.Faults, invariants.Fault{From: at(1.5),
				To: at(1.6), What: "paused"})
		},
		"delivered again after the fault, and superseded": func(w *world) {
			w.tries[3].Attempt.Outcome.Class, w.tries = task.Stopped, append(w.tries[:2],
				w.tries[3])
			w.rows[4].Attempts, w.evidence.Starts[6].Time = 1, at(5)
		},
		"given up before it began, and delivered after the fault": func(w *world) {
			w.tries = w.tries[:3]
			w.evidence.Starts[6].Time = at(5)
		},
		"on its way while its worker was cut off, and superseded when it came": func(w *world) {
			w.tries[3].Attempt.Outcome.Class, w.tries = task.Stopped, append(w.tries[:2],
				w.tries[3])
			w.rows[4].Attempts, w.evidence.Starts[6].Time = 1, at(50)
			w.evidence.Cancelled[0].Quiet = time.Time{}
		},
		"cancelled while it waited for another attempt": func(w *world) {
			w.rows[2].State, w.rows[2].Attempts, w.rows[2].Attempt =
				task.Cancelled, 1, w.tries[1].Attempt
			w.head.Rows[task.Failed]--
			w.head.Rows[task.Cancelled]++
			w.evidence.Starts = append(w.evidence.Starts[:4], w.evidence.Starts[5:]...)
		},
		"two halves of a GPU": func(w *world) { w.share(0.5) },
		"a GPU that one has after another": func(w *world) {
			w.share(1)
			w.evidence.Starts[2].Ended = at(2)
		},
		"a finished sweep of some points": func(w *world) {
			w.record.Ranges = core.Ranges{{From: 0, To: 3}, {From: 7, To: 9}}
			w.rows[3].Index, w.rows[3].State, w.rows[3].Attempt = 7, task.Succeeded, try(1, "w2", 8,
				task.Success)
			w.rows[4].Index = 8
			for i := range w.tries {
				if w.tries[i].Index == 4 {
					w.tries[i].Index = 8
				}
			}
			w.head.State, w.head.UnissuedCancelled, w.head.Total = core.Finished, false, 5
			w.head.Rows = core.Counts{task.Succeeded: 4, task.Failed: 1}
			w.evidence = invariants.Evidence{Confirmed: map[string]int64{"train-1": 5}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := honest()
			change(w)
			if err := invariants.Error(w.check(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// Each promise that is broken is seen, and nothing else is reported.
func TestViolations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*world)
		want   []string
	}{
		"a task that still runs": {func(w *world) {
			w.rows[0].State, w.rows[0].Attempt.Outcome = task.Running, nil
			w.head.Rows[task.Succeeded]--
			w.head.Rows[task.Running]++
			w.evidence.Cancelled = nil
		}, []string{`1: train-1/0 has not ended: it is running, attempt 1 on "w1"`}},
		"a sweep that has not ended": {func(w *world) {
			w.head.State, w.head.Ended,
				w.evidence.Cancelled = core.Paused, time.Time{}, nil
		},
			[]string{"1: train-1 has not ended: it is paused, with [0 0 0 0 3 1 0 0 0 2]"}},
		"a task that was never handed out": {func(w *world) {
			w.head.UnissuedCancelled, w.head.State, w.evidence.Cancelled = false, core.Finished, nil
		},
			[]string{"1: train-1/5 has not ended: it was never handed out"}},
		"a row that was lost": {func(w *world) {
			w.rows, w.head.Rows[task.Succeeded] = w.rows[1:], 2
			w.evidence.Starts = w.evidence.Starts[1:]
		}, []string{"1: train-1/0 was handed out and has no row"}},
		"a row too many": {func(w *world) {
			w.rows = append(w.rows,
				row(6, task.Lost, 1, try(1, "w1", 1, task.Loss)))
		},
			[]string{"1: train-1/6 has a row and is no task of the sweep"}},
		"wrong counts": {func(w *world) { w.head.Rows[task.Succeeded]++ },
			[]string{
				"1: train-1 counts [0 0 0 0 4 1 0 0 0 1] tasks by state, and has [0 0 0 0 3 1 0 " +
					"0 0 1]"}},

		"an attempt without its GPUs": {func(w *world) {
			w.record.Recipe.GPUs.Count = 2
			w.evidence.Starts[0].GPUs = []string{"GPU-1"}
		}, []string{"8: train-1/0 began attempt 1 on w1 with GPUs [GPU-1], and needs 2"}},
		"GPUs of one that needs none": {func(w *world) {
			w.evidence.Starts[0].GPUs = []string{"GPU-1"}
		}, []string{"8: train-1/0 began attempt 1 on w1 with GPUs [GPU-1], and needs 0"}},
		"a GPU that two attempts have": {func(w *world) { w.share(1) },
			[]string{"8: GPU-1 is had 2 times when attempt 1 of train-1/2 begins on it: " +
				"attempt 1 of train-1/1 has not ended"}},
		"a share too many": {func(w *world) {
			w.share(0.5)
			w.evidence.Starts[6].GPUs = []string{"GPU-1"}
		}, []string{"8: GPU-1 is had 1.5 times when attempt 1 of train-1/4 begins on it: " +
			"attempt 1 of train-1/1 has not ended"}},

		"an end without a result": {func(w *world) { w.rows[2].Attempt.Outcome = nil },
			[]string{"2: train-1/2 is failed without a result"}},
		"a result of another kind": {func(w *world) {
			w.rows[2].Attempt.Outcome.Class =
				task.Success
		},
			[]string{`2: train-1/2 is failed, and its result is "success"`}},
		"a late result that counts": {func(w *world) {
			w.rows[4].Attempt, w.tries[2].Attempt = try(1, "w1", 2.5, task.Success), try(2, "w2", 7,
				task.Loss)
			w.tries = w.tries[:3]
		}, []string{
			"2: train-1/4 counts attempt 1, and has a result of attempt 2",
			"2: train-1/4 counts attempt 1, and attempt 2 began on w2",
		}},
		"a task that went on after it had succeeded": {func(w *world) {
			w.tries[0].Attempt.Outcome.Class, w.evidence.Cancelled = task.Success, nil
		}, []string{"2: train-1/1 went on after attempt 1, which succeeded"}},
		"an attempt in two places": {func(w *world) { w.tries[1].Attempt.Number = 2 }, []string{
			"2: train-1/2 counts attempt 2, which it has left behind",
			"2: train-1/2 has 2 attempts by its row, and the store lists 1",
		}},
		"an attempt that was left running": {func(w *world) { w.tries[0].Attempt.Outcome = nil },
			[]string{"2: train-1/1 left attempt 1 behind, which has not ended"}},
		"an attempt that was forgotten": {func(w *world) { w.tries = w.tries[1:] },
			[]string{"2: train-1/1 has 2 attempts by its row, and the store lists 1"}},
		"a result that no process had": {func(w *world) {
			w.evidence.Starts =
				w.evidence.Starts[1:]
		},
			[]string{"2: train-1/0 succeeded in attempt 1 on w1, which never began"}},
		"a start of what was never handed out": {func(w *world) {
			w.evidence.Starts = append(
				w.evidence.Starts, start(5, 1, "w1", 1))
		},
			[]string{"2: train-1/5 began 1 times and was never handed out"}},

		"a start that nothing explains": {func(w *world) { w.evidence.Faults = nil }, []string{
			"3: train-1/1 began again (attempt 3 on w2) 3s after attempt 1 on w1, and no fault " +
				"explains it",
			"3: train-1/4 began again (attempt 2 on w2) 4.5s after attempt 1 on w1, and no fault " +
				"explains it",
		}},
		"a superseded start long after the fault": {func(w *world) {
			w.tries[3].Attempt.Outcome.Class, w.tries = task.Success, append(w.tries[:2],
				w.tries[3])
			w.rows[4].Attempt.Started, w.rows[4].Attempts, w.evidence.Starts[6].Time,
				w.evidence.Starts[7].Time = at(30), 1, at(24), at(30)
			w.evidence.Cancelled = nil
		}, []string{
			"3: train-1/4 began again (attempt 2 on w2) 6s after attempt 1 on w1, and no fault " +
				"explains it"}},
		"given up before it began, and begun long after the fault": {func(w *world) {
			w.tries = w.tries[:3]
			w.evidence.Starts[6].Time, w.evidence.Starts[7].Time = at(24), at(30)
			w.rows[4].Attempt.Started, w.evidence.Cancelled = at(30), nil
		}, []string{
			"3: train-1/4 began again (attempt 2 on w2) 6s after attempt 1 on w1, and no fault " +
				"explains it"}},
		"a fault of another worker": {func(w *world) { w.evidence.Faults[0].Worker = "w2" },
			[]string{
				"3: train-1/1 began again (attempt 3 on w2) 3s after attempt 1 on w1, and no " +
					"fault explains it",
				"3: train-1/4 began again (attempt 2 on w2) 4.5s after attempt 1 on w1, and no " +
					"fault explains it",
			}},
		"a fault of another sweep": {
			func(w *world) { w.evidence.Faults[0].Sweep = "train-2" }, []string{
				"3: train-1/1 began again (attempt 3 on w2) 3s after attempt 1 on w1, " +
					"and no fault explains it",
				"3: train-1/4 began again (attempt 2 on w2) 4.5s after attempt 1 on w1, " +
					"and no fault explains it",
			}},
		"a fault long before both starts": {func(w *world) {
			w.evidence.Faults[0].From,
				w.evidence.Faults[0].To = at(-20), at(-19)
		}, []string{
			"3: train-1/1 began again (attempt 3 on w2) 3s after attempt 1 on w1, and no fault " +
				"explains it",
			"3: train-1/4 began again (attempt 2 on w2) 4.5s after attempt 1 on w1, and no fault " +
				"explains it",
		}},
		"a fault after both starts": {func(w *world) {
			w.evidence.Faults[0].From,
				w.evidence.Faults[0].To = at(6), at(9)
		},
			[]string{
				"3: train-1/1 began again (attempt 3 on w2) 3s after attempt 1 on w1, and no " +
					"fault explains it"}},
		"an attempt that began on two workers": {func(w *world) {
			w.evidence.Starts[7].Attempt =
				1
			w.rows[4].Attempt.Number = 1
			w.tries = w.tries[:2]
		}, []string{
			"2: train-1/4 has 2 attempts by its row, and the store lists 1",
			"3: train-1/4 began attempt 1 on w1 and on w2",
		}},
		"more forgiven than allowed": {func(w *world) { w.rows[2].Charged.Error = 2 },
			[]string{
				"3: train-1/2 was forgiven {Error:2 Timeout:0 OOM:0 Lost:0}, and the rules are " +
					"{Error:1 Timeout:0 OOM:0 Lost:3}"}},
		"a start of no task": {func(w *world) {
			w.evidence.Starts = append(w.evidence.Starts,
				start(6, 1, "w1", 1))
		},
			[]string{"3: train-1/6 began 1 times and is no task of the store"}},

		"a sweep that was lost": {func(w *world) { w.evidence.Confirmed["train-2"] = 3 },
			[]string{"4: train-2 was confirmed and is not in the store"}},
		"a sweep that lost tasks": {func(w *world) { w.evidence.Confirmed["train-1"] = 7 },
			[]string{"4: train-1 was confirmed with 7 tasks and has 6"}},

		"a process that lives": {func(w *world) {
			w.evidence.Alive = []invariants.Start{start(4, 1, "w1", 2)}
		},
			[]string{"5: train-1/4 has a process alive: pid 100 of attempt 1 on w1"}},

		"output that was cut without a mark": {func(w *world) {
			w.rows[0].Attempt.Outcome.Stdout.Printed = 8
		},
			[]string{
				"6: train-1/0 printed 8 bytes on stdout in attempt 1, and 7 are kept, without a " +
					"mark"}},
		"output that is not kept as it is told": {func(w *world) {
			w.rows[0].Attempt.Outcome.Stdout = task.Output{Bytes: 8, Truncated: true}
		},
			[]string{
				"6: train-1/0 has 8 bytes of stdout of attempt 1, it is told, and 7 are kept"}},
		"output of somebody else": {func(w *world) { w.tries[1].Attempt.Outcome.Stdout.Bytes = 5 },
			[]string{
				"6: train-1/2 has 5 bytes of stdout of attempt 1, it is told, and 7 are kept"}},
		"errors that were cut": {func(w *world) { w.rows[0].Attempt.Outcome.Stderr.Bytes = 1 },
			[]string{
				"6: train-1/0 has 1 bytes of stderr of attempt 1, it is told, and 0 are kept"}},
		"output that is missing": {func(w *world) {
			w.evidence.Output = func(id task.ID, _ core.Attempt) (int64, int64, error) {
				if id.Index == 0 {
					return 0, 0, errors.New("no file")
				}
				return 7, 0, nil
			}
		}, []string{"6: train-1/0 has no output of attempt 1: no file"}},

		"a cancelled task that succeeded after that": {func(w *world) {
			w.rows[0].Attempt.Started =
				at(8)
		},
			[]string{
				"7: train-1/0 was cancelled and is succeeded: attempt 1 ended 500ms after that"}},
		"a task that began long after it was cancelled": {func(w *world) {
			w.rows[3].Attempt.Started, w.evidence.Starts[5].Time = at(9.5), at(9.5)
		}, []string{"7: train-1/3 was cancelled and began attempt 1 on w2 1s after that"}},
		"a single task that was cancelled and succeeded": {func(w *world) {
			w.evidence.Cancelled = []invariants.Cancel{{Sweep: "train-1", Index: 0, At: at(1.5)},
				{Sweep: "train-1", Index: 3, At: at(8.5)}}
		}, []string{
			"7: train-1/0 was cancelled and is succeeded: attempt 1 ended 500ms after that"}},
		"a cancelled sweep that finished": {func(w *world) {
			w.head.State, w.head.UnissuedCancelled, w.head.Total = core.Finished, false, 5
			w.evidence.Confirmed = nil
		}, []string{"7: train-1 was cancelled and is finished"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := honest()
			c.change(w)
			var got []string
			for _, v := range w.check(t) {
				got = append(got, v.String())
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	if err := invariants.Error(nil); err != nil {
		t.Error(err)
	}
	all := make([]invariants.Violation, 30)
	for i := range all {
		all[i] = invariants.Violation{Invariant: 5, Subject: "train-1", Text: "lives"}
	}
	text := invariants.Error(all).Error()
	if want := "30 violations of what is promised:\n5: train-1 lives\n5:"; !strings.HasPrefix(text,
		want) || strings.Count(text, "lives") != 20 {
		t.Errorf("got %s", text)
	}
}

func TestReadStarts(t *testing.T) {
	t.Parallel()
	got, err := invariants.ReadStarts(
		strings.NewReader("train-1/7 2 w1 345 1800000000.500000000\n"))
	want := []invariants.Start{{Task: task.ID{Sweep: "train-1", Index: 7}, Attempt: 2, Worker: "w1",
		PID: 345, Time: time.Unix(1800000000, 5e8)}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v; -want +got:\n%s", err, diff)
	}
	for _, line := range []string{"train-1/7 2 w1 345", "train-1 2 w1 3 1.0",
		"train-1/7 x w1 3 1.0", "train-1/7 2 w1 x 1.0", "train-1/7 2 w1 3 x.0",
		"train-1/7 2 w1 3 1"} {
		if _, err := invariants.ReadStarts(strings.NewReader(line)); err == nil ||
			!strings.HasPrefix(err.Error(), "line 1, ") {
			t.Errorf("%q: got %v", line, err)
		}
	}
}
