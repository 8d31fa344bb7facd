package amqp

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
)

// masterLock keeps a second master from a broker, whatever store it has. The lock is an exclusive
// queue: RabbitMQ lets only the connection that declared it use it, answers RESOURCE_LOCKED to all
// others, and deletes it when that connection ends, as it does after two silent intervals of the
// heartbeat. It does not survive a restart of the broker. Who has it says so once a second, in a
// queue that others can read.
type masterLock struct {
	own     string      // who this master is
	held    atomic.Bool // what is to be consumed waits for it
	since   time.Time   // of the first refusal in a row; prepare is called by one goroutine
	refused chan error
}

// errNoLock is for streams, which wait for the lock: that of publishing says why there is none.
var errNoLock = errors.New("the broker's lock is not taken")

// lockedError says that another master has the lock.
type lockedError struct {
	holder string
	own    bool // it is this process, by a connection that the broker does not know to be dead
}

func (e *lockedError) Error() string {
	switch {
	case e.own:
		return "an earlier connection of this master uses it"
	case e.holder == "":
		return "another master uses it"
	}
	return "another master uses it: " + e.holder
}

// take takes the lock for a connection. A master that died may hold it until the broker knows: only
// after that time the refusal is final. What this process itself left behind, when its network was
// cut, does not count.
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
			default: // it was said
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

// readHolder returns what the holder of the lock last said of itself; "": it is silent. The message
// goes back to its queue with the channel.
func readHolder(c *connection) string {
	ch, err := c.Channel()
	if err != nil {
		return ""
	}
	defer ch.Close()
	d, _, _ := ch.Get(rights.MasterHolder, false)
	return string(d.Body)
}
