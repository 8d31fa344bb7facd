package amqp_test

import (
	"testing"

	"mlframework/sweep/task"
)

// perCall is how many batches, or events, a master or worker hands over at once when it is busy.
const perCall = 100

func BenchmarkPublishConsumeAck(b *testing.B) {
	s := open(b)
	in := s.port(b, "w1").Consume(b.Context())
	batches := make([]task.Batch, perCall)
	for n := range batches {
		batches[n] = task.Batch{Version: task.Version, Sweep: "a-1",
			Recipe: task.Recipe{Definition: "train", Command: []string{"true"}, Revision: "r1"},
			Attempts: []task.Attempt{{Index: int64(n), Number: 1,
				Args: []string{"--n=1", "--lr=0.001"}}}}
	}
	b.ReportAllocs()
	b.ResetTimer()
	published := make(chan error, 1)
	go func() {
		for sent := 0; sent < b.N; sent += perCall {
			if err := s.hub.Publish(b.Context(), "w1",
				batches[:min(perCall, b.N-sent)]...); err != nil {
				published <- err
				return
			}
		}
		published <- nil
	}()
	for range b.N {
		if d := <-in; d.Ack == nil || d.Ack() != nil {
			b.Fatal("a delivery could not be acknowledged")
		}
	}
	if err := <-published; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "batches/s")
}

func BenchmarkEmitEventsAck(b *testing.B) {
	s := open(b)
	p, in := s.port(b, "w1"), s.hub.Events(b.Context())
	events := make([]task.Event, perCall)
	for n := range events {
		events[n] = task.Event{Version: task.Version, Kind: task.ClaimedEvent, Worker: "w1",
			Sweep: "a-1", Index: int64(n), Attempt: 1}
	}
	b.ReportAllocs()
	b.ResetTimer()
	emitted := make(chan error, 1)
	go func() {
		for sent := 0; sent < b.N; sent += perCall {
			if err := p.Emit(b.Context(), events[:min(perCall, b.N-sent)]...); err != nil {
				emitted <- err
				return
			}
		}
		emitted <- nil
	}()
	for got := 0; got < b.N; {
		d := <-in
		if d.Ack == nil || d.Ack() != nil {
			b.Fatal("a delivery could not be acknowledged")
		}
		got += len(d.Items)
	}
	if err := <-emitted; err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "events/s")
}

// BenchmarkRoundTrip is one batch alone: from publishing to its acknowledged event.
func BenchmarkRoundTrip(b *testing.B) {
	s := open(b)
	p := s.port(b, "w1")
	tasks, events := p.Consume(b.Context()), s.hub.Events(b.Context())
	for n := range b.N {
		if err := s.hub.Publish(b.Context(), "w1",
			task.Batch{Version: task.Version, Sweep: "a-1"}); err != nil {
			b.Fatal(err)
		}
		d := <-tasks
		if err := p.Emit(b.Context(), task.Event{Version: task.Version, Worker: "w1",
			Index: int64(n)}); err != nil {
			b.Fatal(err)
		}
		if d.Ack() != nil || (<-events).Ack() != nil {
			b.Fatal("a delivery could not be acknowledged")
		}
	}
}
