package core_test

import (
	"fmt"
	"slices"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// A worker whose processes follow each other without end, and are sent secrets each, has an entry
// of that in a minute, which says how many had none.
func TestReleasesOfSecretsFillNoAudit(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, nil, nil, at(0))
	var details []string
	starts := func(incarnation, seconds int) {
		t.Helper()
		beat := beatOf(fmt.Sprint(incarnation))
		beat.Key, beat.Reads = []byte("key"), task.Newest
		beat.Needs = []task.Need{{Sweep: "train-1", Edition: "e"}}
		for range 2 { // it asks until they come
			out := c.Step(core.Input{Heartbeats: []task.Heartbeat{beat},
				Events: []core.Event{{Event: task.Event{Version: task.Version,
					Kind: task.JoinedEvent, Worker: "w", Heartbeat: &beat}}}}, at(float64(seconds)))
			if _, err := out.Commit(func(rows *core.Rows) error {
				for _, e := range rows.Audit {
					if e.Action == "release-secrets" {
						details = append(details, e.Detail)
					}
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	starts(100, 0)
	record := core.Record{Space: new(space.Space), Recipe: task.Recipe{Secrets: []string{"KEY"}}}
	c.Add(core.Loaded{Seq: 1, Edition: "e", Record: record,
		Head: core.Head{ID: "train-1", State: core.Open, Total: 1}})
	starts(100, 1) // and is given the task
	for n := range 50 {
		starts(101+n, 2)
	}
	starts(200, 62)
	want := []string{"worker=w process=100", "worker=w process=200 not-recorded=50"}
	if !slices.Equal(details, want) {
		t.Errorf("the audit has %d entries: %.200q; want %q", len(details), details, want)
	}
}
