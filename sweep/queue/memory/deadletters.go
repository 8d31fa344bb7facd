package memory

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// Names of queues, as on a broker.
const (
	tasksPrefix = "tasks."
	eventsQueue = "events"
)

// AddDeadLetter adds a dead letter: a batch as JSON, from tasks.WORKER, or several events, from
// events.
func (q *Queue) AddDeadLetter(from string, body []byte, reason string) {
	q.dead.put(task.DeadLetter{ID: strconv.FormatInt(q.deadCount.Add(1), 10), Queue: from,
		Reason: reason, Time: time.Now().UTC(), Size: len(body), Body: body})
}

// DeadLetters implements queue.MasterEndpoint.
func (q *Queue) DeadLetters(ctx context.Context) <-chan queue.Delivery[task.DeadLetter] {
	return openDeliveries(ctx, &q.dead, math.MaxInt, &q.outage)
}

// Requeue implements queue.MasterEndpoint.
func (q *Queue) Requeue(_ context.Context, l *task.DeadLetter) (bool, error) {
	if q.outage.on() {
		return false, queue.ErrUnreachable
	}
	if len(l.Body) < l.Size || !q.hasQueue(l.Queue) {
		return false, nil
	}
	q.requeued(l)
	return true, nil
}

// hasQueue reports whether a queue exists whose messages can be requeued.
func (q *Queue) hasQueue(name string) bool {
	worker, ok := strings.CutPrefix(name, tasksPrefix)
	q.mu.Lock()
	defer q.mu.Unlock()
	return name == eventsQueue || ok && q.endpoints[worker] != nil && !q.endpoints[worker].removed
}

// Depths implements queue.MasterEndpoint.
func (q *Queue) Depths(_ context.Context, workers ...string) (all []queue.Depth, err error) {
	if q.outage.on() {
		return nil, queue.ErrUnreachable
	}
	for _, w := range workers {
		if name := tasksPrefix + w; q.hasQueue(name) {
			all = append(all, queue.Depth{Queue: name, Messages: q.endpoint(w).tasks.count()})
		}
	}
	return append(all, queue.Depth{Queue: eventsQueue, Messages: q.events.count()},
		queue.Depth{Queue: "heartbeats", Messages: q.heartbeats.count()},
		queue.Depth{Queue: "dead", Messages: q.dead.count()}), nil
}
