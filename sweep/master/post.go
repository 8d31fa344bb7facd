package master

import (
	"context"
	"log/slog"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// Pauses between two tries to send while the queue is away.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
)

// letter is what goes to one worker: batches, or a control message.
type letter struct {
	worker  string
	batches []task.Batch
	control task.Control
}

// post keeps letters, in their order, until the queue took them. The store has what they say; a batch that is sent
// twice runs once.
type post struct {
	queue   queue.Hub
	log     *slog.Logger
	letters []letter
	pause   time.Duration
	again   time.Time // of the next try; zero: at once
}

func (p *post) add(letters ...letter) { p.letters = append(p.letters, letters...) }

func (p *post) tell(worker string, c task.Control) {
	c.Version = task.Version
	p.add(letter{worker: worker, control: c})
}

// send sends what there is, unless the queue was away a moment ago.
func (p *post) send(ctx context.Context, now time.Time) {
	if now.Before(p.again) {
		return
	}
	for n, l := range p.letters {
		err := p.one(ctx, l)
		if err == nil {
			continue
		}
		p.letters = p.letters[n:]
		p.pause = min(max(2*p.pause, shortestPause), longestPause)
		p.again = now.Add(p.pause)
		p.log.Warn("not sent", "worker", l.worker, "error", err, "waiting", len(p.letters), "again", p.pause)
		return
	}
	p.letters, p.pause, p.again = nil, 0, time.Time{}
}

func (p *post) one(ctx context.Context, l letter) error {
	if len(l.batches) > 0 {
		return p.queue.Publish(ctx, l.worker, l.batches...)
	}
	return p.queue.Control(ctx, l.worker, l.control)
}
