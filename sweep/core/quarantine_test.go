package core_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// TestEndOnUnfitHostOfCancelled: an attempt that its unfit host could not run is listed, also when
// its task was cancelled meanwhile.
func TestEndOnUnfitHostOfCancelled(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 1)
	b.place(1, "w")
	b.event(task.ClaimedEvent, 0, nil)
	b.CancelTask(0, "enough", at(1))
	b.EndOnUnfitHost(&task.Event{Kind: task.EndedEvent, Worker: "w", Attempt: 1, Time: at(2),
		Outcome: &task.Outcome{Class: task.Loss, Reason: "infra: no memory"}}, at(2))
	b.keep()
	if row := b.store.rows[0]; row.State != task.Cancelled || row.Attempts != 1 ||
		row.Attempt.Outcome == nil {
		t.Errorf("it is %v with %d attempts, the newest %+v", row.State, row.Attempts, row.Attempt)
	}
}
