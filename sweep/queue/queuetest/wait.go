package queuetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// away checks that an operation failed because the queue cannot be reached.
func away(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, queue.ErrUnreachable) {
		t.Errorf("%s: the error is %v; want ErrUnreachable", what, err)
	}
}

// wait waits for goroutines that end by themselves.
func wait(t *testing.T, all *sync.WaitGroup) {
	t.Helper()
	done := make(chan struct{})
	go func() { all.Wait(); close(done) }()
	timeout := time.NewTimer(patience)
	defer timeout.Stop()
	select {
	case <-done:
	case <-timeout.C:
		t.Fatalf("not finished after %v", patience)
	}
}

// someDeliveries gives the deliveries of a new consumer to f, with their number from 0, until f
// returns false or done is closed.
func someDeliveries(p queue.WorkerEndpoint, done <-chan struct{},
	f func(n int, d queue.Delivery[task.Batch]) bool) {
	ctx, stop := context.WithCancel(context.Background())
	c := p.Consume(ctx)
	defer func() {
		stop()
		for range c { // what it holds comes again
		}
	}()
	for n := 0; ; n++ {
		select {
		case d, ok := <-c:
			if !ok || !f(n, d) {
				return
			}
		case <-done:
			return
		}
	}
}
