package amqp

import (
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

// Names of queues in the contract that are others on the broker, where versions before had queues
// of those names.
const (
	eventsName     = "events"
	heartbeatsName = "heartbeats"
)

// brokerName returns the name on the broker of a queue of the contract.
func brokerName(name string) string {
	switch name {
	case eventsName:
		return rights.EventsQueue
	case heartbeatsName:
		return rights.HeartbeatsQueue
	}
	return name
}

// Depths implements queue.MasterEndpoint.
func (h *MasterEndpoint) Depths(ctx context.Context, workers ...string) (all []queue.Depth, err error) {
	var names []string
	for _, w := range workers {
		names = append(names, rights.TasksQueue(w))
	}
	for _, name := range append(names, eventsName, heartbeatsName, rights.DeadQueue) {
		d, there, err := h.depth(name)
		if err != nil {
			return nil, err
		}
		if there {
			all = append(all, d)
		}
	}
	unacked := h.scrapeUnacked(ctx)
	for i := range all {
		if n, told := unacked[brokerName(all[i].Queue)]; told {
			all[i].Unacked = &n
		}
	}
	return all, nil
}

// depth asks for one queue; false when it does not exist.
func (h *MasterEndpoint) depth(name string) (d queue.Depth, there bool, err error) {
	err = h.endpoint.withAdminChannel(func(ch *amqp091.Channel) error {
		q, err := ch.QueueDeclarePassive(brokerName(name), true, false, false, false, nil)
		if isNotFound(err) {
			return nil
		}
		d = queue.Depth{Queue: name, Messages: q.Messages, Consumers: &q.Consumers}
		there = err == nil
		return err
	})
	return d, there, err
}
