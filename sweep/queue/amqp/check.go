package amqp

import (
	"context"

	"mlframework/sweep/queue/rights"
)

// Check connects once and returns the fault: a *Fault, or what is wrong with the options. It does
// not try again.
func Check(ctx context.Context, o Options) error {
	o, at, err := o.checked()
	if err != nil {
		return err
	}
	c, err := dial(ctx, o, at)
	if err != nil {
		return err
	}
	c.hangUp()
	return nil
}

// HasConsumer connects once and reports whether somebody takes the tasks of a worker: a process
// that lives, or one that the broker does not know to be dead yet.
func HasConsumer(ctx context.Context, worker string, o Options) (bool, error) {
	o, at, err := o.checked()
	if err != nil {
		return false, err
	}
	c, err := dial(ctx, o, at)
	if err != nil {
		return false, err
	}
	defer c.hangUp()
	ch, err := c.Channel()
	if err != nil {
		return false, explain(at, err, nil)
	}
	q, err := ch.QueueDeclarePassive(rights.TasksQueue(worker), true, false, false, false, nil)
	if isNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, explain(at, err, nil)
	}
	return q.Consumers > 0, nil
}

// DeadPeerTimeout is after how long the broker knows that a process is gone whose machine died.
const DeadPeerTimeout = 4 * heartbeat
