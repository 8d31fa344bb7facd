package worker

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// outbox sends events in order and in batches, and retries until the queue has accepted them. While
// the queue is unreachable, events overflow to the spool, if there is one; while it is reachable,
// none is written there.
type outbox struct {
	port     queue.WorkerEndpoint
	log      *slog.Logger
	wake     chan struct{}
	flushNow chan struct{}

	// calls startOverflow; nil without a spool
	emitTimer *time.Timer

	mu sync.Mutex
	// follow those in the spool
	events []task.Event
	// nil: everything stays in memory
	spool *spool
	// the queue accepts no events: new ones go to the spool
	queueDown bool
	// when the spool last failed; zero: it works
	spoolFailed time.Time
	// events ever added, including those found in the spool
	added uint64
	// events that the queue has accepted
	accepted uint64
	// closed and replaced when accepted grows
	progress chan struct{}
}

func (o *outbox) init(port queue.WorkerEndpoint, log *slog.Logger) {
	o.port, o.log = port, log
	o.wake, o.flushNow = make(chan struct{}, 1), make(chan struct{}, 1)
	o.progress = make(chan struct{})
}

// maxInMemory is how many events stay in memory before they overflow to the spool even though the
// queue is only slow.
const maxInMemory = 1 << 12

func (o *outbox) put(events ...task.Event) {
	o.mu.Lock()
	o.events = append(o.events, events...)
	o.added += uint64(len(events))
	if o.queueDown || len(o.events) > maxInMemory {
		o.overflow()
	}
	o.mu.Unlock()
	o.signal()
}

func (o *outbox) signal() {
	select {
	case o.wake <- struct{}{}:
	default:
	}
}

// unsent returns the number of events that the queue has not accepted yet.
func (o *outbox) unsent() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return int(o.added - o.accepted)
}

const (
	// Under load the outbox collects events into batches: after busyRounds sends less than twice
	// batchDelay apart, it waits that long before it sends again. On its way through the broker to
	// the master's disk a message with one event costs as much as one with fifty. A claim and an
	// end wait in turn: together they must take less than the work that the master keeps queued at
	// a worker.
	batchDelay = 80 * time.Millisecond
	busyRounds = 4
)

// run sends events until ctx ends. What the queue has not accepted by then is in the spool.
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
		if since := time.Since(last); since > 2*batchDelay {
			row = 0
		} else if row++; row > busyRounds {
			o.batch(ctx, batchDelay-since)
		}
		o.send(ctx)
		last = time.Now()
	}
	syncing.Wait()
	o.closeSpool()
}

// batch waits for more events, unless expedite is called.
func (o *outbox) batch(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-o.flushNow:
	case <-ctx.Done():
	}
}

// expedite sends the current batch at once: slots may soon run out of work.
func (o *outbox) expedite() {
	select {
	case o.flushNow <- struct{}{}:
	default:
	}
}

const (
	// minPause and maxPause limit the backoff while the queue is unreachable. The queue itself logs
	// the cause.
	minPause = 50 * time.Millisecond
	maxPause = 5 * time.Second
)

// send sends the events that are in the outbox now. While the queue is unreachable it retries, and
// logs once that events wait.
func (o *outbox) send(ctx context.Context) {
	said, upTo := false, o.total()
	for pause := minPause; ctx.Err() == nil; {
		events := o.nextBatch(upTo)
		if len(events) == 0 {
			break
		}
		err := o.emit(ctx, events)
		if err == nil {
			pause = minPause
			o.drop(len(events))
			continue
		}
		if !errors.Is(err, queue.ErrUnreachable) && ctx.Err() == nil {
			o.sendSingle(ctx, events)
			continue
		}
		o.startOverflow()
		if pause > time.Second && !said {
			said = true
			o.log.Warn("the queue accepts no events: keeping them until it does", "error", err,
				"events", o.unsent())
		}
		wait(ctx, pause)
		pause = min(2*pause, maxPause)
	}
	if said && ctx.Err() == nil {
		o.log.Info("the kept events are sent")
	}
}

// sendSingle sends the first event of a batch that the reachable queue did not accept. One event
// that it can never accept must not block all others: of an end what is always short is sent, any
// other event is dropped.
func (o *outbox) sendSingle(ctx context.Context, events []task.Event) {
	first := events[:1]
	err := o.emit(ctx, first)
	if err != nil && !errors.Is(err, queue.ErrUnreachable) && first[0].Outcome != nil {
		o.log.Error("an end cannot be sent as it is: sending it without its metrics", "task",
			first[0].ID(), "error", err)
		err = o.emit(ctx, []task.Event{bareEnd(first[0], err)})
	}
	switch {
	case errors.Is(err, queue.ErrUnreachable) || ctx.Err() != nil:
		return // and tried again
	case err != nil:
		o.log.Error("dropping an event that the queue cannot accept", "task", first[0].ID(), "kind",
			first[0].Kind, "error", err)
	}
	o.drop(1)
}

// bareEnd returns an end without what may be too long to be sent.
func bareEnd(e task.Event, why error) task.Event {
	o := e.Outcome
	e.Outcome = &task.Outcome{Class: o.Class, ExitCode: o.ExitCode, Duration: o.Duration,
		Reason: printable(joinReasons(o.Reason, fmt.Sprintf("without its metrics: %v", why)))}
	return e
}

// batchSize is how many events are sent, written and read at once, which bounds memory.
const batchSize = 1 << 9

// emitTimeout is how long the queue may take to accept events before they overflow to the spool.
const emitTimeout = time.Second

// emit sends events. None is sent if the master would not read one of them, as that would lose the
// others of its message.
func (o *outbox) emit(ctx context.Context, events []task.Event) error {
	for i := range events {
		if err := events[i].Check(events[i].Worker); err != nil {
			return fmt.Errorf("send an event: %w", err)
		}
	}
	if o.emitTimer != nil {
		o.emitTimer.Reset(emitTimeout)
		defer o.emitTimer.Stop()
	}
	return o.port.Emit(ctx, events...)
}

// total returns how many events were ever added.
func (o *outbox) total() uint64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.added
}

// nextBatch returns the next events to send; none once upTo events are accepted.
func (o *outbox) nextBatch(upTo uint64) []task.Event {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.accepted >= upTo {
		return nil
	}
	if o.spool != nil && o.spool.count > 0 {
		if events := o.readSpool(); len(events) > 0 {
			return events
		}
	}
	return o.events[:min(len(o.events), batchSize)]
}

// drop removes the first n events, which the queue has accepted.
func (o *outbox) drop(n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.queueDown = false
	o.markAccepted(n)
	if o.spool != nil && o.spool.count > 0 {
		filed := min(n, o.spool.count)
		o.logSpool(o.spool.discard(filed))
		n -= filed
	}
	if o.events = o.events[n:]; len(o.events) == 0 {
		o.events = nil
	}
}

// markAccepted counts n events that need not be sent any more. The caller holds the lock.
func (o *outbox) markAccepted(n int) {
	o.accepted += uint64(n)
	close(o.progress)
	o.progress = make(chan struct{})
}

// waitSent waits until all events that were added before the call are accepted. It returns false if
// ctx ends first.
func (o *outbox) waitSent(ctx context.Context) bool {
	upTo := o.total()
	for {
		o.mu.Lock()
		done, moved := o.accepted >= upTo, o.progress
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
	if !o.waitSent(ctx) {
		o.log.Error("events were not sent before the end", "events", o.unsent(), "kept",
			o.spool != nil)
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
