package master

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// Pauses between two tries to send while the queue is away.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// letter is what goes to one worker: batches, a control message, or the removal of what waits for it.
type letter struct {
	worker  string
	batches []task.Batch
	control task.Control
	remove  bool
}

// post sends letters in a goroutine of its own, in order for each worker, until the queue took them: the loop does not
// wait for a broker. The store has what letters say, and a batch that is sent twice runs once.
type post struct {
	queue queue.Hub
	log   *slog.Logger
	draft []letter // of the loop: what it has decided and not kept yet

	mu      sync.Mutex
	letters []letter // to be sent
	wake    chan struct{}
}

func (p *post) init(q queue.Hub, log *slog.Logger) {
	p.queue, p.log, p.wake = q, log, make(chan struct{}, 1)
}

// add writes letters, which leave with the next send.
func (p *post) add(letters ...letter) { p.draft = append(p.draft, letters...) }

func (p *post) tell(worker string, c task.Control) {
	c.Version = cmp.Or(c.Version, task.Version)
	p.add(letter{worker: worker, control: c})
}

// send hands over what was written; what it says is on disk.
func (p *post) send() {
	if len(p.draft) == 0 {
		return
	}
	p.mu.Lock()
	p.letters = append(p.letters, p.draft...)
	p.mu.Unlock()
	p.draft = p.draft[:0]
	select {
	case p.wake <- struct{}{}:
	default:
	}
}

// run sends until ctx ends.
func (p *post) run(ctx context.Context) {
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
		letters := p.letters
		p.letters = nil
		p.mu.Unlock()
		left, err := p.deliver(ctx, letters)
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
		p.letters = append(left, p.letters...)
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

// deliver sends letters, to all workers at once, and returns those that were not taken.
func (p *post) deliver(ctx context.Context, letters []letter) (left []letter, err error) {
	routes := map[string][]letter{}
	var workers []string
	for _, l := range letters {
		if routes[l.worker] == nil {
			workers = append(workers, l.worker)
		}
		routes[l.worker] = append(routes[l.worker], l)
	}
	lefts, errs := make([][]letter, len(workers)), make([]error, len(workers))
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

// route sends the letters of one worker and returns those that were not taken. Batches that follow each other go as one.
func (p *post) route(ctx context.Context, worker string, letters []letter) ([]letter, error) {
	for len(letters) > 0 {
		n, err := 1, error(nil)
		if letters[0].remove {
			err = p.queue.Remove(ctx, worker)
		} else if batches := letters[0].batches; len(batches) > 0 {
			for ; n < len(letters) && len(letters[n].batches) > 0; n++ {
				batches = append(batches, letters[n].batches...)
			}
			err = p.queue.Publish(ctx, worker, batches...)
		} else {
			err = p.queue.Control(ctx, worker, letters[0].control)
		}
		switch {
		case err != nil && (errors.Is(err, queue.ErrAway) || ctx.Err() != nil):
			return letters, err
		case err != nil: // it would not go the next time either
			p.log.Error("something for a worker cannot be sent", "worker", worker, "error", err)
		}
		letters = letters[n:]
	}
	return nil, nil
}
