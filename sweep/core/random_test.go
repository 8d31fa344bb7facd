package core_test

import (
	"testing"

	"mlframework/sweep/task"
)

// worlds is how many seeds the random tests run.
func worlds() uint64 {
	if testing.Short() {
		return 200
	}
	return 1000
}

// TestRandom runs seeded worlds full of faults. A failure names its seed, which repeats it.
func TestRandom(t *testing.T) {
	t.Parallel()
	for seed := range worlds() {
		if err := newWorld(seed, honest).run(150); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}

// TestCheckerSees runs the same worlds with ledgers that do something wrong: the checker must notice.
func TestCheckerSees(t *testing.T) {
	t.Parallel()
	for name, cheat := range map[string]handler{
		"without fencing": func(w *world, e task.Event) {
			if row, open := w.ledger.Dump().Open[e.Index]; open && row.State.Active() {
				e.Attempt, e.Worker = row.Try.Number, row.Try.Worker
			}
			w.ledger.Event(e, w.now)
		},
		"events dropped": func(w *world, e task.Event) {
			if e.Kind != task.EndedEvent || w.IntN(50) > 0 {
				w.ledger.Event(e, w.now)
			}
		},
		"every result counts": func(w *world, e task.Event) {
			w.ledger.Event(e, w.now)
			if row := w.store.rows[e.Index]; e.Kind == task.EndedEvent && row.Try.Number > e.Attempt {
				row.State, row.Try.Outcome = task.Succeeded, e.Outcome
				w.store.rows[e.Index] = row
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range worlds() {
				if err := newWorld(seed, cheat).run(150); err != nil {
					t.Logf("seed %d: %v", seed, err)
					return
				}
			}
			t.Error("no violation was found")
		})
	}
}
