package rights

import (
	"strings"
)

// Names on the broker. Package queue/amqp says what is where.
const (
	FromWorkers = "from-workers" // the topic exchange that workers publish to, with keys KIND.NAME

	EventsQueue     = "events"
	HeartbeatsQueue = "heartbeats"

	MasterLock   = "master-lock"   // exclusive queue of the master's connection
	MasterHolder = "master-holder" // contains one message: which master holds the lock

	tasksPrefix   = "tasks."
	controlPrefix = "control."
	// These begin the names of queues that belong to one connection of the master.
	HeartbeatsPrefix, LinesPrefix, PiecesPrefix = "heartbeats.", "lines.", "pieces."
)

// TasksQueue is the queue of the batches of a worker.
func TasksQueue(worker string) string { return tasksPrefix + worker }

// ControlQueue is the queue of the control messages of a worker.
func ControlQueue(worker string) string { return controlPrefix + worker }

// MessageKind is what a message from a worker is: the first word of its routing key.
type MessageKind string

// The kinds of messages from workers.
const (
	Events     MessageKind = "events"
	Heartbeats MessageKind = "heartbeats"
	Lines      MessageKind = "lines"
	Pieces     MessageKind = "pieces"
	// goes nowhere: a broker that takes no messages says so to those that send something
	Probe MessageKind = "probe"
)

var kinds = []MessageKind{Events, Heartbeats, Lines, Pieces, Probe}

// RoutingKey is the routing key of a worker's messages of one kind.
func (k MessageKind) RoutingKey(worker string) string { return string(k) + "." + worker }

// BindingKey is the binding key of the messages of one kind, of all workers: names may have dots.
func (k MessageKind) BindingKey() string { return string(k) + ".#" }

// WorkerOfKey returns the worker that a routing key of this kind names; false when the key is of
// another kind.
func (k MessageKind) WorkerOfKey(key string) (worker string, ok bool) {
	return strings.CutPrefix(key, string(k)+".")
}
