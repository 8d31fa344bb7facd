package task

import (
	"time"

	"mlframework/sweep/metric"
)

// EventKind says what an Event reports.
type EventKind string

// The kinds of events, in the order in which they happen to one attempt.
const (
	ClaimedEvent  EventKind = "claimed"  // the worker holds the attempt
	ReturnedEvent EventKind = "returned" // given back before it began
	StartedEvent  EventKind = "started"  // its program runs
	SamplesEvent  EventKind = "samples"  // metrics seen while it runs
	// Outcome says how; what its program left is gone when its grace is over, at the latest
	EndedEvent EventKind = "ended"
)

// The kinds of events of a worker itself. They have no sweep, index or attempt.
const (
	// a worker has begun: what an earlier one of its name had claimed or ran is gone
	JoinedEvent EventKind = "joined"
	// a worker ends by itself: it takes nothing more, and has reported everything
	LeftEvent EventKind = "left"
)

// Event is what a worker tells the master about one attempt. Events of one worker arrive in order
// and may repeat.
type Event struct {
	Version int       `json:"version"`
	Kind    EventKind `json:"kind"`
	Worker  string    `json:"worker"`
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Time    time.Time `json:"time"`
	// of StartedEvent, and of EndedEvent when the program began
	Start   *Start          `json:"start,omitempty"`
	Samples []metric.Sample `json:"samples,omitempty"` // of SamplesEvent
	// of SamplesEvent: the metrics as they are now
	Newest  metric.Stored `json:"newest,omitempty"`
	Outcome *Outcome      `json:"outcome,omitempty"` // of EndedEvent
	// Leftovers, of EndedEvent, says that processes of its program are still being ended, until no
	// heartbeat lists it.
	Leftovers bool       `json:"leftovers,omitempty"`
	Heartbeat *Heartbeat `json:"beat,omitempty"` // of JoinedEvent and LeftEvent
}

// Began is when the program of an attempt began, of a StartedEvent or an EndedEvent with Start, by
// the worker's clock.
func (e Event) Began() time.Time {
	if e.Kind == EndedEvent && e.Outcome != nil {
		return e.Time.Add(-e.Outcome.Duration)
	}
	return e.Time
}

// ID names the event's task.
func (e Event) ID() ID { return ID{e.Sweep, e.Index} }

// Start is where an attempt began.
type Start struct {
	Host    string   `json:"host"`
	Slot    int      `json:"slot"` // from 0
	GPUs    []string `json:"gpus,omitempty"`
	Resumed bool     `json:"resumed,omitempty"` // outputs of an earlier attempt were there
	// of the worker's container, by digest; "": none, or not known
	Image string `json:"image,omitempty"`
}
