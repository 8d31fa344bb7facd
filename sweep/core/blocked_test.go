package core_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
)

// TestWaitsForUnknownWorker: a task for a worker that was forgotten, and that a person retried,
// says what it waits for.
func TestWaitsForUnknownWorker(t *testing.T) {
	t.Parallel()
	c, _ := core.Load(core.Options{}, []core.Loaded{{Seq: 1,
		Record: core.Record{Space: new(space.Space), EachWorker: true, Workers: []string{"w"}},
		Head:   core.Head{ID: "train-1", State: core.Open, Total: 1}}}, nil, at(0))
	want := map[int64]string{
		0: "waits for worker w, which is not known: start it, or cancel the task",
	}
	if diff := cmp.Diff(want, c.Blocked("train-1")); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
