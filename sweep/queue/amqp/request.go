package amqp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// request is messages for one queue, or an operation on the broker.
type request struct {
	queue  string
	bodies [][]byte
	letter *letter // of one body: what is said of it
	do     func(ch *amqp091.Channel) error

	done      chan error // has room for the result
	abandoned atomic.Bool

	// of the sender:
	open int // messages that are not confirmed
	err  error
}

// message is one that was published and not yet confirmed.
type message struct {
	of      *request
	body    []byte
	id      string
	tries   int
	begin   time.Time
	confirm *amqp091.DeferredConfirmation
}

// settled counts one message; with the last the request is over.
func (r *request) settled(err error) {
	r.err = errors.Join(r.err, err)
	if r.open--; r.open == 0 {
		r.done <- r.err
	}
}

// finish ends a request before all its messages are settled.
func (r *request) finish(err error) {
	if r.open > 0 {
		r.open = 0
		r.done <- err
	}
}
