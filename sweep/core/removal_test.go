package core_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Which sweeps can be removed, and of which outputs of tasks can be.
func TestWhatCanBeRemoved(t *testing.T) {
	t.Parallel()
	const running = "; `run-tasks cancel train-1` ends it"
	for name, c := range map[string]struct {
		head            core.Head
		notices         []core.Notice
		remove, outputs string // why not; "": it can be
	}{
		"finished":  {head: core.Head{State: core.Finished, Ended: at(1)}},
		"cancelled": {head: core.Head{State: core.Cancelled, Ended: at(1)}},
		"paused": {head: core.Head{State: core.Paused},
			outputs: "train-1 is paused; wait for its end"},
		"running": {head: core.Head{State: core.Open}, remove: "train-1 is running" + running,
			outputs: "train-1 is running; wait for its end"},
		"paused, and a task runs": {
			head: core.Head{State: core.Paused, Rows: core.Counts{task.Running: 1}},
			remove: "train-1 is paused, and some of its tasks still run; wait for their end, or " +
				"`run-tasks cancel train-1` stops them",
			outputs: "train-1 is paused; wait for its end"},
		"a notification was sent": {head: core.Head{State: core.Finished, Ended: at(1)},
			notices: []core.Notice{{Event: core.EndedNotice, Time: at(1), Sent: at(2)}}},
		"a notification is to be sent": {head: core.Head{State: core.Finished, Ended: at(1)},
			notices: []core.Notice{{Event: core.EndedNotice, Time: at(1)}},
			remove:  "train-1 is about to send a notification; try again when it was sent"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := c.head
			head.ID, head.Total = "train-1", 1
			site, _ := core.Load(core.Options{}, nil, nil, at(0))
			site.Add(core.Loaded{Seq: 1, Head: head,
				Record: core.Record{Space: new(space.Space), Notices: c.notices}})
			check := func(command core.Command, want string) {
				t.Helper()
				got := ""
				if err := site.Check(command); err != nil {
					got = err.Error()
				}
				if got != want {
					t.Errorf("%T: %q, want %q", command, got, want)
				}
			}
			check(core.RemoveSweep{Sweep: "train-1"}, c.remove)
			check(core.PruneOutputs{Sweep: "train-1", Tasks: core.Ranges{{To: 1}}}, c.outputs)
		})
	}
}
