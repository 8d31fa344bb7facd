package amqp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
)

// The parts of an end, beside its streams.
const (
	partPublishing = "publishing"
	partConsuming  = "consuming"
)

// endpoint is what Hub and Port have in common.
type endpoint struct {
	address   address
	log       *slog.Logger
	rejects   rejectCounter
	status    *statusTracker
	conn      connWaiter
	publisher publisher

	ctx        context.Context // of everything that runs; it ends with close
	cancel     context.CancelFunc
	mu         sync.Mutex
	closed     bool
	goroutines sync.WaitGroup
}

// newEndpoint begins to connect.
func newEndpoint(o Options, at address, probe probe,
	prepare func(*endpoint, *connection, *amqp091.Channel) error) *endpoint {
	e := &endpoint{address: at, log: o.Log, status: newStatusTracker(o.Log, partPublishing,
		partConsuming)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.publisher = publisher{address: at, status: e.status, probe: probe,
		prepare: func(c *connection, ch *amqp091.Channel) error { return prepare(e, c, ch) }}
	publishing := reconnector{part: partPublishing, options: o, address: at, status: e.status,
		serve: e.publisher.serve}
	consuming := reconnector{part: partConsuming, options: o, address: at, status: e.status,
		serve: e.serveStreams}
	e.goroutines.Go(func() { publishing.run(e.ctx) })
	e.goroutines.Go(func() { consuming.run(e.ctx) })
	return e
}

// serveStreams lends a connection to the streams until it is over.
func (e *endpoint) serveStreams(ctx context.Context, c *connection) error {
	gone := c.NotifyClose(make(chan *amqp091.Error, 1))
	e.conn.set(c)
	e.status.works(partConsuming)
	defer e.conn.set(nil)
	select {
	case err := <-gone:
		return closeError(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs a stream until its context or the end ends. After the end it calls otherwise instead.
func (e *endpoint) start(ctx context.Context, run func(context.Context), otherwise func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		otherwise()
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.ctx, cancel)
	e.goroutines.Go(func() {
		defer cancel()
		defer stop()
		run(ctx)
	})
}

// close ends everything and waits for it. It may be called again.
func (e *endpoint) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.goroutines.Wait()
}

// withAdminChannel runs do on a channel of its own, of the connection that a broker which is short
// of memory goes on serving. Its errors are ErrUnreachable.
func (e *endpoint) withAdminChannel(do func(*amqp091.Channel) error) error {
	c, _ := e.conn.get()
	if c == nil {
		return e.publisher.unreachable()
	}
	ch, err := c.Channel()
	if err == nil {
		err = do(ch)
		_ = ch.Close() // the broker may have closed it
	}
	if err == nil || errors.Is(err, queue.ErrUnreachable) {
		return err
	}
	return fmt.Errorf("%w: %w", queue.ErrUnreachable, explain(e.address, err, nil))
}

func (e *endpoint) queueStatus() queue.Status {
	s := e.status.status()
	s.Refused = e.rejects.count()
	return s
}
