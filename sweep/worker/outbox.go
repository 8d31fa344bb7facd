package worker

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// outbox sends events in order, many at once, and again until the queue took them. While the queue is away they stand in
// the spool, if there is one; while it takes them none is written there.
type outbox struct {
	port    queue.Port
	log     *slog.Logger
	wake    chan struct{}
	hurried chan struct{}

	overdue *time.Timer // calls keep; nil without a spool

	mu     sync.Mutex
	events []task.Event  // behind those in the spool
	spool  *spool        // nil: everything stays in memory
	away   bool          // the queue does not take events: what comes goes to the spool
	full   time.Time     // when the spool last took nothing; zero: it did
	added  uint64        // events ever put, and found in the spool
	taken  uint64        // events that the queue took
	moved  chan struct{} // closed and replaced when taken grows
}

func (o *outbox) init(port queue.Port, log *slog.Logger) {
	o.port, o.log = port, log
	o.wake, o.hurried, o.moved = make(chan struct{}, 1), make(chan struct{}, 1), make(chan struct{})
}

// inMemory is how many events stand in memory before the spool takes them even from a queue that is only slow.
const inMemory = 1 << 12

func (o *outbox) put(events ...task.Event) {
	o.mu.Lock()
	o.events = append(o.events, events...)
	o.added += uint64(len(events))
	if o.away || len(o.events) > inMemory {
		o.spill()
	}
	o.mu.Unlock()
	o.nudge()
}

func (o *outbox) nudge() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// unsent is how many events the queue has not taken yet.
func (o *outbox) unsent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int(o.added - o.taken)
}

// Under load the outbox gathers: when it sent busy times with less than twice gather between, it waits for that long before
// it sends again. On its way through the broker to the master's disk a message costs as much with one event as with fifty. A
// claim and an end wait in turn: both together must take less than the work that the master lets a worker have at hand.
const (
	gather = 80 * time.Millisecond
	busy   = 4
)

// run sends until ctx ends. What the queue has not taken then is in the spool.
func (o *outbox) run(ctx context.Context) {
	var syncing sync.WaitGroup
	if o.spool != nil {
		syncing.Go(func() { o.spool.sync(ctx) })
	}
	var last time.Time
	for row := 0; ctx.Err() == nil; {
		select {
		case <-o.wake:
		case <-ctx.Done():
			continue
		}
		if since := time.Since(last); since > 2*gather {
			row = 0
		} else if row++; row > busy {
			o.gather(ctx, gather-since)
		}
		o.send(ctx)
		last = time.Now()
	}
	syncing.Wait()
	o.shut()
}

// gather waits for more events, unless somebody is in a hurry.
func (o *outbox) gather(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-o.hurried:
	case <-ctx.Done():
	}
}

// hurry sends at once what is gathered: slots may soon have nothing to do.
func (o *outbox) hurry() {
	select {
	case o.hurried <- struct{}{}:
	default:
	}
}

// Pauses between two tries to send while the queue is away, which itself says why.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 5 * time.Second
)

// send sends what is in the outbox; what comes meanwhile is for the next time. While the queue is away it tries again, and
// says once that events wait.
func (o *outbox) send(ctx context.Context) {
	said, upTo := false, o.last()
	for pause := shortestPause; ctx.Err() == nil; {
		events := o.first(upTo)
		if len(events) == 0 {
			break
		}
		err := o.emit(ctx, events)
		if err == nil {
			pause = shortestPause
			o.drop(len(events))
			continue
		}
		if !errors.Is(err, queue.ErrAway) && ctx.Err() == nil {
			o.single(ctx, events)
			continue
		}
		o.keep()
		if pause > time.Second && !said {
			said = true
			o.log.Warn("the queue takes no events: they are kept until it does", "error", err, "events", o.unsent())
		}
		wait(ctx, pause)
		pause = min(2*pause, longestPause)
	}
	if said && ctx.Err() == nil {
		o.log.Info("the events that waited are sent")
	}
}

// single sends the first of some events that the queue does not take together, though it is there. One that it cannot
// take at all must not keep all others from their way: without its metrics an end goes, anything else is dropped.
func (o *outbox) single(ctx context.Context, events []task.Event) {
	first := events[:1]
	err := o.emit(ctx, first)
	if err != nil && !errors.Is(err, queue.ErrAway) && first[0].Outcome != nil {
		end, bare := first[0], *first[0].Outcome
		bare.Metrics = nil
		end.Outcome = &bare
		o.log.Error("an event was sent without its metrics", "task", end.ID(), "error", err)
		err = o.emit(ctx, []task.Event{end})
	}
	switch {
	case errors.Is(err, queue.ErrAway) || ctx.Err() != nil:
		return // and tried again
	case err != nil:
		o.log.Error("an event is dropped that the queue cannot take", "task", first[0].ID(), "kind", first[0].Kind, "error", err)
	}
	o.drop(1)
}

// atOnce is how many events are sent, written and read at once, so that memory is bounded however many there are.
const atOnce = 1 << 9

// late is how long the queue may take for events before they go to the spool.
const late = time.Second

func (o *outbox) emit(ctx context.Context, events []task.Event) error {
	if o.overdue != nil {
		o.overdue.Reset(late)
		defer o.overdue.Stop()
	}
	return o.port.Emit(ctx, events...)
}

// last is how many events were ever put.
func (o *outbox) last() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.added
}

// first returns the events to be sent next; none when so many were taken.
func (o *outbox) first(upTo uint64) []task.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.taken >= upTo {
		return nil
	}
	if o.spool != nil && o.spool.count > 0 {
		if events := o.read(); len(events) > 0 {
			return events
		}
	}
	return o.events[:min(len(o.events), atOnce)]
}

// drop forgets the first n events, which the queue took.
func (o *outbox) drop(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.away = false
	o.count(n)
	if o.spool != nil && o.spool.count > 0 {
		filed := min(n, o.spool.count)
		o.noteSpool(o.spool.sent(filed))
		n -= filed
	}
	if o.events = o.events[n:]; len(o.events) == 0 {
		o.events = nil
	}
}

// count counts events that nobody needs to send any more. The caller holds the lock.
func (o *outbox) count(n int) {
	o.taken += uint64(n)
	close(o.moved)
	o.moved = make(chan struct{})
}

// sent waits until everything that was put before the call is taken; false when ctx ended first.
func (o *outbox) sent(ctx context.Context) bool {
	upTo := o.last()
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
		o.log.Error("events were not sent before the end", "events", o.unsent(), "kept", o.spool != nil)
	}
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}
