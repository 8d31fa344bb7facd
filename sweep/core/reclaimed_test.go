package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// TestClaimedAgain: a worker that claims an attempt again has forgotten what it was asked about it
// since the first time: it is asked again.
func TestClaimedAgain(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*bed)
		want   []task.ControlKind
	}{
		"nothing was asked": {func(*bed) {}, nil},
		"a pause": {func(b *bed) { b.Pause("wait", false) },
			[]task.ControlKind{task.RecallControl}},
		"a pause that stops": {func(b *bed) { b.Pause("wait", true) },
			[]task.ControlKind{task.StopControl}},
		"a cancellation": {func(b *bed) { b.CancelTask(0, "enough", at(1)) },
			[]task.ControlKind{task.StopControl}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBed(core.Record{}, 2)
			b.bring(task.Claimed)
			c.change(b)
			b.event(task.ClaimedEvent, 0, nil)
			var got []task.ControlKind
			for _, o := range b.last.Controls {
				got = append(got, o.Control.Kind)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}
