// Package amqp is the queue on RabbitMQ: the contract of package queue between machines.
//
// The commands may import it. It imports the contract, queue/rights and sweep/task, and is the only one that knows the protocol
// (github.com/rabbitmq/amqp091-go, whose own recovery stays off).
//
// # What is on the broker
//
//	queue     tasks.WORKER       quorum             batches for one worker
//	queue     control.WORKER     classic, durable   control messages for one worker, transient and expiring
//	exchange  from-workers       topic, durable     everything from workers, with keys KIND.WORKER
//	  events.#      →  worker-events       quorum             what workers report
//	  heartbeats.#  →  worker-heartbeats   classic, durable   transient messages that expire
//	  dead.#        →  worker-letters      quorum             what workers could not read
//	  KIND.WORKER   →  KIND.*.WORKER       exclusive queues of the master's connection, bounded:
//	                                       heartbeats, lines and pieces of each worker known
//	queue     dead               quorum             what the broker put aside
//
// The master makes all of it, whenever it is needed: a queue that was deleted, or a broker that lost its data, is set up
// again. The queues of a worker it makes with the worker's first heartbeat, with one every five seconds, and with what it
// publishes. Workers make nothing: they publish to the one exchange and consume their two queues, and wait for what is not
// there yet. A worker binds nothing either, so that no topic needs a right to be read.
//
// Package queue/rights has the user of each worker, and the policies. x-queue-type is the only argument of a queue that
// outlives its connection, so that everything else can be set by policy: bounds, and that what a broker gives up on by
// itself, as at a limit of deliveries (RabbitMQ 4 has one of 20), goes to the queue dead.
//
// # Who says what
//
// The broker lets a worker's user use keys that end with the worker's name, and no other user's
// name in the property user-id. The master reads a message only if key, user and content name the
// same worker, and if it keeps the bounds of package task. What does not is delivered to the master
// as a dead letter with the reason, and is counted; of each message its beginning is kept. What
// workers could not read themselves comes from worker-letters with the same bound. Nothing writes
// to the queue dead but the broker's own rules and masters of versions before. Where the master
// requeues a message, its headers say whose it was.
//
// # Connections
//
// Each end has one connection that publishes and one that consumes, since a broker that is short of memory stops reading
// from those that publish. Both are tried for ever.
package amqp

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"
	"time"

	"mlframework/sweep/queue/rights"
)

const (
	dialTimeout      = 5 * time.Second
	handshakeTimeout = 10 * time.Second
	// heartbeat is what is asked of the broker; a silence of one and a half of it ends a connection.
	heartbeat = 5 * time.Second
	// confirmTimeout bounds the wait for the broker's word that a message is kept. Milliseconds are usual.
	confirmTimeout = 10 * time.Second
	// closeTimeout bounds the polite end of a connection.
	closeTimeout = time.Second
	// leaveTimeout bounds the wait for the broker when a stream ends.
	leaveTimeout = 5 * time.Second
	// watchEvery is how often a stream sees whether the broker still knows its consumer.
	watchEvery = 4 * time.Second
	// shortLived is how long messages wait that are of use only now.
	shortLived = 10 * time.Second

	// mostBytes is the longest message of the master that is read, and mostSent the longest that is
	// sent: earlier masters sent longer ones.
	mostBytes = 16 << 20
	mostSent  = rights.LongestMessage
	// mostEventBytes is how much of several events travels in one message, so that it fits one frame (128 KiB).
	mostEventBytes = 120 << 10
)

// Options say how to reach the broker.
type Options struct {
	URL         string       // amqp://HOST:PORT/VHOST or amqps://..., without user and password
	Credentials string       // a file with USER:PASSWORD; read at every connect, so that it may change
	CA          string       // a file with the certificates (PEM) that may sign the broker's; read as Credentials is. "": the system's
	ServerName  string       // the name in the broker's certificate; "": the host of the URL
	Metrics     string       // http://HOST:PORT of the broker's plugin rabbitmq_prometheus, for what AMQP does not tell; "": none
	Log         *slog.Logger // nil: nothing is logged
}

// place is the address in its parts.
type place struct {
	tls   bool
	host  string
	port  string
	vhost string
}

func (p place) String() string {
	text := net.JoinHostPort(p.host, p.port)
	if p.vhost != "/" { // the default one, which goes without saying
		text += "/" + p.vhost
	}
	return text
}

// checked gives the options with their defaults, and where they lead.
func (o Options) checked() (Options, place, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	u, err := url.Parse(o.URL)
	switch {
	case err != nil:
		return o, place{}, errors.New("the broker's address is not a URL: write amqps://HOST:PORT/VHOST")
	case u.User != nil:
		return o, place{}, errors.New("the broker's address has a user in it, which logs would show: " +
			"write USER:PASSWORD into the file with the credentials")
	case u.Scheme != "amqp" && u.Scheme != "amqps" || u.Hostname() == "" || u.RawQuery != "" || u.Fragment != "":
		return o, place{}, fmt.Errorf("%q is no broker's address: write amqps://HOST:PORT/VHOST", o.URL)
	case !isMetrics(o.Metrics):
		return o, place{}, errors.New("the address of the broker's metrics is none: write http://HOST:15692")
	case o.Credentials == "":
		return o, place{}, errors.New("no file with the broker's credentials is named: it has one line, USER:PASSWORD")
	}
	p := place{tls: u.Scheme == "amqps", host: u.Hostname(), port: u.Port(), vhost: "/"}
	if len(u.Path) > 1 {
		p.vhost = u.Path[1:]
	}
	if p.port == "" {
		p.port = map[bool]string{false: "5672", true: "5671"}[p.tls]
	}
	return o, p, nil
}
