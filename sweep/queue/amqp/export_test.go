package amqp

import (
	"log/slog"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// What tests of this package see of its insides.
var ReadUnacked = readUnacked

// EncodeEvents is how events travel.
func EncodeEvents(events []task.Event, most int) ([][]byte, error) {
	return task.EncodeAll("an event", events, most, maxBytesFrom[rights.Events])
}

// DecodeFrom decodes a message of a kind as the master does, and returns how many things it let
// through.
func DecodeFrom(kind rights.MessageKind, worker string, body []byte) (things int, err error) {
	d := &amqp091.Delivery{UserId: rights.WorkerUser(worker), RoutingKey: kind.RoutingKey(worker),
		Body: body}
	switch kind {
	case rights.Events:
		return count(decodeFromWorker(kind, task.DecodeEvents, (*task.Event).Check)(d))
	case rights.Heartbeats:
		return count(decodeFromWorker(kind, task.DecodeHeartbeat,
			(*task.Heartbeat).Check)(d))
	case rights.Lines:
		return count(decodeFromWorker(kind, task.DecodeLines, checkLine)(d))
	}
	return count(decodeFromWorker(kind, task.DecodePiece,
		(*task.Piece).Check)(d))
}

func count[T any](things []T, err error) (int, error) { return len(things), err }

// Backoffs returns the shortest and the longest of the first n back-offs.
func Backoffs(n int) (shortest, longest []time.Duration) {
	var low, high backoff
	for range n {
		shortest, longest = append(shortest, low.next(0)), append(longest, high.next(1))
	}
	return shortest, longest
}

// StatusTracker is how an end of two parts reaches the broker.
type StatusTracker struct{ s *statusTracker }

func NewStatusTracker(log *slog.Logger) StatusTracker {
	return StatusTracker{newStatusTracker(log, "a", "b")}
}

func (s StatusTracker) Fail(part, words string) { s.FailAs(part, Other, words) }
func (s StatusTracker) FailAs(part string, kind FaultKind, words string) {
	s.s.failed(part, &Fault{Kind: kind, Broker: "b", text: words})
}
func (s StatusTracker) Works(part string) { s.s.works(part) }
func (s StatusTracker) Status() (away bool, since time.Time, reason string) {
	q := s.s.status()
	return q.Unreachable, q.Since, q.Reason
}

// Severed reports whether an endpoint has neither of its connections.
func (h *MasterEndpoint) Severed() bool { return h.endpoint.severed() }
func (p *WorkerEndpoint) Severed() bool { return p.endpoint.severed() }

func (e *endpoint) severed() bool {
	e.status.mu.Lock()
	defer e.status.mu.Unlock()
	_, publishing := e.status.faults[partPublishing]
	_, consuming := e.status.faults[partConsuming]
	return publishing && consuming
}

// DeclareWorkerQueues declares the queues of a worker, as its first heartbeat does.
func DeclareWorkerQueues(h *MasterEndpoint, worker string) { h.declareWorkerQueues(worker) }
