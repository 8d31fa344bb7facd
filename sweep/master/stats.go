package master

import (
	"context"

	"mlframework/sweep/core"
	"mlframework/sweep/queue"
)

// Stats is how a master stands.
type Stats struct {
	Workers  []WorkerStats
	Refused  int64 // messages of attempts that their worker never had, since the master started
	Demand   core.Demand
	Outgoing int // batches and messages to workers that the queue has not taken
}

// WorkerStats is a worker, and what its last heartbeat said beside that.
type WorkerStats struct {
	core.Worker
	Unsent int // events that it could not send yet
}

// Stats returns how the master stands. It costs the loop a look at its workers.
func (m *Master) Stats(ctx context.Context) (all Stats, err error) {
	err = m.query(ctx, func(context.Context) error {
		all = Stats{Refused: m.metrics.refused + m.senders.refused.Load(),
			Outgoing: m.outbox.pending(), Demand: m.core.Demand(m.o.Now())}
		for _, w := range m.core.Workers() {
			all.Workers = append(all.Workers, WorkerStats{w, m.core.Beat(w.Name).Unsent})
		}
		return nil
	})
	return all, err
}

// Depths returns how much waits in the queues, those of all workers among them.
func (m *Master) Depths(ctx context.Context) ([]queue.Depth, error) {
	var workers []string
	if err := m.query(ctx,
		func(context.Context) error { workers = m.core.WorkerNames(); return nil }); err != nil {
		return nil, err
	}
	return m.o.Queue.Depths(ctx, workers...)
}
