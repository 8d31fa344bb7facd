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
	return task.EncodeAll("an event", events, most, mostFrom[rights.Events])
}

// From decodes a message of a kind as the master does, and returns how many things it let through.
func From(kind rights.Kind, worker string, body []byte) (things int, err error) {
	d := &amqp091.Delivery{UserId: rights.WorkerUser(worker), RoutingKey: kind.Key(worker),
		Body: body}
	h := &Hub{end: &end{}}
	switch kind {
	case rights.Events:
		return count(fromWorkers(kind, h.user, task.DecodeEvents, checkEvent)(d))
	case rights.Heartbeats:
		return count(fromWorkers(kind, h.user, task.DecodeHeartbeat, h.checkBeatOf)(d))
	case rights.Lines:
		return count(fromWorkers(kind, h.user, task.DecodeLines, checkLine)(d))
	}
	return count(fromWorkers(kind, h.user, task.DecodePiece, checkPiece)(d))
}

func count[T any](things []T, err error) (int, error) { return len(things), err }

// Pauses gives the shortest and the longest of the first n pauses.
func Pauses(n int) (shortest, longest []time.Duration) {
	var low, high pause
	for range n {
		shortest, longest = append(shortest, low.next(0)), append(longest, high.next(1))
	}
	return shortest, longest
}

// State is how an end of two parts reaches the broker.
type State struct{ s *state }

func NewState(log *slog.Logger) State { return State{newState(log, "a", "b")} }

func (s State) Fail(part, words string) {
	s.s.fail(part, &Fault{Kind: Other, Broker: "b", words: words})
}
func (s State) Well(part string) { s.s.well(part) }
func (s State) Status() (away bool, since time.Time, reason string) {
	q := s.s.status()
	return q.Away, q.Since, q.Reason
}

// Severed tells whether neither connection of an end is there.
func (h *Hub) Severed() bool  { return h.end.severed() }
func (p *Port) Severed() bool { return p.end.severed() }

func (e *end) severed() bool {
	e.state.mu.Lock()
	defer e.state.mu.Unlock()
	_, publishing := e.state.wrong[partPublishing]
	_, consuming := e.state.wrong[partConsuming]
	return publishing && consuming
}

// NewHubQuiet is NewHub; what the version before left is removed after another time without a message.
func NewHubQuiet(o Options, quiet time.Duration) (*Hub, error) { return newHub(o, quiet) }

// Hear has a hub make the queues of a worker, as it does with its first heartbeat.
func Hear(h *Hub, worker string) { h.makeQueues(worker) }
