package master

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/queue"
)

// Pauses between two tries to send while the queue is away.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// outbox sends messages in a goroutine of its own, in order for each worker, until the queue took
// them: the loop does not wait for a broker. The store has what messages say, and a batch that is
// sent twice runs once.
type outbox struct {
	queue queue.Hub
	log   *slog.Logger

	mu       sync.Mutex
	messages []core.Message // to be sent
	wake     chan struct{}
}

func (p *outbox) init(q queue.Hub, log *slog.Logger) {
	p.queue, p.log, p.wake = q, log, make(chan struct{}, 1)
}

// send hands over messages. What they say is on disk.
func (p *outbox) send(messages []core.Message) {
	if len(messages) == 0 {
		return
	}
	p.mu.Lock()
	p.messages = append(p.messages, messages...)
	p.mu.Unlock()
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// waiting is how many messages the queue has not taken.
func (p *outbox) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.messages)
}

// run sends until ctx ends.
func (p *outbox) run(ctx context.Context) {
	var pause time.Duration
	said := false
	for {
		var timer <-chan time.Time
		if pause > 0 {
			timer = time.After(pause)
		}
		select {
		case <-timer:
		case <-when(pause == 0, p.wake):
		case <-ctx.Done():
			return
		}
		p.mu.Lock()
		messages := p.messages
		p.messages = nil
		p.mu.Unlock()
		left, err := p.deliver(ctx, messages)
		if err == nil {
			if said {
				p.log.Info("what waited for the queue is sent")
			}
			pause, said = 0, false
			continue
		}
		pause = min(max(2*pause, shortestPause), longestPause)
		if pause > time.Second && !said { // why it is away the queue says itself
			said = true
			p.log.Warn("the queue takes nothing: tasks and messages wait until it does", "error", err, "waiting", len(left))
		}
		p.mu.Lock()
		p.messages = append(left, p.messages...)
		p.mu.Unlock()
	}
}

// when is c on a condition, and nothing otherwise.
func when(condition bool, c <-chan struct{}) <-chan struct{} {
	if condition {
		return c
	}
	return nil
}

// deliver sends messages, to all workers at once, and returns those that were not taken.
func (p *outbox) deliver(ctx context.Context, messages []core.Message) (left []core.Message, err error) {
	routes := map[string][]core.Message{}
	var workers []string
	for _, l := range messages {
		if routes[l.Worker] == nil {
			workers = append(workers, l.Worker)
		}
		routes[l.Worker] = append(routes[l.Worker], l)
	}
	lefts, errs := make([][]core.Message, len(workers)), make([]error, len(workers))
	send := func(n int) { lefts[n], errs[n] = p.route(ctx, workers[n], routes[workers[n]]) }
	var others sync.WaitGroup
	for n := 1; n < len(workers); n++ {
		others.Go(func() { send(n) })
	}
	if len(workers) > 0 { // most often the only one
		send(0)
	}
	others.Wait()
	return slices.Concat(lefts...), cmp.Or(errs...)
}

// route sends the messages of one worker and returns those that were not taken. Batches that follow each other go as one.
func (p *outbox) route(ctx context.Context, worker string, messages []core.Message) ([]core.Message, error) {
	for len(messages) > 0 {
		n, err := 1, error(nil)
		if messages[0].Remove {
			err = p.queue.Remove(ctx, worker)
		} else if batches := messages[0].Batches; len(batches) > 0 {
			for ; n < len(messages) && len(messages[n].Batches) > 0; n++ {
				batches = append(batches, messages[n].Batches...)
			}
			err = p.queue.Publish(ctx, worker, batches...)
		} else {
			err = p.queue.Control(ctx, worker, *messages[0].Control)
		}
		switch {
		case err != nil && (errors.Is(err, queue.ErrAway) || ctx.Err() != nil):
			return messages, err
		case err != nil: // it would not go the next time either
			p.log.Error("something for a worker cannot be sent", "worker", worker, "error", err)
		}
		messages = messages[n:]
	}
	return nil, nil
}
