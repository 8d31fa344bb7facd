package amqp_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/queue/amqp"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Reading a message takes memory in proportion to what may be in one, whatever a worker puts there.
func TestWhatIsReadTakesLittleMemory(t *testing.T) {
	fill := func(begin, part, end string, bytes int) []byte {
		n := (bytes - len(begin) - len(end)) / (len(part) + 1)
		return []byte(begin + strings.TrimSuffix(strings.Repeat(part+",", n), ",") + end)
	}
	const event = `{"version":11,"kind":"ended","worker":"w1"`
	for name, c := range map[string]struct {
		kind   rights.MessageKind
		body   []byte
		refuse string
	}{
		"empty events": {rights.Events, fill("[", "{}", "]", 1<<20), "parts"},
		"empty events, fewer": {rights.Events, fill("[", "{}", "]", 64<<10),
			`it names worker ""`},
		"short events": {rights.Events, fill("[", `{"worker":"w1"}`, "]", 1<<20),
			"parts"},
		"short events, fewer": {rights.Events, fill("[", `{"worker":"w1"}`, "]", 128<<10),
			"more than 4096 parts"},
		"too long": {rights.Events, fill("[", "{}", "]", 4<<20), "bytes long"},
		"samples": {rights.Events, fill("["+event+`,"samples":[`, "{}", "]}]",
			1<<20), "parts"},
		"samples, fewer": {rights.Events, fill("["+event+`,"samples":[`, "{}", "]}]",
			150<<10), "the number of its samples"},
		"metrics": {rights.Events, fill("["+event+`,"outcome":{"metrics":{`,
			`"":1`, "}}}]", 1<<20), "parts"},
		"metrics as text": {rights.Events, fill("["+event+`,"newest":"{`, `\"\":1`,
			`}"}]`, 1<<20), "parts"},
		"attempts in a first event": {rights.Events,
			fill("["+event+`,"beat":{"worker":"w1","running":[`, "{}", "]}}]", 1<<20), "parts"},
		"attempts in a heartbeat": {rights.Heartbeats, fill(`{"worker":"w1","running":[`, "{}",
			"]}", 512<<10), "parts"},
		"attempts, fewer": {rights.Heartbeats, fill(`{"worker":"w1","running":[`, "{}",
			"]}", 100<<10), "the number of its attempts"},
		"needs in a heartbeat": {rights.Heartbeats, fill(`{"worker":"w1","needs":[`, "{}",
			"]}", 512<<10), "parts"},
		"lines": {rights.Lines, fill("[", "{}", "]", 256<<10), "parts"},
		"problems in a piece": {rights.Pieces,
			fill(`{"worker":"w1","measured":{"unmeasured":[`, `""`, "]}}", 1<<20), "parts"},
		"a newer event's attempts": {rights.Events,
			fill(`[{"version":109,"worker":"w1","attempts":[`, "{}", "]}]", 1<<20), "parts"},
		"arrays within arrays": {rights.Events, []byte("[" + strings.Repeat("[", 1<<20-2)),
			""},
		"one event and what is none": {rights.Events, fill("["+event+"}", "7", "]", 64<<10),
			"not what is expected"},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := amqp.DecodeFrom(c.kind, "w1", c.body)
		runtime.ReadMemStats(&after)
		if err == nil || !strings.Contains(err.Error(), c.refuse) {
			t.Errorf("%s: %d were let through, %v; want %q", name, n, err, c.refuse)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 64<<20 {
			t.Errorf("%s: reading %d bytes took %d KiB", name, len(c.body), used>>10)
		}
	}
}

// What workers send is within the bounds of what is read: as many as they hand over at once, and
// the largest of each.
func TestWhatWorkersSendIsRead(t *testing.T) {
	t.Parallel()
	events := make([]task.Event, 3*task.MaxPerMessage)
	for i := range events {
		events[i] = task.Event{Worker: "w1"}
	}
	bodies, err := amqp.EncodeEvents(events, 1<<20)
	if err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, body := range bodies {
		n, err := amqp.DecodeFrom(rights.Events, "w1", body)
		if err != nil {
			t.Error(err)
		}
		read += n
	}
	if read != len(events) {
		t.Errorf("%d of %d events are read", read, len(events))
	}
	now, step := time.Now(), int64(7)
	samples := make([]metric.Sample, 2000)
	var final metric.Final
	for i := range samples {
		samples[i] = metric.Sample{Name: strings.Repeat("x", 100), Value: 0.123456789,
			Step: &step, Line: 1 << 40, Stream: "stdout", Time: now}
	}
	for range metric.MaxMetrics {
		at := &metric.Point{Value: 0.123456789, Step: 1 << 40, Of: 1 << 40}
		final = append(final, metric.FinalValue{Name: strings.Repeat("y", 200), Value: 0.5,
			Span: &metric.Span{Step: 1 << 40, Low: at, High: at, Of: 1 << 40}})
	}
	beat := task.Heartbeat{Worker: "w1", Incarnation: "20261123T155500.000000000Z",
		Environment: strings.Repeat("e", 32<<10), Running: make([]task.Busy, 4096),
		Key: make([]byte, 32)}
	for i := range beat.Running {
		beat.Running[i] = task.Busy{Sweep: "run_training_of_a_model-1234", Index: 1_000_000_000,
			Attempt: 10, Slot: 4000, Started: now}
	}
	for kind, v := range map[rights.MessageKind]any{
		rights.Events: []task.Event{
			{Worker: "w1", Kind: task.SamplesEvent, Samples: samples,
				Newest: metric.Stored(final[:200])},
			{Worker: "w1", Kind: task.EndedEvent, Outcome: &task.Outcome{
				Class: task.Success, Metrics: final}},
			{Worker: "w1", Kind: task.JoinedEvent, Heartbeat: &beat},
		},
		rights.Heartbeats: []any{beat},
		rights.Pieces: []any{task.Piece{Worker: "w1", Data: make([]byte, task.MaxPieceBytes),
			Measured: &task.Measured{Metrics: metric.Stored(final)}}},
	} {
		all, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var each []json.RawMessage
		if err := json.Unmarshal(all, &each); err != nil {
			t.Fatal(err)
		}
		for i, body := range each {
			if kind == rights.Events {
				body = append(append([]byte("["), body...), ']')
			}
			if n, err := amqp.DecodeFrom(kind, "w1", body); n != 1 || err != nil {
				t.Errorf("%s %d, %d bytes: %v", kind, i, len(body), err)
			}
		}
	}
}
