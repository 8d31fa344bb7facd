package core_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

func testRecord(t *testing.T) core.Record {
	t.Helper()
	s, _, err := space.Read("parameters.yml", []byte("lr: [1e-3, 0.10]\naugment: [true, false]\n"))
	if err != nil {
		t.Fatal(err)
	}
	return core.Record{Space: s, Project: "/p", Recipe: task.Recipe{Definition: "train",
		Command:  []string{"run", "{host}:{slot}"},
		Revision: "r1", Metrics: []metric.Rule{{Name: "accuracy", Pattern: "x(.)"}}}}
}

// TestSummary holds the JSON names of a sweep to their contract.
func TestSummary(t *testing.T) {
	t.Parallel()
	h := core.Head{ID: "train-1", State: core.Open, Submitted: at(0.5), Total: 4,
		Rows: core.Counts{task.Running: 1}}
	running :=
		`{"id":"train-1","definition":"train","state":"running","reason":null,"waits":null,"silent":null,"submitted":"2026-01-02T03:04:05.5Z","ended":null,"ran":0,"bytes":0,"total":4,` +
			`"counts":{"cancelled":0,"claimed":0,"failed":0,"lost":0,"oom":0,"pending":3,"queued":0,"running":1,"succeeded":0,"timeout":0},"revision":"r1","project":"/p","priority":-3,"images":[]}`
	cut := h
	cut.State, cut.Reason, cut.UnissuedCancelled = core.Cancelled, "enough", true
	cut.Ended, cut.Ran, cut.Rows = at(2), 90500*time.Millisecond, core.Counts{task.OOM: 1}
	cut.Bytes = 1200
	cancelled :=
		`{"id":"train-1","definition":"train","state":"cancelled","reason":"enough","waits":null,"silent":null,"submitted":"2026-01-02T03:04:05.5Z","ended":"2026-01-02T03:04:07Z","ran":90.5,"bytes":1200,"total":4,` +
			`"counts":{"cancelled":3,"claimed":0,"failed":0,"lost":0,"oom":1,"pending":0,"queued":0,"running":0,"succeeded":0,"timeout":0},"revision":"r1","project":"/p","priority":-3,"images":[]}`
	waiting := h
	waiting.Waits = "waits for 1 GPU: w: no GPU"
	waits := strings.Replace(running, `"waits":null`, `"waits":"waits for 1 GPU: w: no GPU"`, 1)
	cut.Waits = waiting.Waits // what has ended waits for nothing
	for want, head := range map[string]core.Head{running: h, cancelled: cut, waits: waiting} {
		r := testRecord(t)
		r.Priority = -3
		got, err := json.Marshal(r.Summary(head))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
}

func TestRows(t *testing.T) {
	t.Parallel()
	row := testRecord(t).Rows("train-1")
	fresh := row(core.Task{Index: 3})
	want := table.Row{ID: "train-1/3", Sweep: "train-1", Definition: "train", Index: 3,
		State: "pending", Revision: "r1",
		Argv: []string{"run", "{host}:{slot}", "--lr=0.10"},
		Parameters: table.Parameters{{Name: "lr", Value: "0.10"},
			{Name: "augment", Value: "false"}}}
	if diff := cmp.Diff(want, fresh); diff != "" {
		t.Errorf("a task without a row: -want +got:\n%s", diff)
	}
	code := 1
	o := &task.Outcome{Class: task.Error, ExitCode: &code, Reason: "exit code 1",
		Duration: 1500 * time.Millisecond, Metrics: metric.Final{{Name: "accuracy", Value: 0.5}}}
	try := core.Attempt{Number: 3, Revision: "r2", Worker: "w",
		Devices: []task.Device{{UUID: "GPU-1", Index: "0", Name: "L4"}},
		Start:   task.Start{Host: "h", Slot: 1}, Started: at(1), Outcome: o}
	seconds, slot, started := 1.5, 1, at(1)
	want.State, want.Attempts, want.Revision, want.Argv[1] = "failed", 2, "r2", "h:1"
	want.Host, want.Slot, want.GPUs, want.Started = "h", &slot,
		[]table.GPU{{UUID: "GPU-1", Index: "0", Name: "L4"}}, &started
	want.Metrics, want.Duration, want.ExitCode = o.Metrics, &seconds, &code
	want.Class, want.Reason = "error", o.Reason
	if diff := cmp.Diff(want,
		row(core.Task{Index: 3, State: task.Failed, Attempts: 2, Attempt: try})); diff != "" {
		t.Errorf("a task that ended: -want +got:\n%s", diff)
	}
	try.Outcome = &task.Outcome{Class: task.Loss, Reason: "away"}
	if lost := row(core.Task{Index: 3, State: task.Lost, Attempts: 2,
		Attempt: try}); lost.Duration != nil {
		t.Errorf("a lost attempt ran %v seconds: nobody knows", *lost.Duration)
	}
}

func TestSchema(t *testing.T) {
	t.Parallel()
	want := table.Schema{Parameters: []string{"lr", "augment"}, Metrics: []string{"accuracy"}}
	if diff := cmp.Diff(want, testRecord(t).Schema()); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
