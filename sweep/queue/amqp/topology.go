package amqp

import (
	"errors"
	"fmt"
	"maps"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
)

const (
	quorum         = "quorum"
	classic        = "classic"
	queueTypeField = "x-queue-type"
)

// declareQueue makes a queue that stays, unless it is there.
func declareQueue(ch *amqp091.Channel, name string) error {
	_, err := ch.QueueDeclare(name, true, false, false, false,
		amqp091.Table{queueTypeField: queueTypeOf(name)})
	return err
}

// queueTypeOf is the type of a queue that stays.
func queueTypeOf(name string) string {
	if name == rights.HeartbeatsQueue || name == rights.MasterHolder {
		return classic
	}
	return quorum
}

// declareControl makes the queue of a worker's control messages, unless it is there.
func declareControl(ch *amqp091.Channel, worker string) error {
	_, err := ch.QueueDeclare(rights.ControlQueue(worker), true, false, false, false,
		amqp091.Table{queueTypeField: classic})
	return err
}

// masterQueues are the queues of the master's that workers reach with keys of one kind.
var masterQueues = []struct {
	kind  rights.MessageKind
	queue string
}{
	{rights.Events, rights.EventsQueue},
	{rights.Heartbeats, rights.HeartbeatsQueue},
}

// declareMasterTopology makes the queues that workers reach, and their way there, unless they are
// there. The exchange comes last: a worker that sees it finds everything.
func declareMasterTopology(ch *amqp091.Channel) error {
	for _, in := range masterQueues {
		if err := declareQueue(ch, in.queue); err != nil {
			return err
		}
	}
	if err := declareExchange(ch); err != nil {
		return err
	}
	for _, in := range masterQueues {
		if err := ch.QueueBind(in.queue, in.kind.BindingKey(), rights.FromWorkers, false,
			nil); err != nil {
			return err
		}
	}
	return nil
}

func declareExchange(ch *amqp091.Channel) error {
	return ch.ExchangeDeclare(rights.FromWorkers, amqp091.ExchangeTopic, true, false, false, false,
		nil)
}

// declareExclusive makes a queue of this connection, which goes with its last consumer, and binds
// it to messages of workers with a key; "": to none.
func declareExclusive(ch *amqp091.Channel, name, key string, limits amqp091.Table) error {
	if err := declareExchange(ch); err != nil {
		return err
	}
	arguments := amqp091.Table{queueTypeField: classic}
	maps.Copy(arguments, limits)
	if _, err := ch.QueueDeclare(name, false, true, true, false, arguments); err != nil ||
		key == "" {
		return err
	}
	return ch.QueueBind(name, key, rights.FromWorkers, false, nil)
}

// unboundQueue opens a queue of the connection to which nothing comes: it is there for the queues
// of single workers.
func unboundQueue(prefix string) func(*amqp091.Channel, string) (string, error) {
	return func(ch *amqp091.Channel, connection string) (string, error) {
		name := prefix + connection
		return name, declareExclusive(ch, name, "", nil)
	}
}

// existingQueue opens a queue that only the master makes: whoever consumes it waits until it is
// there.
func existingQueue(name string) func(*amqp091.Channel, string) (string, error) {
	return func(ch *amqp091.Channel, _ string) (string, error) {
		_, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
		return name, err
	}
}

// checkWorkerTopology looks whether a connection is that of the worker's own user, and whether a
// master has been here: a worker makes nothing itself.
func checkWorkerTopology(c *connection, ch *amqp091.Channel, worker string) error {
	if want := rights.WorkerUser(worker); c.user != want {
		return &wrongUser{user: c.user, worker: worker}
	}
	return ch.ExchangeDeclarePassive(rights.FromWorkers, amqp091.ExchangeTopic, true, false, false,
		false, nil)
}

// wrongUser says that the credentials are not those of the worker that uses them.
type wrongUser struct{ user, worker string }

func (e *wrongUser) Error() string {
	return fmt.Sprintf("the file with the credentials is that of user %s; worker %s needs its "+
		"own, of user %s: "+
		"make it (sweepd broker-users), or name the worker otherwise (--name)", e.user, e.worker,
		rights.WorkerUser(e.worker))
}

// isNotFound reports whether the broker said that something is not there.
func isNotFound(err error) bool {
	said, ok := errors.AsType[*amqp091.Error](err)
	return ok && said.Code == amqp091.NotFound
}
