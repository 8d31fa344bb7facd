package master

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/queue"
)

// Pauses between two tries to send while the queue takes nothing for a worker.
const (
	shortestPause = 50 * time.Millisecond
	longestPause  = 2 * time.Second
	// noticeable is from which pause on the log says that messages wait.
	noticeable = time.Second
)

// maxWaiting bounds what waits for one worker, in bytes. It is several times what a worker has at
// hand of tasks with long command lines.
const maxWaiting = 16 << 20

// outbox sends messages until the queue took them: the loop does not wait for a broker. Each worker
// has an outgoing queue, sent in order by a goroutine of its own while anything is in it, so that a
// worker to which nothing can be sent delays no other.
//
// The store has what messages say, and a batch that is sent twice runs once. So what does not fit
// is dropped: a worker's heartbeats show which tasks did not come and what it was not told, and the
// core sends that again. The removal of a worker's queue is not repeated; it takes the place of all
// that waits before it.
type outbox struct {
	queue queue.MasterEndpoint
	log   *slog.Logger

	mu      sync.Mutex
	workers map[string]*outgoing // of workers to which something is to be sent
	begin   func(*outgoing)      // begins to send; nil: nothing is sent now
	count   int                  // messages of all workers
	delayed int                  // workers whose messages have waited noticeably
	said    bool                 // it was logged that the queue takes nothing
}

func (b *outbox) init(q queue.MasterEndpoint, log *slog.Logger) {
	b.queue, b.log, b.workers = q, log, map[string]*outgoing{}
}

// outgoing is the messages for one worker.
type outgoing struct {
	worker   string
	waiting  []core.Message // a removal is the first
	sending  []core.Message
	size     int  // of waiting and sending, in bytes
	delayed  bool // it is counted in outbox.delayed
	overfull bool // messages were dropped, and that was logged
}

// send hands over messages. What they say is on disk.
func (b *outbox) send(messages []core.Message) {
	if len(messages) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range messages {
		m := &messages[i]
		o := b.workers[m.Worker]
		if o == nil {
			o = &outgoing{worker: m.Worker}
			b.workers[m.Worker] = o
			b.add(o, m)
			if b.begin != nil {
				b.begin(o)
			}
			continue
		}
		b.add(o, m)
	}
}

// add appends a message to those of its worker, unless too much waits.
func (b *outbox) add(o *outgoing, m *core.Message) {
	size := sizeOf(m)
	switch {
	case m.Remove:
		b.count -= len(o.waiting)
		o.waiting, o.size = nil, sizeOfAll(o.sending)
	case o.size > 0 && o.size+size > maxWaiting:
		if !o.overfull {
			o.overfull = true
			b.log.Warn("messages for a worker are dropped, as too much waits: its heartbeats "+
				"show what is to be sent again", "worker", o.worker)
		}
		return
	}
	o.waiting = append(o.waiting, *m)
	o.size += size
	b.count++
}

// sizeOf estimates how much memory a message holds that it does not share with others.
func sizeOf(m *core.Message) int {
	const own = 256 // of a message, and of an attempt
	size := own
	if m.Control != nil {
		size += len(m.Control.Secrets) + len(m.Control.Reason)
	}
	for i := range m.Batches {
		for j := range m.Batches[i].Attempts {
			size += own
			for _, arg := range m.Batches[i].Attempts[j].Args {
				size += len(arg)
			}
		}
	}
	return size
}

func sizeOfAll(messages []core.Message) (size int) {
	for i := range messages {
		size += sizeOf(&messages[i])
	}
	return size
}

// pending is how many messages the queue has not taken.
func (b *outbox) pending() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count
}

// run sends until ctx ends.
func (b *outbox) run(ctx context.Context) {
	var senders sync.WaitGroup
	b.mu.Lock()
	b.begin = func(o *outgoing) { senders.Go(func() { b.sendTo(ctx, o) }) }
	for _, o := range b.workers {
		b.begin(o)
	}
	b.mu.Unlock()
	<-ctx.Done()
	b.mu.Lock()
	b.begin = nil
	b.mu.Unlock()
	senders.Wait()
}

// sendTo sends the messages for one worker until there are none, or ctx ends.
func (b *outbox) sendTo(ctx context.Context, o *outgoing) {
	var pause time.Duration
	for b.next(o) {
		left, err := b.deliver(ctx, o.worker, o.sending)
		if pause = min(max(2*pause, shortestPause), longestPause); err == nil {
			pause = 0
		}
		b.settle(o, left, err, pause)
		if err == nil {
			continue
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return
		}
	}
}

// next takes what is to be sent to a worker; false when there is nothing.
func (b *outbox) next(o *outgoing) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(o.waiting) == 0 {
		delete(b.workers, o.worker)
		return false
	}
	o.sending, o.waiting = o.waiting, nil
	return true
}

// settle takes back what was not sent, and says when that lasts: after an error the next try
// follows a pause.
func (b *outbox) settle(o *outgoing, left []core.Message, err error, pause time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	before := len(o.waiting) + len(o.sending)
	if len(o.waiting) == 0 || !o.waiting[0].Remove {
		o.waiting = append(left, o.waiting...)
	}
	b.count += len(o.waiting) - before
	o.sending, o.size = nil, sizeOfAll(o.waiting)
	switch {
	case err == nil && o.delayed:
		if b.delayed--; b.delayed == 0 && b.said {
			b.said = false
			b.log.Info("the queue takes messages again; all that waited are sent")
		}
		o.delayed, o.overfull = false, false
	case pause > noticeable && !o.delayed:
		o.delayed = true
		b.delayed++
		b.explain(o, err)
	}
}

// explain logs that messages wait, once for all workers where the queue is away: why, it says
// itself.
func (b *outbox) explain(o *outgoing, err error) {
	switch s := b.queue.Status(); {
	case !s.Unreachable && s.Blocked == "":
		b.log.Warn("cannot send to a worker; its messages wait",
			"worker", o.worker, "error", err, "waiting", len(o.waiting))
	case !b.said:
		b.said = true
		b.log.Warn("cannot send to workers; tasks and messages wait", "error", err,
			"waiting", b.count)
	}
}

// deliver sends messages to one worker and returns those that were not taken. Batches that follow
// each other go as one.
func (b *outbox) deliver(ctx context.Context, worker string, messages []core.Message) (
	[]core.Message, error) {
	for len(messages) > 0 {
		n, err := 1, error(nil)
		if messages[0].Remove {
			err = b.queue.RemoveWorker(ctx, worker)
		} else if batches := messages[0].Batches; len(batches) > 0 {
			for ; n < len(messages) && len(messages[n].Batches) > 0; n++ {
				batches = append(batches, messages[n].Batches...)
			}
			err = b.queue.Publish(ctx, worker, batches...)
		} else {
			err = b.queue.SendControl(ctx, worker, *messages[0].Control)
		}
		switch {
		case err != nil && (errors.Is(err, queue.ErrUnreachable) || ctx.Err() != nil):
			return messages, err
		case err != nil: // it would not go the next time either
			b.log.Error("a message for a worker cannot be sent and is dropped", "worker", worker,
				"error", err)
		}
		messages = messages[n:]
	}
	return nil, nil
}
