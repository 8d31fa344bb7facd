package amqp

import (
	"context"
	"errors"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Dead letters that are delivered together at most, and that wait for the master where they may be
// lost.
const (
	maxDeadLetters        = 64
	maxWaitingDeadLetters = 64
)

// DeadLetters implements queue.MasterEndpoint.
func (h *MasterEndpoint) DeadLetters(ctx context.Context) <-chan queue.Delivery[task.DeadLetter] {
	out := make(chan queue.Delivery[task.DeadLetter])
	h.endpoint.start(ctx, func(ctx context.Context) {
		defer close(out)
		var sources sync.WaitGroup
		for _, name := range []string{rights.DeadQueue, rights.WorkerDeadQueue} {
			in := openDeliveries(ctx, h.endpoint, &streamSpec[task.DeadLetter]{
				name: name, open: h.ensureQueue(name), prefetch: deadLettersPrefetch,
				maxItems: maxDeadLetters,
				decode:   h.readDeadLetters,
			})
			sources.Go(func() { forward(ctx, in, out) })
		}
		sources.Go(func() {
			for {
				select {
				case l := <-h.endpoint.unreadable:
					d := queue.Delivery[task.DeadLetter]{Items: []task.DeadLetter{l},
						Ack: func() error { return nil }}
					select {
					case out <- d:
					case <-ctx.Done():
						return
					}
				case <-ctx.Done():
					return
				}
			}
		})
		sources.Wait()
	}, func() { close(out) })
	return out
}

// forward hands on what comes until ctx ends.
func forward[T any](ctx context.Context, in <-chan T, out chan<- T) {
	for item := range in {
		select {
		case out <- item:
		case <-ctx.Done():
			return
		}
	}
}

// readDeadLetters reads a message of a queue of dead letters. What a worker reports is counted.
func (h *MasterEndpoint) readDeadLetters(d *amqp091.Delivery) ([]task.DeadLetter, error) {
	l := readDeadLetter(d, h.user())
	if l.Worker != "" {
		h.endpoint.countReject(l.Queue, d, errors.New(l.Reason))
	}
	return []task.DeadLetter{l}, nil
}

// reject makes a dead letter of a message of a queue of the master's that cannot be read.
func (h *MasterEndpoint) reject(queue string) func(*amqp091.Delivery, error) task.DeadLetter {
	return func(d *amqp091.Delivery, why error) task.DeadLetter {
		return newDeadLetter(queue, d, senderOf(d, h.user()), why)
	}
}

// Requeue implements queue.MasterEndpoint.
func (h *MasterEndpoint) Requeue(ctx context.Context, l *task.DeadLetter) (requeued bool,
	err error) {
	if len(l.Body) < l.Size || len(l.Body) > maxSentBytes {
		return false, nil
	}
	if exists, err := h.canRequeueTo(l.Queue); !exists || err != nil {
		return false, err
	}
	headers := amqp091.Table{requeuedHeader: l.ID}
	if l.Queue == rights.EventsQueue && l.Sender != (task.Sender{}) {
		headers[userHeader], headers[keyHeader] = l.Sender.User, l.Sender.Key
	}
	err = h.endpoint.publisher.submit(ctx, &request{to: queueRoute(l.Queue),
		bodies: [][]byte{l.Body}, headers: headers})
	return err == nil, err
}

// canRequeueTo reports whether a queue exists whose messages can be requeued.
func (h *MasterEndpoint) canRequeueTo(name string) (bool, error) {
	worker, ok := rights.WorkerOfTasks(name)
	if name != rights.EventsQueue && (!ok || rights.CheckWorker(worker) != nil) {
		return false, nil
	}
	_, there, err := h.depth(name)
	return there, err
}

// reportDeadLetter sends the master a message of a queue of this worker that cannot be read, and
// returns when the broker has confirmed it.
func (e *endpoint) reportDeadLetter(ctx context.Context, to route, queue string,
	d *amqp091.Delivery,
	why error) error {
	body, hash := beginning(d.Body)
	return e.publisher.submit(ctx, &request{to: to, bodies: [][]byte{body},
		headers: reportHeaders(queue, why, len(d.Body), hash)})
}
