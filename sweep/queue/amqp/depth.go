package amqp

import (
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

// Depths implements queue.MasterEndpoint.
func (h *MasterEndpoint) Depths(ctx context.Context, workers ...string) (
	all []queue.Depth, err error) {
	var names []string
	for _, w := range workers {
		names = append(names, rights.TasksQueue(w))
	}
	for _, name := range append(names, rights.EventsQueue, rights.HeartbeatsQueue) {
		d, exists, err := h.depth(name)
		if err != nil {
			return nil, err
		}
		if exists {
			all = append(all, d)
		}
	}
	unacked := h.scrapeUnacked(ctx)
	for i := range all {
		if n, known := unacked[all[i].Queue]; known {
			all[i].Unacked = &n
		}
	}
	return all, nil
}

// depth asks the broker for one queue of the contract; false when it does not exist.
func (h *MasterEndpoint) depth(name string) (d queue.Depth, exists bool, err error) {
	err = h.endpoint.withAdminChannel(func(ch *amqp091.Channel) error {
		q, err := ch.QueueDeclarePassive(name, true, false, false, false, nil)
		if isNotFound(err) {
			return nil
		}
		d, exists = queue.Depth{Queue: name, Messages: q.Messages, Consumers: &q.Consumers}, true
		return err
	})
	return d, exists, err
}
