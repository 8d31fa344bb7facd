package core_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// TestExcuseOfCancelled: an attempt that its unfit host could not run is listed, also when its task
// was cancelled meanwhile.
func TestExcuseOfCancelled(t *testing.T) {
	t.Parallel()
	b := newBed(core.Record{}, 1)
	b.place(1, "w")
	b.event(task.ClaimedEvent, 0, nil)
	if err := b.CancelTask(0, "enough", at(1)); err != nil {
		t.Fatal(err)
	}
	b.Excuse(task.Event{Kind: task.EndedEvent, Worker: "w", Attempt: 1, Time: at(2),
		Outcome: &task.Outcome{Class: task.Loss, Reason: "infra: no memory"}}, at(2))
	b.keep()
	if row := b.store.rows[0]; row.State != task.Cancelled || row.Tries != 1 || row.Try.Outcome == nil {
		t.Errorf("it is %v with %d attempts, the newest %+v", row.State, row.Tries, row.Try)
	}
}
