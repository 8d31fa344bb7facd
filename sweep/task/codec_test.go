package task_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
)

// mostBytes is the longest batch that these tests read.
const mostBytes = 16 << 20

// trusted lets every event through.
func trusted(*task.Event) error { return nil }

func TestEventsAreSplitAndStayInOrder(t *testing.T) {
	t.Parallel()
	for _, most := range []int{1, 300, 1000, 1 << 20} {
		var sent, came []task.Event
		for n := range 50 {
			sent = append(sent, task.Event{Version: task.Version, Kind: task.ClaimedEvent,
				Index: int64(n)})
		}
		bodies, err := task.EncodeAll("an event", sent, most, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		for _, body := range bodies {
			events, err := task.DecodeEvents(body, trusted)
			if err != nil {
				t.Fatal(err)
			}
			if len(body) > most && len(events) > 1 {
				t.Errorf("%d events make a message of %d bytes; want %d at most", len(events),
					len(body), most)
			}
			came = append(came, events...)
		}
		if diff := cmp.Diff(sent, came); diff != "" {
			t.Errorf("split at %d bytes they differ (-sent +came):\n%s", most, diff)
		}
	}
}

// An attempt that is too long for a message keeps none of its batch back.
func TestATooLongAttemptLosesNoOther(t *testing.T) {
	t.Parallel()
	b := task.Batch{Version: task.Version, Sweep: "a-1"}
	for n := range 9 {
		a := task.Attempt{Index: int64(n), Number: 1, Args: []string{}}
		if n == 2 || n == 7 {
			a.Args = []string{strings.Repeat("x", 2000)}
		}
		b.Attempts = append(b.Attempts, a)
	}
	bodies, err := task.EncodeBatch(&b, 1000)
	want := "send task a-1/2: it is "
	if err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("the error is %v; want %s", err, want)
	}
	var came []int64
	for _, body := range bodies {
		some, err := task.DecodeBatch(body, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range some[0].Attempts {
			came = append(came, a.Index)
		}
	}
	if diff := cmp.Diff([]int64{0, 1, 3, 4, 5, 6, 8}, came); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestWhatCannotBeReadIsRefusedWithTheReason(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]string{
		"": "not what is expected", "{": "not what is expected", "null": "no array",
		`{"version":11}`: "no array", `[{"version":11},7]`: "not what is expected",
		`[{"version":11,"kind":7}]`:                "not what is expected",
		`[{"version":99},{"version":11,"kind":7}]`: "not what is expected",
		`[{"version":"2"}]`:                        "not what is expected",
		"[]7":                                      "something follows", "[": "not what is expected",
		`[{"version":11},`: "not what is expected", `[{"version":11}`: "not what is expected",
	} {
		events, err := task.DecodeEvents([]byte(body), trusted)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("events %.30q: %v, %v; want %q", body, events, err, want)
		}
	}
	for body, want := range map[string]string{
		"": "not what is expected", "[]": "not what is expected",
		`{"version":"2"}`:                "not what is expected",
		`{"version":11,"sweep":7}`:       "not what is expected",
		strings.Repeat(" ", mostBytes+1): "at most",
	} {
		b, err := task.DecodeBatch([]byte(body), mostBytes)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("batch %.30q: %v, %v; want %q", body, b, err, want)
		}
	}
}

// What is newer is read as far as all versions agree, whatever became of the rest.
func TestOfWhatIsNewerTheOutlineIsRead(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]task.Batch{
		`{"version":99}`: {Version: 99},
		`{"version":99,"sweep":"a-1","recipe":{"revision":"r"},"attempts":[{"index":4,"number":2,"args":["x"]}]}`:      {Version: 99, Sweep: "a-1", Attempts: []task.Attempt{{Index: 4, Number: 2}}},
		`{"recipe":7,"sweep":"a-1","attempts":[{"index":4,"number":2,"args":{}},{"index":5,"number":1}],"version":99}`: {Version: 99, Sweep: "a-1", Attempts: []task.Attempt{{Index: 4, Number: 2}, {Index: 5, Number: 1}}},
		`{"version":99,"sweep":7}`: {Version: 99},
	} {
		got, err := task.DecodeBatch([]byte(body), mostBytes)
		if diff := cmp.Diff([]task.Batch{want}, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", body, err, diff)
		}
	}
	got, err := task.DecodeEvents(
		[]byte(`[{"version":11,"kind":"joined"},{"version":99,"kind":"ended","worker":"w1","sweep":"a-1","index":3,"attempt":2,"time":"now","outcome":[]}]`), trusted)
	want := []task.Event{{Version: task.Version, Kind: task.JoinedEvent},
		{Version: 99, Kind: task.EndedEvent, Worker: "w1", Sweep: "a-1", Index: 3, Attempt: 2}}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range []any{task.Batch{Version: task.Version, Sweep: "a-1",
		Attempts: []task.Attempt{{Index: 1}}}, []task.Event{{Version: 9}},
		[]task.Event{{Version: 2}}} {
		body, err := json.Marshal(v)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(body)
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		batches, err := task.DecodeBatch(body, mostBytes)
		if err == nil && (len(batches) != 1 ||
			batches[0].Version != task.Version && len(batches[0].Recipe.Command) > 0) {
			t.Errorf("read %+v", batches)
		}
		events, err := task.DecodeEvents(body, trusted)
		for _, e := range events {
			if err != nil || e.Version != task.Version && (e.Outcome != nil || e.Heartbeat != nil) {
				t.Errorf("read %+v with %v", e, err)
			}
		}
	})
}
