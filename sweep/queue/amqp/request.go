package amqp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"
)

// route is where messages go.
type route struct {
	exchange, key string
	declares      bool // the key is the name of a queue, which is made when it is not there
}

// queueRoute leads to one queue, by its name. It is the master's: no worker may use that exchange.
func queueRoute(queue string) route { return route{key: queue, declares: true} }

func (r route) String() string {
	if r.exchange == "" {
		return "the queue " + r.key
	}
	return "the queue behind " + r.exchange + " with the key " + r.key
}

// request is messages for one place, or an operation on the broker.
type request struct {
	to      route
	bodies  [][]byte
	headers amqp091.Table
	do      func(ch *amqp091.Channel) error

	done      chan error // has room for the result
	abandoned atomic.Bool

	// of the sender:
	pending int // messages that are not confirmed
	err     error
}

// message is one that was published and not yet confirmed.
type message struct {
	request   *request
	body      []byte
	id        string
	attempts  int
	published time.Time
	confirm   *amqp091.DeferredConfirmation
}

// confirmOne counts one message; with the last the request is over.
func (r *request) confirmOne(err error) {
	r.err = errors.Join(r.err, err)
	if r.pending--; r.pending == 0 {
		r.done <- r.err
	}
}

// finish ends a request before all its messages are settled.
func (r *request) finish(err error) {
	if r.pending > 0 {
		r.pending = 0
		r.done <- err
	}
}
