package worker

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// outbox sends events in order, many at once, and again until the queue took them.
type outbox struct {
	port queue.Port
	log  *slog.Logger
	wake chan struct{}

	mu     sync.Mutex
	events []task.Event
	added  uint64        // events ever put
	taken  uint64        // events that the queue took
	moved  chan struct{} // closed and replaced when taken grows
}

func (o *outbox) init(port queue.Port, log *slog.Logger) {
	o.port, o.log = port, log
	o.wake, o.moved = make(chan struct{}, 1), make(chan struct{})
}

func (o *outbox) put(events ...task.Event) {
	o.mu.Lock()
	o.events = append(o.events, events...)
	o.added += uint64(len(events))
	o.mu.Unlock()
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// Under load the outbox gathers: when it sent busy times within gather of each other, it waits for that long before it
// sends again. Waking the goroutines on an event's way costs as much for one event as for ten.
const (
	gather = 5 * time.Millisecond
	busy   = 4
)

// run sends until ctx ends.
func (o *outbox) run(ctx context.Context) {
	var last time.Time
	for row := 0; ; {
		select {
		case <-o.wake:
		case <-ctx.Done():
			return
		}
		if since := time.Since(last); since > 2*gather {
			row = 0
		} else if row++; row > busy {
			o.pause(ctx, gather-since)
		}
		o.send(ctx)
		last = time.Now()
	}
}

func (o *outbox) pause(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// send empties the outbox. While the queue is away it tries again, at first after 50 ms, at last every 5 s.
func (o *outbox) send(ctx context.Context) {
	for pause := 50 * time.Millisecond; ; {
		o.mu.Lock()
		events := o.events
		o.mu.Unlock()
		if len(events) == 0 {
			return
		}
		err := o.port.Emit(ctx, events...)
		if err == nil {
			o.drop(len(events))
			continue
		}
		o.log.Warn("events not sent", "error", err, "events", len(events), "again", pause)
		select {
		case <-time.After(pause):
			pause = min(2*pause, 5*time.Second)
		case <-ctx.Done():
			return
		}
	}
}

// drop forgets the first n events, which the queue took.
func (o *outbox) drop(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.events = o.events[n:]
	if len(o.events) == 0 {
		o.events = nil
	}
	o.taken += uint64(n)
	close(o.moved)
	o.moved = make(chan struct{})
}

// sent waits until everything that was put before the call is taken; false when ctx ended first.
func (o *outbox) sent(ctx context.Context) bool {
	o.mu.Lock()
	upTo := o.added
	o.mu.Unlock()
	for {
		o.mu.Lock()
		done, moved := o.taken >= upTo, o.moved
		o.mu.Unlock()
		if done {
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
	}
}

// flush waits for the last events, no longer than patience.
func (o *outbox) flush(ctx context.Context, patience time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if !o.sent(ctx) {
		o.log.Error("events were not sent before the end")
	}
}
