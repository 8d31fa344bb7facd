package amqp

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/task"
)

// feed is what a stream reads: where from, and how its messages become items.
type feed[T any] struct {
	name     string
	open     func(ch *amqp091.Channel, connection string) (queue string, err error) // declares the queue
	prefetch int
	// newestFirst has the consumer that came last get all messages, as long as it takes them.
	// It is opened again every renewEvery, so that of two processes that live each gets some.
	newestFirst bool
	decode      func(*amqp091.Delivery) ([]T, error)
	most        int // items that are enough for one delivery
	// What cannot be read becomes a dead letter of the master's, or a worker reports it there, as a
	// message of queue.
	reject func(*amqp091.Delivery, error) task.DeadLetter // nil: a worker's
	report route
	queue  string
	// each, of a stream that may lose messages, declares a queue for one of the workers: a worker
	// fills its own only. It is consumed for each that is known, beside that of open.
	each    func(ch *amqp091.Channel, connection, worker string) (queue string, err error)
	workers *roster
	mark    func(id string) // puts a mark into the queue of open; nil: nothing comes there
}

// bodies reads messages of the master, of which only the body counts. They may be as long as an
// earlier master sent them.
func bodies[T any](decode func(body []byte, most int) ([]T, error),
) func(*amqp091.Delivery) ([]T, error) {
	return func(d *amqp091.Delivery) ([]T, error) { return decode(d.Body, mostBytes) }
}

// consumer is one consumer of a feed, on a channel of its own.
type consumer struct {
	c    *connection
	ch   *amqp091.Channel
	name string // of the queue
	in   <-chan amqp091.Delivery
	gone <-chan *amqp091.Error // the channel has ended
	stop <-chan string         // the broker has cancelled the consumer, as when its queue is deleted
	each *each                 // nil: there is one queue
}

// consumerTag is the same for all: there is one such consumer on a channel.
const consumerTag = "mlframework"

func (f *feed[T]) consume(c *connection) (*consumer, error) {
	ch, err := c.Channel()
	if err != nil {
		return nil, err
	}
	k := &consumer{c: c, ch: ch, gone: ch.NotifyClose(make(chan *amqp091.Error, 1)), stop: ch.NotifyCancel(make(chan string, 1))}
	name, err := f.open(ch, c.id)
	if err == nil {
		err = ch.Qos(f.prefetch, 0, false)
	}
	if err == nil {
		var arguments amqp091.Table
		if f.newestFirst {
			arguments = amqp091.Table{"x-priority": time.Now().Unix()}
		}
		k.in, err = ch.Consume(name, consumerTag, false, false, false, false, arguments)
	}
	if err == nil && f.each != nil {
		k.merge()
		err = f.extend(k)
	}
	if err != nil {
		k.each.end()
		_ = ch.Close()
		return nil, err
	}
	k.name = name
	return k, nil
}

// leave ends the consumer. What it holds goes back to the queue, in its order, before anybody consumes again.
func (k *consumer) leave() {
	k.each.end()
	if k.ch.Cancel(consumerTag, false) == nil {
		_ = k.ch.Nack(0, true, true) // 0: everything
	}
	_ = k.ch.Close()
}

// stream consumes a feed on one connection after the other, until ctx ends. Serve works with a consumer until it is over.
func stream[T any](ctx context.Context, e *end, f *feed[T], serve func(ctx context.Context, k *consumer)) {
	defer e.state.forget(f.name)
	var p pause
	for ctx.Err() == nil {
		c := e.lookout.wait(ctx)
		if c == nil {
			return
		}
		release := bound(ctx, c)
		slow := time.AfterFunc(confirmTimeout, func() { e.state.fail(f.name, explain(e.at, errSlow, nil)) })
		k, err := f.consume(c)
		slow.Stop()
		if err == nil {
			e.state.well(f.name)
			p = pause{}
			still := watch(c, k)
			f.serve(ctx, k, serve)
			k.leave()
			still()
		}
		release()
		if err == nil {
			p.wait(ctx) // the queue was deleted, or the connection has ended
			continue
		}
		if !errors.Is(err, amqp091.ErrClosed) && !c.IsClosed() {
			e.state.fail(f.name, explain(e.at, err, nil))
		}
		p.wait(ctx)
	}
}

// renewEvery is for how long a consumer that came last gets all messages, if another one lives.
const renewEvery = 30 * time.Second

// serve works with a consumer until it is over, or to be renewed.
func (f *feed[T]) serve(ctx context.Context, k *consumer, serve func(context.Context, *consumer)) {
	if f.newestFirst {
		renewed, cancel := context.WithTimeout(ctx, renewEvery)
		defer cancel()
		ctx = renewed
	}
	serve(ctx, k)
}

var errSlow = fmt.Errorf("a queue cannot be consumed: %w", context.DeadlineExceeded)

// bound lets what is asked of the broker go on for a while after the end of ctx, and then drops the connection. Release
// must be called when nothing is asked any more.
func bound(ctx context.Context, c *connection) (release func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		late := time.NewTimer(leaveTimeout)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
			c.socket.Close()
		}
	}()
	return func() { close(done); <-over }
}

// watch ends a consumer that the broker has forgotten without a word, as it does when a quorum queue is deleted and made
// again at once. Release must be called when the consumer is over.
func watch(c *connection, k *consumer) (release func()) {
	done, over := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(over)
		tick := time.NewTicker(watchEvery)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if forgotten(c, k.name) {
					_ = k.ch.Close()
					return
				}
			}
		}
	}()
	return func() { close(done); <-over }
}

// forgotten tells whether nobody consumes a queue.
func forgotten(c *connection, name string) bool {
	ch, err := c.Channel()
	if err != nil {
		return false // the connection has ended, and the consumer with it
	}
	q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
	if err != nil {
		return !c.IsClosed() // the queue is not there
	}
	_ = ch.Close()
	return q.Consumers == 0
}
