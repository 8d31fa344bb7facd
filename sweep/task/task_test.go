package task_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

func TestParseID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]task.ID{
		"run_training-7/42":         {Sweep: "run_training-7", Index: 42},
		"a/0":                       {Sweep: "a"},
		"ü b-1/9223372036854775807": {Sweep: "ü b-1", Index: math.MaxInt64},
	} {
		got, err := task.ParseID(text)
		if err != nil || got != want || got.String() != text {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "/", "a", "a/", "/1", "a/-1", "a/-0", "a/+1", "a/01", "a/1 ",
		"a/1/2", "a/x", "a/1.0", "a/9223372036854775808"} {
		if got, err := task.ParseID(text); err == nil {
			t.Errorf("%q is read as %v", text, got)
		}
	}
	if got := task.SweepID("run_training", 7); got != "run_training-7" {
		t.Errorf("got %s", got)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	type kind struct{ Terminal, Failure, Active bool }
	open, active, good, bad := kind{}, kind{Active: true}, kind{Terminal: true},
		kind{Terminal: true, Failure: true}
	want := []struct {
		name string
		kind kind
	}{
		{"pending", open}, {"queued", active}, {"claimed", active}, {"running", active},
		{"succeeded", good},
		{"failed", bad}, {"timeout", bad}, {"oom", bad}, {"lost", bad}, {"cancelled", good},
	}
	if len(want) != len(task.States) {
		t.Fatalf("there are %d states", len(task.States))
	}
	for i, s := range task.States { // the numbers are kept in stores
		if got := (kind{s.Terminal(), s.Failure(), s.Active()}); int(s) != i ||
			s.String() != want[i].name || got != want[i].kind {
			t.Errorf("%d: %v is %d, %+v", i, s, s, got)
		}
	}
	var back []task.State
	data, err := json.Marshal(task.States)
	if err == nil {
		err = json.Unmarshal(data, &back)
	}
	if diff := cmp.Diff(task.States, back); err != nil || diff != "" {
		t.Errorf("%s is read back with %v:\n%s", data, err, diff)
	}
	for _, name := range []string{"", "Running", "state 12", "done"} {
		if _, err := task.ParseState(name); err == nil {
			t.Errorf("%q is a state", name)
		}
	}
	if got := task.State(12).String(); got != "state 12" {
		t.Errorf("got %s", got)
	}
}

// Filters of results know every state.
func TestFiltersKnowStates(t *testing.T) {
	t.Parallel()
	for _, s := range task.States {
		if _, err := table.ParseFilter("state = "+s.String(), table.Schema{}); err != nil {
			t.Error(err)
		}
	}
}
