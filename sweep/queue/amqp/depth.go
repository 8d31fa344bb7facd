package amqp

import (
	"context"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

// brokerNames returns the names on the broker of the queues that are one in the contract.
func brokerNames(name string) []string {
	if name == rights.DeadQueue {
		return []string{rights.DeadQueue, rights.WorkerDeadQueue}
	}
	return []string{name}
}

// Depths implements queue.MasterEndpoint.
func (h *MasterEndpoint) Depths(ctx context.Context, workers ...string) (
	all []queue.Depth, err error) {
	var names []string
	for _, w := range workers {
		names = append(names, rights.TasksQueue(w))
	}
	for _, name := range append(names, rights.EventsQueue, rights.HeartbeatsQueue,
		rights.DeadQueue) {
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
		all[i].Unacked = sumUnacked(unacked, brokerNames(all[i].Queue))
	}
	return all, nil
}

// sumUnacked returns how many messages of queues are not acknowledged; nil where that is not known
// of one of them.
func sumUnacked(unacked map[string]int, queues []string) *int {
	sum := 0
	for _, name := range queues {
		n, known := unacked[name]
		if !known {
			return nil
		}
		sum += n
	}
	return &sum
}

// depth asks the broker for one queue of the contract; false when it does not exist. Of several
// queues the messages are added up, and the consumers are those of the one that has the fewest.
func (h *MasterEndpoint) depth(name string) (d queue.Depth, exists bool, err error) {
	d.Queue = name
	for _, broker := range brokerNames(name) {
		err = h.endpoint.withAdminChannel(func(ch *amqp091.Channel) error {
			q, err := ch.QueueDeclarePassive(broker, true, false, false, false, nil)
			if isNotFound(err) {
				return nil
			}
			if err != nil {
				return err
			}
			exists = true
			d.Messages += q.Messages
			if d.Consumers == nil || q.Consumers < *d.Consumers {
				d.Consumers = &q.Consumers
			}
			return nil
		})
		if err != nil {
			return d, false, err
		}
	}
	return d, exists, nil
}
