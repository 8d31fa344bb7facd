package core_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// acts are all things that can happen to a task. They happen to task 0 of a sweep of two.
var acts = map[string]func(*bed){
	"placed": func(b *bed) {
		b.Place(core.Offer{Worker: "w", Tasks: 1, Empty: true},
			at(2))
	},
	"claimed":       func(b *bed) { b.event(task.ClaimedEvent, 0, nil) },
	"started":       func(b *bed) { b.event(task.StartedEvent, 0, nil) },
	"samples":       func(b *bed) { b.event(task.SamplesEvent, 0, nil) },
	"returned":      func(b *bed) { b.event(task.ReturnedEvent, 0, nil) },
	"ended success": func(b *bed) { b.end(0, task.Success) },
	"ended error":   func(b *bed) { b.end(0, task.Error) },
	"ended timeout": func(b *bed) { b.end(0, task.TimedOut) },
	"ended oom":     func(b *bed) { b.end(0, task.OutOfMemory) },
	"ended lost":    func(b *bed) { b.end(0, task.Loss) },
	"ended stopped": func(b *bed) { b.end(0, task.Stopped) },
	"ended nothing": func(b *bed) { b.event(task.EndedEvent, 0, nil) },
	"lease ended":   func(b *bed) { b.MarkLost("w", "silent", core.LeaseEnded, at(2)) },
	"reconnected":   func(b *bed) { b.TakeUp("w") },
	"worker lost":   func(b *bed) { b.MarkLost("w", "away", core.Vanished, at(2)) },
	"all lost":      func(b *bed) { b.MarkLost("", "killed", core.Dead, at(2)) },
	"worker anew":   func(b *bed) { b.Rejoin("w", "it began anew", core.Vanished, at(2)) },
	"attempt unknown": func(b *bed) {
		b.MarkAttemptLost(0, b.store.rows[0].Attempt.Number, "unknown", core.Vanished, at(2))
	},
	"attempt heard": func(b *bed) { b.ConfirmRunning("w", 0, 1) },
	"other lost":    func(b *bed) { b.MarkLost("v", "away", core.Vanished, at(2)) },
	"task cancelled": func(b *bed) {
		if b.Cancellable(0) {
			b.CancelTask(0, "enough", at(2))
		}
	},
	"sweep cancelled": func(b *bed) { b.Cancel("enough", at(2)) },
	"paused":          func(b *bed) { b.Pause("wait", false) },
	"stopped":         func(b *bed) { b.Pause("wait", true) },
	"resumed":         func(b *bed) { b.Resume(at(2)) },
	"retried":         func(b *bed) { b.Reopen([]core.Task{b.store.rows[0]}, false, false) },
	"retried fresh":   func(b *bed) { b.Reopen([]core.Task{b.store.rows[0]}, true, false) },
	"stale result": func(b *bed) {
		b.Event(&task.Event{Kind: task.EndedEvent, Worker: "v", Index: 0, Attempt: 1,
			Outcome: &task.Outcome{Class: task.Success}}, at(2))
	},
}

// transitions is the new state for each act (row) in each state (column), where no retry is
// allowed. A dot is the same state, and what ended stays ended but for a person's retry.
const transitions = `
                 pending    queued     claimed    running    succeeded  failed   timeout  oom      lost     cancelled
placed           queued     .          .          .          .          .        .        .        .        .
claimed          .          claimed    .          .          .          .        .        .        .        .
started          .          running    running    .          .          .        .        .        .        .
samples          .          .          .          .          .          .        .        .        .        .
returned         .          pending    pending    .          .          .        .        .        .        .
ended success    .          succeeded  succeeded  succeeded  .          .        .        .        .        .
ended error      .          failed     failed     failed     .          .        .        .        .        .
ended timeout    .          timeout    timeout    timeout    .          .        .        .        .        .
ended oom        .          oom        oom        oom        .          .        .        .        .        .
ended lost       .          lost       lost       lost       .          .        .        .        .        .
ended stopped    .          pending    pending    pending    .          .        .        .        .        .
ended nothing    .          .          .          .          .          .        .        .        .        .
lease ended      .          pending    pending    lost       .          .        .        .        .        .
reconnected      .          .          .          .          .          .        .        .        .        .
worker lost      .          pending    pending    lost       .          .        .        .        .        .
all lost         .          pending    pending    lost       .          .        .        .        .        .
worker anew      .          .          pending    lost       .          .        .        .        .        .
attempt unknown  .          pending    pending    lost       .          .        .        .        .        .
attempt heard    .          .          .          .          .          .        .        .        .        .
other lost       .          .          .          .          .          .        .        .        .        .
task cancelled   cancelled  .          .          .          .          .        .        .        .        .
sweep cancelled  cancelled  .          .          .          .          .        .        .        .        .
paused           .          .          .          .          .          .        .        .        .        .
stopped          .          .          .          .          .          .        .        .        .        .
resumed          .          .          .          .          .          .        .        .        .        .
retried          .          .          .          .          .          pending  pending  pending  pending  pending
retried fresh    .          .          .          .          .          pending  pending  pending  pending  pending
stale result     .          .          .          .          .          .        .        .        .        .
`

func TestTransitions(t *testing.T) {
	t.Parallel()
	lines := strings.Split(strings.Trim(transitions, "\n"), "\n")
	if len(lines)-1 != len(acts) {
		t.Errorf("the table has %d rows for %d acts", len(lines)-1, len(acts))
	}
	for _, line := range lines[1:] {
		act, cells := strings.TrimSpace(line[:17]), strings.Fields(line[17:])
		for i, from := range task.States {
			t.Run(act+" while "+from.String(), func(t *testing.T) {
				t.Parallel()
				want := from
				if cells[i] != "." {
					want, _ = task.ParseState(cells[i])
				}
				b := newBed(core.Record{}, 2)
				b.bring(from)
				acts[act](b)
				b.keep()
				if got := b.store.rows[0].State; got != want {
					t.Errorf("got %v, want %v", got, want)
				}
				if err := b.store.check(b.Ledger); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// TestRepeated reports everything twice: the second time changes no row and keeps no result.
func TestRepeated(t *testing.T) {
	t.Parallel()
	for _, class := range []task.Class{task.Success, task.Error, task.Loss, task.Stopped} {
		t.Run(string(class), func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{Retry: task.Retry{Error: 1, Lost: 1}}, 1)
			b.place(1, "w")
			events := []task.Event{{Kind: task.ClaimedEvent}, {Kind: task.StartedEvent},
				{Kind: task.EndedEvent, Outcome: &task.Outcome{Class: class}}}
			for i, e := range events {
				for _, again := range events[:i+1] {
					again.Worker, again.Attempt, again.Time = "w", 1, at(1)
					b.Event(&again, at(1))
				}
				e.Worker, e.Attempt, e.Time = "w", 1, at(1)
				b.Event(&e, at(1))
				b.keep()
			}
			row, tries := b.store.rows[0], len(b.store.tries)
			for _, again := range events {
				again.Worker, again.Attempt, again.Time = "w", 1, at(2)
				b.Event(&again, at(2))
				b.keep()
			}
			if diff := cmp.Diff(row, b.store.rows[0]); diff != "" || len(b.store.tries) != tries {
				t.Errorf("%d attempts were kept, now %d; row: %s", tries, len(b.store.tries), diff)
			}
		})
	}
}
