package task_test

import (
	"strings"
	"testing"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// What a worker has to say is let through, up to the bounds that its own program keeps; what is of
// another or is larger than anything is not.
func TestWhatWorkersSayIsBounded(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	event := func(change func(*task.Event)) task.Event {
		e := task.Event{Version: task.Version, Kind: task.EndedEvent, Worker: "w1",
			Sweep: "train-1", Index: 3, Attempt: 1,
			Start: &task.Start{Host: "gpu1"}, Samples: make([]metric.Sample, 2000),
			Outcome:   &task.Outcome{Class: task.Error, Reason: strings.Repeat("r", 4096)},
			Heartbeat: &task.Heartbeat{Worker: "w1", Slots: 4096, Running: make([]task.Busy, 4096)}}
		if change != nil {
			change(&e)
		}
		return e
	}
	for want, change := range map[string]func(*task.Event){
		"": nil,
		`it names worker "w2" and is from worker w1`: func(e *task.Event) { e.Worker = "w2" },
		`it names worker "w3" and is from worker w1`: func(
			e *task.Event) {
			e.Heartbeat.Worker = "w3"
		},
		"its sweep is 1048576 bytes long": func(e *task.Event) { e.Sweep = long },
		"its index is -1":                 func(e *task.Event) { e.Index = -1 },
		"its time is 10000-01-01T13:59:59Z": func(e *task.Event) {
			e.Time = year10000
		},
		"its start is 0000-01-01": func(e *task.Event) {
			e.Time, e.Outcome.Duration = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), 24*366*time.Hour
		},
		"its duration is -1;": func(e *task.Event) {
			e.Outcome.Duration = -1
		},
		"its duration is 9223372036854775": func(e *task.Event) {
			e.Outcome.Duration = 1<<63 - 1
		},
		"its attempt is -2":         func(e *task.Event) { e.Attempt = -2 },
		"its host is 1048576 bytes": func(e *task.Event) { e.Start.Host = long },
		"its host is not text":      func(e *task.Event) { e.Start.Host = "\xff" },
		"the number of its samples is 9000": func(e *task.Event) {
			e.Samples = make([]metric.Sample, 9000)
		},
		"a metric is 1048576 bytes long":   func(e *task.Event) { e.Samples[7].Name = long },
		`its class is "made-up", `:         func(e *task.Event) { e.Outcome.Class = "made-up" },
		`its class is "", `:                func(e *task.Event) { e.Outcome.Class = "" },
		"its reason is 1048576 bytes long": func(e *task.Event) { e.Outcome.Reason = long },
		"the error of its output is 1048576 bytes": func(e *task.Event) {
			e.Outcome.Stderr.Error = long
		},
		"the number of its unread metrics is 11": func(e *task.Event) {
			e.Outcome.Stdout.Unread = make([]metric.Rejected, 11)
		},
		"the number of its metrics is 200000": func(e *task.Event) {
			e.Outcome.Metrics = make(metric.Final, 200_000)
		},
		"a problem is 1048576 bytes long": func(
			e *task.Event) {
			e.Outcome.Unmeasured = []string{long}
		},
		"the time of a sample is 10000-": func(e *task.Event) {
			e.Samples = []metric.Sample{{Name: "loss", Time: year10000}}
		},
		"its time is 10000-": func(
			e *task.Event) {
			e.Heartbeat.Time = year10000
		},
		"the start of an attempt is 10000-": func(
			e *task.Event) {
			e.Heartbeat.Running = []task.Busy{{Started: year10000}}
		},
		"its slots is 100000": func(
			e *task.Event) {
			e.Heartbeat.Slots = 100_000
		},
		"the number of its attempts is 100000": func(
			e *task.Event) {
			e.Heartbeat.Running = make([]task.Busy, 100_000)
		},
		"the length of its key is 1048576": func(
			e *task.Event) {
			e.Heartbeat.Key = []byte(long)
		},
		"why it refuses tasks is 1048576 bytes long": func(
			e *task.Event) {
			e.Heartbeat.Refuses = long
		},
		"the use of a GPU's memory is -2; ": func(e *task.Event) {
			e.Heartbeat.GPUs = []task.GPU{{Used: -1, Utilization: -1}, {Used: -2}}
		},
		"the utilization of a GPU is -2; ": func(e *task.Event) {
			e.Heartbeat.GPUs = []task.GPU{{Utilization: -2}}
		},
		"why it cannot list its GPUs is 1048576 bytes long": func(
			e *task.Event) {
			e.Heartbeat.GPUFault = long
		},
		"a sweep that it needs secrets of is 1048576 ": func(
			e *task.Event) {
			e.Heartbeat.Needs = []task.Need{{Sweep: long}}
		},
	} {
		e := event(change)
		if err := e.Check("w1"); (err == nil) != (want == "") || err != nil &&
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for want, p := range map[string]task.Piece{
		"": {Worker: "w1", Data: make([]byte, task.MaxPieceBytes),
			ID: strings.Repeat("i", 26)},
		`it names worker "w2"`:       {Worker: "w2"},
		"its length is 262145":       {Worker: "w1", Data: make([]byte, task.MaxPieceBytes+1)},
		"its error is 1048576 bytes": {Worker: "w1", Error: long},
	} {
		if err := p.Check("w1"); (err == nil) != (want == "") || err != nil &&
			!strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
	for want, l := range map[string]task.Line{
		"": {Index: 1 << 40, Attempt: 1, Slot: 4095, Missed: 1 << 20,
			Text: strings.Repeat("x", 4096)},
		"its text is 1048576 bytes":                       {Text: long},
		"its host is 1048576 bytes":                       {Host: long},
		"its index is -1":                                 {Index: -1},
		"its time is 10000-":                              {Time: year10000},
		"its attempt is -1":                               {Attempt: -1},
		"its attempt is 1099511627":                       {Attempt: 1 << 40},
		"its slot is -1":                                  {Slot: -1},
		"its slot is 1048576":                             {Slot: 1 << 20},
		"the number of its lines that are left out is -1": {Missed: -1},
		"the number of its lines that are left out is 46": {Missed: 1 << 62},
	} {
		err := l.Check()
		if (err == nil) != (want == "") || err != nil && !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%v; want %q", err, want)
		}
	}
}

// year10000 is a time that RFC 3339 cannot say in UTC.
var year10000 = time.Date(9999, 12, 31, 23, 59, 59, 0, time.FixedZone("", -14*3600))
