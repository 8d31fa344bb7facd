package amqp_test

import (
	"context"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/queuetest/broker"
	"mlframework/sweep/task"
)

func credentials(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// TestABrokerThatIsFullFrozenAndEmpty does to one broker of its own what would disturb other tests.
func TestABrokerThatIsFullFrozenAndEmpty(t *testing.T) {
	t.Parallel()
	b := broker.Start(t, broker.Options{})
	s := openAt(t, b, "/")
	in, reports := s.port(t, "w1").Consume(t.Context()), s.hub.Events(t.Context())
	works := func(t *testing.T, n int) {
		t.Helper()
		waitFor(t, "a batch is published", func() bool {
			return s.hub.Publish(t.Context(), "w1",
				batch(n)) == nil
		})
		next(t, in, n)
		waitFor(t, "an event is sent", func() bool {
			return s.port(t, "w1").Emit(t.Context(),
				task.Event{Version: task.Version, Worker: "w1", Index: int64(n)}) == nil
		})
		for {
			d := <-reports
			if last := d.Items[len(d.Items)-1].Index; d.Ack() == nil && last == int64(n) {
				return
			}
		}
	}
	works(t, 1)
	// what was consumed leaves it: the write-ahead log, which is in memory too, is short
	t.Run("memory", func(t *testing.T) {
		before := binaries(t, b)
		for n := range 50 {
			event := task.Event{Version: task.Version, Worker: "w1",
				Outcome: &task.Outcome{Class: task.Error, Unmeasured: slices.Repeat(
					[]string{strings.Repeat("x", 16<<10)}, 63)}, Index: int64(n)}
			if err := s.port(t, "w1").Emit(t.Context(), event); err != nil {
				t.Fatal(err)
			}
			if err := (<-reports).Ack(); err != nil {
				t.Fatal(err)
			}
		}
		const most = 30 // of 50
		if grown := binaries(t, b) - before; grown > most {
			t.Errorf("the broker has %d MB more after 50 MB that were consumed", grown)
		}
	})
	t.Run("full", func(t *testing.T) {
		b.SetMemoryLimit(t, 0)
		ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer stop()
		waitFor(t, "the status tells that the broker is blocked", func() bool {
			_ = s.hub.Publish(ctx, "w1", batch(1))
			return s.hub.Status().Blocked != ""
		})
		again, stop := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer stop()
		err := s.hub.Publish(again, "w1", batch(1))
		if !errors.Is(err, queue.ErrUnreachable) ||
			!strings.Contains(err.Error(), "low on memory") || s.hub.Status().Unreachable {
			t.Errorf("the error is %v and the status %+v; want ErrUnreachable with the reason, "+
				"and that the broker is there", err, s.hub.Status())
		}
		b.SetMemoryLimit(t, 0.9)
		waitFor(t, "the broker takes messages again",
			func() bool { return s.hub.Status().Blocked == "" })
		works(t, 2)
	})
	t.Run("frozen", func(t *testing.T) {
		b.Freeze(t)
		s.reached(t, false)
		b.Thaw(t)
		works(t, 3)
	})
	t.Run("empty", func(t *testing.T) {
		b.Reset(t)
		works(t, 4)
	})
}

// binaries is how many MB of messages a broker has in memory.
func binaries(t *testing.T, b *broker.Broker) int {
	t.Helper()
	text := b.Eval(t, `[garbage_collect(P) || P <- processes()], erlang:memory(binary) div 1048576`)
	n, err := strconv.Atoi(strings.Trim(text, "{}ok, \n"))
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return n
}
