package amqp

import (
	"maps"

	"github.com/rabbitmq/amqp091-go"
)

// Names on the broker.
const (
	eventsQueue    = "events"
	beatsQueue     = "heartbeats"
	deadQueue      = "dead"
	controlOut     = "control"
	linesOut       = "lines"
	piecesOut      = "pieces"
	tasksPrefix    = "tasks."
	quorum         = "quorum"
	classic        = "classic"
	queueTypeField = "x-queue-type"
)

func tasksQueue(worker string) string { return tasksPrefix + worker }

// declareQueue makes a queue that stays, unless it is there.
func declareQueue(ch *amqp091.Channel, name string) error {
	kind := quorum
	if name == beatsQueue {
		kind = classic
	}
	_, err := ch.QueueDeclare(name, true, false, false, false, amqp091.Table{queueTypeField: kind})
	return err
}

// declareExchanges makes the exchanges, unless they are there.
func declareExchanges(ch *amqp091.Channel) error {
	for name, kind := range map[string]string{controlOut: amqp091.ExchangeDirect, linesOut: amqp091.ExchangeFanout, piecesOut: amqp091.ExchangeFanout} {
		if err := ch.ExchangeDeclare(name, kind, true, false, false, false, nil); err != nil {
			return err
		}
	}
	return nil
}

// own makes a queue of this connection, which goes with its last consumer, and binds it.
func own(ch *amqp091.Channel, name, exchange, key string, limits amqp091.Table) error {
	if err := declareExchanges(ch); err != nil {
		return err
	}
	arguments := amqp091.Table{queueTypeField: classic}
	maps.Copy(arguments, limits)
	if _, err := ch.QueueDeclare(name, false, true, true, false, arguments); err != nil {
		return err
	}
	return ch.QueueBind(name, key, exchange, false, nil)
}

// staying opens a queue that outlives its consumers.
func staying(name string) func(*amqp091.Channel, string) (string, error) {
	return func(ch *amqp091.Channel, _ string) (string, error) { return name, declareQueue(ch, name) }
}

// passing opens a queue that goes with its consumers. Its name has the connection's in it: an earlier connection may not
// yet be dead for the broker, and its queue cannot be used by another.
func passing(name, exchange, key string) func(*amqp091.Channel, string) (string, error) {
	return func(ch *amqp091.Channel, connection string) (string, error) {
		return name + connection, own(ch, name+connection, exchange, key, nil)
	}
}
