package amqp

import (
	"fmt"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// workerOf returns the worker that sent a message of one kind, by the user that the broker vouches
// for, and the routing key that it let that user use. The user has to be that worker's own.
func workerOf(d *amqp091.Delivery, kind rights.MessageKind) (string, error) {
	name, ok := kind.WorkerOfKey(d.RoutingKey)
	if !ok || rights.CheckWorker(name) != nil {
		return "", fmt.Errorf(
			"it came with the key %.200q, which is not one of a worker", d.RoutingKey)
	}
	if d.UserId != rights.WorkerUser(name) {
		if d.UserId == "" {
			return "", fmt.Errorf("it names worker %s and not the user that sent it", name)
		}
		return "", fmt.Errorf("it names worker %s and was sent by user %.200q", name,
			d.UserId)
	}
	return name, nil
}

// decoder reads the things in a body, and stops at the first that check does not let through.
type decoder[T any] func(body []byte, check func(*T) error) ([]T, error)

// decodeFromWorker returns a decoder of messages of one kind: what it lets through came from the
// user of the worker that the message and each thing in it name, and keeps the bounds of package
// task.
func decodeFromWorker[T any](kind rights.MessageKind, decode decoder[T],
	check func(*T, string) error) func(*amqp091.Delivery) ([]T, error) {
	return func(d *amqp091.Delivery) ([]T, error) {
		if err := task.CheckSize(d.Body, maxBytesFrom[kind], maxParts); err != nil {
			return nil, err
		}
		worker, err := workerOf(d, kind)
		if err != nil {
			return nil, err
		}
		return decode(d.Body, func(thing *T) error { return check(thing, worker) })
	}
}

// checkLine notes who sent a line, which the line itself does not say.
func checkLine(l *task.Line, worker string) error {
	l.Worker = worker
	return l.Check()
}
