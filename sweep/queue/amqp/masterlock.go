package amqp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
)

// masterLock ensures that only one master uses a broker, whatever its store. The lock is an
// exclusive queue: RabbitMQ lets only the connection that declared it use it and answers
// RESOURCE_LOCKED to all others. It deletes the queue when that connection ends, which it notices
// after two missed heartbeats at the latest. The lock does not survive a restart of the broker. Its
// holder describes itself once a second in a queue that other masters can read.
type masterLock struct {
	own     string      // describes this master
	held    atomic.Bool // consumers wait until it is true
	since   time.Time   // time of the first refusal in a row; prepare is called by one goroutine
	refused chan error
}

// errNoLock is the error of streams that wait for the lock. The publishing connection reports why
// the lock is not held.
var errNoLock = errors.New("this master does not hold the broker's lock")

// lockedError is the error for a lock that another master holds.
type lockedError struct {
	holder string
	// an earlier connection of this process holds the lock, and the broker has not noticed yet that
	// it is dead
	own bool
}

func (e *lockedError) Error() string {
	switch {
	case e.own:
		return "an earlier connection of this master holds the lock"
	case e.holder == "":
		return "another master holds the lock"
	}
	return "another master holds the lock: " + e.holder
}

// take takes the lock for a connection. A dead master holds the lock until the broker notices its
// death, so a refusal is final only after that time. Refusals because of an earlier connection of
// this process, whose network was cut, do not count.
func (l *masterLock) take(c *connection, ch *amqp091.Channel) error {
	_, err := ch.QueueDeclare(rights.MasterLock, false, false, true, false,
		amqp091.Table{queueTypeField: classic})
	if said, ok := errors.AsType[*amqp091.Error](err); ok && said.Code == amqp091.ResourceLocked {
		holder := readHolder(c)
		locked := &lockedError{holder: holder, own: holder != "" && holder == l.own}
		if locked.own || l.since.IsZero() {
			l.since = time.Now()
		}
		if time.Since(l.since) > DeadPeerTimeout {
			select {
			case l.refused <- locked:
			default: // it was reported already
			}
		}
		return locked
	}
	if err != nil {
		return err
	}
	l.since = time.Time{}
	return declareQueue(ch, rights.MasterHolder)
}

// readHolder returns the holder's last description of itself, "" if there is none. Closing the
// channel returns the message to its queue.
func readHolder(c *connection) string {
	ch, err := c.Channel()
	if err != nil {
		return ""
	}
	defer ch.Close()
	d, _, _ := ch.Get(rights.MasterHolder, false)
	return string(d.Body)
}
