package queue

// Depth is how much waits in one queue. Its JSON is that of the API.
type Depth struct {
	Queue    string `json:"queue"`    // tasks.WORKER, events or heartbeats
	Messages int    `json:"messages"` // nobody has them yet
	// somebody has them, and may still give them back, some seconds ago; nil: not known
	Unacked   *int `json:"unacked"`
	Consumers *int `json:"consumers"` // who reads there; nil: not known
}
