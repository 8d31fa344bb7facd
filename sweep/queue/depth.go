package queue

// Depth is how much waits in one queue.
type Depth struct {
	Queue     string // tasks.WORKER, events, heartbeats or dead (all dead letters)
	Messages  int    // nobody has them yet
	Unacked   *int   // somebody has them, and may still give them back; nil: not known
	Consumers *int   // who reads there; nil: not known
}
