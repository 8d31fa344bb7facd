package amqp

import (
	"context"
	"fmt"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// consumer is one consumer of a stream, on a channel of its own.
type consumer struct {
	conn   *connection
	ch     *amqp091.Channel
	name   string // of the queue
	in     <-chan amqp091.Delivery
	closed <-chan *amqp091.Error // the channel has ended
	// the broker has cancelled the consumer, as when its queue is deleted
	cancelled <-chan string
	fanIn     *fanIn // nil: there is one queue
}

// consumerTag is the same for all: there is one such consumer on a channel.
const consumerTag = "mlframework"

func (f *streamSpec[T]) consume(c *connection) (*consumer, error) {
	ch, err := c.Channel()
	if err != nil {
		return nil, err
	}
	k := &consumer{conn: c, ch: ch, closed: ch.NotifyClose(make(chan *amqp091.Error, 1)),
		cancelled: ch.NotifyCancel(make(chan string, 1))}
	name, err := f.open(ch, c.id)
	if err == nil {
		err = ch.Qos(f.prefetch, 0, false)
	}
	if err == nil {
		var arguments amqp091.Table
		if f.preferNewest {
			arguments = amqp091.Table{"x-priority": time.Now().Unix()}
		}
		k.in, err = ch.Consume(name, consumerTag, false, false, false, false, arguments)
	}
	if err == nil && f.workerQueue != nil {
		k.startFanIn()
		err = f.consumeWorkers(k)
	}
	if err != nil {
		k.fanIn.close()
		_ = ch.Close()
		return nil, err
	}
	k.name = name
	return k, nil
}

// close ends the consumer. What it holds goes back to the queue, in its order, before anybody
// consumes again.
func (k *consumer) close() {
	k.fanIn.close()
	if k.ch.Cancel(consumerTag, false) == nil {
		_ = k.ch.Nack(0, true, true) // 0: everything
	}
	_ = k.ch.Close()
}

var errConsumeTimeout = fmt.Errorf("a queue cannot be consumed: %w", context.DeadlineExceeded)

// closeIfUnresponsive lets what is asked of the broker go on for a while after the end of ctx, and
// then drops the connection. Release must be called when nothing is asked any more.
func closeIfUnresponsive(ctx context.Context, c *connection) (release func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		select {
		case <-done:
			return
		case <-ctx.Done():
		}
		late := time.NewTimer(streamCloseTimeout)
		defer late.Stop()
		select {
		case <-done:
		case <-late.C:
			c.socket.Close()
		}
	}()
	return func() { close(done); <-stopped }
}

// watchConsumer ends a consumer that the broker has forgotten without a word, as it does when a
// quorum queue is deleted and made again at once. Release must be called when the consumer is over.
func watchConsumer(c *connection, k *consumer) (release func()) {
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		tick := time.NewTicker(consumerCheckInterval)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if hasNoConsumers(c, k.name) {
					_ = k.ch.Close()
					return
				}
			}
		}
	}()
	return func() { close(done); <-stopped }
}

// hasNoConsumers reports whether nobody consumes a queue.
func hasNoConsumers(c *connection, name string) bool {
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
