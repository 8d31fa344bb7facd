package memory

import (
	"context"

	"mlframework/sweep/queue"
)

// Depths implements queue.MasterEndpoint.
func (q *Queue) Depths(_ context.Context, workers ...string) (all []queue.Depth, err error) {
	if q.outage.on() {
		return nil, queue.ErrUnreachable
	}
	for _, w := range workers {
		if p := q.existing(w); p != nil {
			all = append(all, queue.Depth{Queue: "tasks." + w, Messages: p.tasks.count()})
		}
	}
	return append(all, queue.Depth{Queue: "events", Messages: q.events.count()},
		queue.Depth{Queue: "heartbeats", Messages: q.heartbeats.count()}), nil
}

// existing returns the endpoint of a worker that has a queue; nil where it has none.
func (q *Queue) existing(worker string) *workerEndpoint {
	q.mu.Lock()
	defer q.mu.Unlock()
	if p := q.endpoints[worker]; p != nil && !p.removed {
		return p
	}
	return nil
}
