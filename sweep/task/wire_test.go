package task_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestWire holds the JSON forms to what is in queues and stores already: a field may be added, none
// may change.
func TestWire(t *testing.T) {
	t.Parallel()
	moment := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	code, step := 3, int64(7)
	event := task.Event{Version: task.Version, Kind: task.ClaimedEvent, Worker: "w",
		Sweep: "train-1", Index: 42, Attempt: 2, Time: moment}
	started, samples, ended := event, event, event
	started.Kind, started.Start = task.StartedEvent,
		&task.Start{Host: "gpu1", Slot: 1, Resumed: true,
			Image: "python:3.12@sha256:1"}
	samples.Kind, samples.Samples = task.SamplesEvent,
		[]metric.Sample{{Name: "loss", Value: 0.5, Step: &step, Line: 9, Stream: "stdout",
			Time: moment}}
	ended.Kind, ended.Outcome = task.EndedEvent,
		&task.Outcome{Class: task.Error, ExitCode: &code, Reason: "exit code 3",
			Duration: time.Second,
			Metrics:  metric.Final{{Name: "loss", Value: 0.5}}, Stdout: task.Output{Bytes: 10,
				Truncated: true}, Stderr: task.Output{Bytes: 0}}
	ended.Start = started.Start
	infinite := ended // who knows nothing of infinite values reads null, as what is not a number
	infinite.Outcome = &task.Outcome{Class: task.Success,
		Metrics: metric.Final{{Name: "loss", Value: math.Inf(1)},
			{Name: "gain", Value: math.Inf(-1)}}}
	newest, spans := samples, ended
	newest.Newest = metric.Stored{{Name: "acc", Value: math.Inf(1), Span: &metric.Span{Step: 2}}}
	spans.Outcome = &task.Outcome{Class: task.Success,
		Unmeasured: []string{"metric loss: there is no file m.csv"},
		Metrics: metric.Final{{Name: "acc", Value: 0.5,
			Span: &metric.Span{Step: 3, Attempt: 1, Low: &metric.Point{Value: 0.5, Step: 3},
				High: &metric.Point{Value: math.Inf(1), Step: 2}}}}}
	thinned := ended
	thinned.Outcome = &task.Outcome{Class: task.Success,
		Thinned: &metric.Thinned{Kept: 2, Samples: 3, Ignored: 1}}
	for name, value := range map[string]any{
		"thinned": &thinned,
		"measure": &task.Control{Version: task.Version, Kind: task.MeasureControl,
			Sweep: "train-1", Index: 42,
			Measure: &task.Measure{ID: "7",
				Metrics: []metric.Rule{{Name: "acc", Pattern: "acc=(.*)", Take: metric.Max}},
				Exited:  true, Hide: true}},
		"measured": &task.Piece{Version: task.Version, ID: "7", Worker: "w",
			Measured: &task.Measured{Metrics: metric.Stored{{Name: "acc", Value: 0.5}},
				Stdout:     []metric.Rejected{{Name: "acc", Count: 1, Line: 2, Text: "x"}},
				Unmeasured: []string{"metric loss: no file"}, Incomplete: []string{"acc"}}},
		"newest": &newest, "spans": &spans,
		"filed": &task.Batch{Version: task.Version, Sweep: "train-1",
			Recipe: task.Recipe{Command: []string{"run"}, Metrics: []metric.Rule{
				{Name: "acc", File: "a/*.csv", Column: "val/acc", Take: metric.Max},
				{Name: "loss", File: "r.json", Key: "a.b"}, {Name: "tb", File: "e", Tag: "t"}}}},
		"claimed": &event, "started": &started, "samples": &samples, "ended": &ended,
		"infinite": &infinite,
		"batch": &task.Batch{Version: task.Version, Sweep: "train-1", Recipe: task.Recipe{
			Definition: "train", Command: []string{"run", "{host}"},
			Env: map[string]string{"A": "b"}, Secrets: []string{"KEY"}, Revision: "r1",
			Outputs: []string{"out"}, Timeout: time.Hour, Grace: 10 * time.Second,
			Idle:    task.Idle{Below: 5, For: 30 * time.Minute},
			Metrics: []metric.Rule{{Name: "loss", Pattern: "loss (.*)"}}, Needs: task.Needs{
				GPUs: task.GPUs{Count: 1, Share: true, Memory: 12e9, Name: "A100"}, CPUs: 4,
				Memory: 16e9, On: map[string]string{"disk": "fast"}},
		}, Slots: 4, AtATime: 2, Reserved: true, Attempts: []task.Attempt{{Index: 42, Number: 2,
			Args: []string{"--lr=0.1"}, Share: 0.5,
			Devices: []task.Device{{UUID: "GPU-1", Index: "0", Name: "L4"}}}},
			Follow: true, Edition: "e"},
		"control": &task.Control{Version: task.Version, Kind: task.StopControl, Sweep: "train-1",
			Index: 42, Attempt: 2, Off: true, Reason: "superseded"},
		"heartbeat": &task.Heartbeat{Version: task.Version, Worker: "w", Incarnation: "i",
			Host: "gpu1", Slots: 2, Draining: true, Refuses: "why", Program: "v1",
			SlotsChosen: true, CPUs: 8, Memory: 1 << 36, Labels: map[string]string{"disk": "fast"},
			GPUs: []task.GPU{{UUID: "GPU-1", Index: "0", Name: "NVIDIA A100", Memory: 1 << 36, Split: true,
				Used: 1 << 30, Utilization: 50, Given: 0.5,
				Unavailable: "it does not answer", Broken: true}},
			GPUFault: "nvidia-smi does not answer",
			Image:    "python:3.12@sha256:1", Environment: "as it was made",
			Running: []task.Busy{{Sweep: "train-1", Index: 42, Attempt: 2, Slot: 1,
				Started: moment}}, Waiting: 3, Unsent: 4,
			Load: &task.Load{Cores: 8, CPU: 0.5, MemoryTotal: 1 << 33, MemoryFree: 1 << 32,
				DiskTotal: 1 << 40, DiskFree: 1 << 39}},
		"joined": &task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: "w",
			Time: moment, Heartbeat: &task.Heartbeat{Version: task.Version, Worker: "w",
				Incarnation: "i", StartsReported: true}},
		"read": &task.Control{Version: task.Version, Kind: task.ReadControl, Sweep: "train-1",
			Index: 42, Attempt: 2, Read: &task.Read{ID: "7", Stderr: true, Offset: 5, Length: 6,
				File: "w:3"}},
		"restart": &task.Control{Version: task.Version, Kind: task.RestartControl, Incarnation: "i",
			Now: true},
		"leaving": &task.Heartbeat{Version: task.Version, Worker: "w", Incarnation: "i",
			Host: "gpu1", Draining: true, Leaving: true},
		"closing": &task.Heartbeat{Version: task.Version, Worker: "w", Incarnation: "i",
			Host: "gpu1", Draining: true, Closing: true},
		"needing": &task.Heartbeat{Version: task.Version, Worker: "w", Incarnation: "i",
			Host:  "gpu1",
			Needs: []task.Need{{Sweep: "train-1", Edition: "e"}}, Key: []byte("key")},
		"secrets": &task.Control{Version: task.Version, Kind: task.SecretsControl, Sweep: "train-1",
			Edition: "e", Secrets: []byte("sealed")},
		"slots": &task.Control{Version: task.Version, Kind: task.SlotsControl, Slots: 4},
		"piece": &task.Piece{Version: task.Version, ID: "7", Worker: "w", Offset: 5,
			Data: []byte("text"), Size: 9, File: "w:3", Absent: true, Gone: "/o/train-1/42", Error: "no"},
		"line": &task.Line{Sweep: "train-1", Index: 42, Attempt: 2, Host: "gpu1", Slot: 1,
			Stderr: true, Time: moment, Text: "hello", Missed: 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, filepath.Join("testdata", name+".json"), value)
		})
	}
}

func golden(t *testing.T, file string, value any) {
	t.Helper()
	got, err := json.MarshalIndent(value, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	if *update {
		if err := os.WriteFile(file, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	back := reflect.New(reflect.TypeOf(value).Elem()).Interface()
	if err := json.NewDecoder(bytes.NewReader(want)).Decode(back); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(value, back); diff != "" {
		t.Errorf("read back: -want +got:\n%s", diff)
	}
}
