package queuetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// patience is how long anything may take before a test gives up. A broker that restarts needs most
// of it.
const patience = 2 * time.Minute

// receive reads one item.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case item, ok := <-from:
		if !ok {
			t.Fatal("the stream was closed before its context ended")
		}
		return item
	case <-timeout.C:
		t.Fatalf("nothing came for %v", patience)
	}
	panic("not reached")
}

// stream is an open stream of deliveries. It ends with the test at the latest.
type stream[T any] struct {
	c    <-chan queue.Delivery[T]
	stop context.CancelFunc
}

func open[T any](t *testing.T, f func(context.Context) <-chan queue.Delivery[T]) stream[T] {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	s := stream[T]{f(ctx), stop}
	t.Cleanup(func() { s.end(t) })
	return s
}

// end ends the stream's context and reads until the channel is closed.
func (s stream[T]) end(t *testing.T) {
	t.Helper()
	s.stop()
	untilClosed(t, s.c)
}

func untilClosed[T any](t *testing.T, c <-chan T) {
	t.Helper()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	for {
		select {
		case _, ok := <-c:
			if !ok {
				return
			}
		case <-timeout.C:
			t.Errorf("the channel was not closed %v after its context ended", patience)
			return
		}
	}
}

// next reads one delivery and does not acknowledge it.
func (s stream[T]) next(t *testing.T) queue.Delivery[T] {
	t.Helper()
	d := receive(t, s.c)
	if len(d.Items) == 0 {
		t.Error("a delivery without items")
	}
	return d
}

// take reads deliveries, acknowledges each, and returns the items, at least n of them.
func (s stream[T]) take(t *testing.T, n int) (items []T) {
	t.Helper()
	for len(items) < n {
		d := s.next(t)
		if err := d.Ack(); err != nil {
			t.Fatalf("acknowledge: %v", err)
		}
		items = append(items, d.Items...)
	}
	return items
}

// retry repeats an operation while the queue is away, as master and worker do.
func retry(t *testing.T, do func() error) {
	t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(patience); ; <-pace.C {
		err := do()
		switch {
		case err == nil:
			return
		case !errors.Is(err, queue.ErrUnreachable):
			t.Errorf("the error is %v; want ErrUnreachable", err)
			return
		case time.Now().After(deadline):
			t.Errorf("the queue stayed away for %v", patience)
			return
		}
	}
}

// listen opens the control messages of a worker and returns when they arrive. What the master sends
// before may be lost.
func listen(t *testing.T, f Fixture, worker string) <-chan task.Control {
	t.Helper()
	c := messages(t, f.Worker(worker).Controls)
	sendUntil(t, c, isControlProbe, func() error {
		return f.Master.SendControl(t.Context(), worker,
			task.Control{Version: task.Version, Kind: task.FollowControl, Sweep: probe})
	})
	return c
}

// probe marks messages that only show that a stream is open. Later copies of them may still arrive:
// see skip.
const probe = "probe"

// nextUnprobed reads the next message that is no probe.
func nextUnprobed[T any](t *testing.T, c <-chan T, isProbe func(T) bool) T {
	t.Helper()
	for {
		if m := receive(t, c); !isProbe(m) {
			return m
		}
	}
}

// messages opens a stream without acknowledgements. It ends with the test.
func messages[T any](t *testing.T, f func(context.Context) <-chan T) <-chan T {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	c := f(ctx)
	t.Cleanup(func() {
		stop()
		untilClosed(t, c)
	})
	return c
}

// sendUntil sends again and again, as messages that were sent before a stream was open may be lost,
// and reads until enough of it arrived.
func sendUntil[T any](t *testing.T, c <-chan T, enough func(T) bool, send func() error) {
	t.Helper()
	pace := time.NewTicker(5 * time.Millisecond)
	defer pace.Stop()
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		retry(t, send)
		select {
		case m := <-c:
			if enough(m) {
				return
			}
		case <-pace.C:
		}
	}
	t.Fatalf("not enough came in %v", patience)
}
