package amqp

import (
	"maps"
	"sync"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
)

// workerSet is the workers that are known. The zero value has none.
type workerSet struct {
	mu      sync.Mutex
	names   map[string]bool
	changed chan struct{}
}

func (r *workerSet) set(worker string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[worker] == known {
		return
	}
	if r.names == nil {
		r.names = map[string]bool{}
	}
	if r.names[worker] = known; !known {
		delete(r.names, worker)
	}
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// all returns the workers, and a channel that is closed when they change.
func (r *workerSet) all() (names map[string]bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return maps.Clone(r.names), r.changed
}

// workerQueueOf opens a queue of this connection for what one worker sends of a kind.
func workerQueueOf(prefix string, kind rights.MessageKind,
	limits amqp091.Table) func(*amqp091.Channel, string,
	string) (string, error) {
	return func(ch *amqp091.Channel, connection, worker string) (string, error) {
		name := prefix + connection + "." + worker
		return name, declareExclusive(ch, name, kind.RoutingKey(worker), limits)
	}
}

// redeclareInterval is after how long it is seen that the queues of a worker are still there.
const redeclareInterval = 5 * time.Second

// workerStates is when the queues of workers were last made. The zero value is ready.
type workerStates struct {
	mu         sync.Mutex
	declaredAt map[string]time.Time
}

// declareDue reports whether a worker's queues are to be made now, and notes that they are.
func (m *workerStates) declareDue(worker string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.declaredAt[worker]; ok && now.Sub(last) < redeclareInterval {
		return false
	}
	if m.declaredAt == nil {
		m.declaredAt = map[string]time.Time{}
	}
	m.declaredAt[worker] = now
	return true
}

func (m *workerStates) forget(worker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.declaredAt, worker)
}

// declareWorkerQueues makes the queues of a worker, unless that was done a moment ago.
func (h *MasterEndpoint) declareWorkerQueues(worker string) {
	h.workers.set(worker, true)
	if !h.workerStates.declareDue(worker, time.Now()) {
		return
	}
	err := h.endpoint.withAdminChannel(func(ch *amqp091.Channel) error {
		if err := declareQueue(ch, rights.TasksQueue(worker)); err != nil {
			return err
		}
		return declareControl(ch, worker)
	})
	if err != nil { // the next heartbeat tries again
		h.workerStates.forget(worker)
		h.endpoint.log.Warn("the queues of a worker cannot be made", "worker", worker, "error", err)
	}
}
