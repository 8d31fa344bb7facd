package queuetest

import (
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// batch is one attempt at task n of a sweep.
func batch(sweep string, n int) task.Batch {
	return task.Batch{
		Version: task.Version,
		Sweep:   sweep,
		Recipe:  task.Recipe{Definition: "train", Command: []string{"train.py"}, Revision: "r1"},
		Attempts: []task.Attempt{{Index: int64(n), Number: 1,
			Args: []string{"--n=" + strconv.Itoa(n)}}},
	}
}

func batches(sweep string, from, to int) (all []task.Batch) {
	for n := from; n < to; n++ {
		all = append(all, batch(sweep, n))
	}
	return all
}

// bigBatch has every field and many attempts; it is some megabytes long.
func bigBatch() task.Batch {
	b := batch("big-1", 0)
	b.Recipe = task.Recipe{
		Definition: "train", Command: []string{"python3", "a b", "$x", "{host}", "ü\x00"},
		Env:     map[string]string{"A": "1", "B": ""},
		Secrets: []string{"KEY"}, Revision: "r2", Outputs: []string{"result"}, Timeout: time.Hour,
		Grace:   time.Second,
		Metrics: []metric.Rule{{Name: "loss", Pattern: `loss=(\S+)`}}, Needs: task.Needs{GPUs: task.GPUs{Count: 0.5}},
	}
	long := string(make([]byte, 1000))
	b.Attempts = nil
	for n := range 2000 {
		b.Attempts = append(b.Attempts, task.Attempt{Index: int64(n), Number: 3,
			Args: []string{"--text=" + long, strconv.Itoa(n)}})
	}
	return b
}

// event is the n-th event of one of a worker's sources.
func event(worker, source string, n int) task.Event {
	return task.Event{Version: task.Version, Kind: task.ClaimedEvent, Worker: worker, Sweep: source,
		Index: int64(n), Attempt: 1,
		Time: time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)}
}

func events(worker, source string, from, to int) (all []task.Event) {
	for n := from; n < to; n++ {
		all = append(all, event(worker, source, n))
	}
	return all
}

// fullEvent has every field.
func fullEvent() task.Event {
	code := 3
	e := event("w1", "full-1", 1)
	e.Kind = task.EndedEvent
	e.Start = &task.Start{Host: "gpu1", Slot: 1, Resumed: true}
	e.Samples = []metric.Sample{{Name: "loss", Value: 0.25, Line: 7, Stream: "stdout",
		Time: e.Time}}
	e.Outcome = &task.Outcome{Class: task.Error, ExitCode: &code, Reason: "exit code 3",
		Duration: time.Second,
		Stdout:   task.Output{Bytes: 1 << 40, Truncated: true}}
	return e
}

// checkOrder checks that the numbers of each source are 0 to n-1, in order. With repeats, a number
// may also come again once it came: what counts is when it came first.
func checkOrder[T any](t *testing.T, items []T, n int, repeats bool,
	of func(T) (source string, number int64)) {
	t.Helper()
	next := map[string]int64{}
	for _, item := range items {
		source, number := of(item)
		switch {
		case number == next[source]:
			next[source]++
		case number > next[source]:
			t.Fatalf("%s: %d came before %d", source, number, next[source])
		case !repeats:
			t.Fatalf("%s: %d came twice", source, number)
		}
	}
	for source, seen := range next {
		if seen != int64(n) {
			t.Errorf("%s: %d came; want %d", source, seen, n)
		}
	}
}

func ofBatch(b task.Batch) (string, int64) { return b.Sweep, b.Attempts[0].Index }
func ofEvent(e task.Event) (string, int64) { return e.Worker + " " + e.Sweep, e.Index }

// equal compares what was sent with what came.
func equal[T any](t *testing.T, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		if len(diff) > 2000 {
			diff = diff[:2000] + "..."
		}
		t.Errorf("what came differs from what was sent (-sent +came):\n%s", diff)
	}
}

func publish(t *testing.T, f Fixture, worker string, all ...task.Batch) {
	t.Helper()
	if err := f.Master.Publish(t.Context(), worker, all...); err != nil {
		t.Fatalf("publish: %v", err)
	}
}

func emit(t *testing.T, p queue.WorkerEndpoint, all ...task.Event) {
	t.Helper()
	if err := p.Emit(t.Context(), all...); err != nil {
		t.Fatalf("emit: %v", err)
	}
}
