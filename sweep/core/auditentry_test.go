package core_test

import (
	"errors"
	"testing"

	"mlframework/sweep/core"
)

// A step that is dropped, as after a panic, leaves the audit entry of its command as it was: the
// next step with it tells how the command ended then.
func TestAStepChangesNoAuditEntryOfItsInput(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	entry := core.AuditEntry{User: "ann", Action: "retry", Kind: "sweep", Object: "train-1"}
	c.Step(core.Input{Command: core.Note{}, Audit: &entry}, at(1)) // is dropped
	out := c.Step(core.Input{Audit: &entry,
		Command: core.Refuse{Err: errors.New("fault in the master"), Failed: true}}, at(2))
	_, err := out.Commit(func(rows *core.Rows) error {
		if len(rows.Audit) != 1 || rows.Audit[0].Outcome != core.AuditFailed {
			t.Errorf("the audit has %+v", rows.Audit)
		}
		return nil
	})
	if err != nil || entry.Outcome != "" {
		t.Errorf("%v; the caller's entry is %+v", err, entry)
	}
}
