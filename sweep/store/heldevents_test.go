package store_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// TestHeldEvents: events are held in order, by sweep, also behind a line that was cut off, until
// the file of a sweep is full.
func TestHeldEvents(t *testing.T) {
	t.Parallel()
	s, _ := begin(t, newRecord())
	event := func(sweep string, index int64) task.Event {
		return task.Event{Version: task.Version, Kind: task.EndedEvent, Worker: "w", Sweep: sweep,
			Index: index, Attempt: 1, Time: at(1), Outcome: &task.Outcome{Class: task.Success}}
	}
	hold := func(events ...task.Event) (dropped []task.Event) {
		t.Helper()
		dropped, err := s.HoldEvents(events)
		if err != nil {
			t.Fatal(err)
		}
		return dropped
	}
	check := func(want map[string][]task.Event) {
		t.Helper()
		sweeps, err := s.Held()
		have := map[string][]task.Event{}
		for _, sweep := range sweeps {
			for e, err := range s.HeldEvents(sweep) {
				if err != nil {
					t.Fatal(err)
				}
				have[sweep] = append(have[sweep], e)
			}
		}
		if diff := cmp.Diff(want, have); diff != "" || err != nil {
			t.Errorf("%v -want +got:\n%s", err, diff)
		}
	}
	check(map[string][]task.Event{})
	hold(event("a-1", 1), event("b-1", 1), event("a-1", 2))
	file := filepath.Join(s.Folder(), "held", "a-1")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, append(text, text[:30]...), 0o600); err != nil {
		t.Fatal(err)
	}
	check(map[string][]task.Event{"a-1": {event("a-1", 1), event("a-1", 2)},
		"b-1": {event("b-1", 1)}})
	hold(event("a-1", 3))
	check(map[string][]task.Event{"a-1": {event("a-1", 1), event("a-1", 2), event("a-1", 3)},
		"b-1": {event("b-1", 1)}})
	long := event("a-1", 4)
	long.Outcome.Reason = strings.Repeat("x", store.MaxHeldBytes)
	if diff := cmp.Diff([]task.Event{long}, hold(long, event("b-1", 2))); diff != "" {
		t.Errorf("dropped: -want +got:\n%s", diff)
	}
	if err := s.DropHeld("a-1"); err != nil {
		t.Fatal(err)
	}
	check(map[string][]task.Event{"b-1": {event("b-1", 1), event("b-1", 2)}})
}
