package amqp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// The parts of an end, beside its streams.
const (
	partPublishing = "publishing"
	partConsuming  = "consuming"
)

// end is what Hub and Port have in common.
type end struct {
	at        place
	log       *slog.Logger
	refused   refusals
	state     *state
	lookout   lookout
	publisher publisher
	// unreadable are messages of the master's streams that may be lost.
	unreadable chan task.DeadLetter

	ctx    context.Context // of everything that runs; it ends with close
	cancel context.CancelFunc
	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
}

// newEnd begins to connect.
func newEnd(o Options, at place, nowhere route, prepare func(*connection, *amqp091.Channel) error) *end {
	e := &end{at: at, log: o.Log, state: newState(o.Log, partPublishing, partConsuming),
		unreadable: make(chan task.DeadLetter, deadLettersWaiting)}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.publisher = publisher{at: at, state: e.state, prepare: prepare, nowhere: nowhere}
	publishing := link{part: partPublishing, o: o, at: at, state: e.state, use: e.publisher.serve}
	consuming := link{part: partConsuming, o: o, at: at, state: e.state, use: e.consume}
	e.all.Go(func() { publishing.run(e.ctx) })
	e.all.Go(func() { consuming.run(e.ctx) })
	return e
}

// consume lends a connection to the streams until it is over.
func (e *end) consume(ctx context.Context, c *connection) error {
	gone := c.NotifyClose(make(chan *amqp091.Error, 1))
	e.lookout.set(c)
	e.state.well(partConsuming)
	defer e.lookout.set(nil)
	select {
	case err := <-gone:
		return ended(err)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// start runs a stream until its context or the end ends. After the end it calls otherwise instead.
func (e *end) start(ctx context.Context, run func(context.Context), otherwise func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.closed {
		otherwise()
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(e.ctx, cancel)
	e.all.Go(func() {
		defer cancel()
		defer stop()
		run(ctx)
	})
}

// close ends everything and waits for it. It may be called again.
func (e *end) close() {
	e.mu.Lock()
	e.closed = true
	e.mu.Unlock()
	e.cancel()
	e.all.Wait()
}

// withAdminChannel runs do on a channel of its own, of the connection that a broker which is short
// of memory goes on serving. Its errors are ErrAway.
func (e *end) withAdminChannel(do func(*amqp091.Channel) error) error {
	c, _ := e.lookout.now()
	if c == nil {
		return e.publisher.away()
	}
	ch, err := c.Channel()
	if err == nil {
		err = do(ch)
		_ = ch.Close() // the broker may have closed it
	}
	if err == nil || errors.Is(err, queue.ErrAway) {
		return err
	}
	return fmt.Errorf("%w: %w", queue.ErrAway, explain(e.at, err, nil))
}

func (e *end) status() queue.Status {
	s := e.state.status()
	s.Refused = e.refused.count()
	return s
}

// expiration is shortLived as messages carry it.
var expiration = strconv.FormatInt(shortLived.Milliseconds(), 10)

// brief is a message that is of use only now.
func brief(body []byte) amqp091.Publishing {
	return amqp091.Publishing{DeliveryMode: amqp091.Transient, Expiration: expiration, Body: body}
}
