package task

import (
	"encoding/json"
	"strings"
	"time"

	"mlframework/sweep/metric"
)

// Kind says what an Event reports.
type Kind string

// The kinds of events, in the order in which they happen to one attempt.
const (
	ClaimedEvent  Kind = "claimed"  // the worker holds the attempt
	ReturnedEvent Kind = "returned" // given back before it began
	StartedEvent  Kind = "started"  // its program runs
	SamplesEvent  Kind = "samples"  // metrics seen while it runs
	EndedEvent    Kind = "ended"    // Outcome says how; what its program left is gone when its grace is over, at the latest
)

// The kinds of events of a worker itself. They have no sweep, index or attempt.
const (
	JoinedEvent Kind = "joined" // a worker has begun: what an earlier one of its name had claimed or ran is gone
	LeftEvent   Kind = "left"   // a worker ends by itself: it takes nothing more, and has reported everything
)

// Event is what a worker tells the master about one attempt. Events of one worker arrive in order and may repeat.
type Event struct {
	Version int             `json:"version"`
	Kind    Kind            `json:"kind"`
	Worker  string          `json:"worker"`
	Sweep   string          `json:"sweep"`
	Index   int64           `json:"index"`
	Attempt int             `json:"attempt"`
	Time    time.Time       `json:"time"`
	Start   *Start          `json:"start,omitempty"`   // of StartedEvent, and of EndedEvent when the program began
	Samples []metric.Sample `json:"samples,omitempty"` // of SamplesEvent
	// of SamplesEvent: the metrics as they are now
	Newest  metric.Stored `json:"newest,omitempty"`
	Outcome *Outcome      `json:"outcome,omitempty"` // of EndedEvent
	// Leftovers, of EndedEvent, tells that processes of its program are still being ended, until no heartbeat lists it.
	Leftovers bool       `json:"leftovers,omitempty"`
	Beat      *Heartbeat `json:"beat,omitempty"` // of JoinedEvent and LeftEvent
}

// Began is when the program of an attempt began, of a StartedEvent or an EndedEvent with Start, by the worker's clock.
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
	Image   string   `json:"image,omitempty"`   // of the worker's container, by digest; "": none, or not known
}

// Class is how an attempt ended. The retry rules of a definition go by class.
type Class string

// The classes of ends.
const (
	Success     Class = "success"
	Error       Class = "error"   // exit code or signal of the user's program
	TimedOut    Class = "timeout" // it ran longer than its definition allows
	OutOfMemory Class = "oom"     // the kernel ended it for want of memory
	Loss        Class = "lost"    // its worker went away, or the host could not run it
	Stopped     Class = "stopped" // the master asked for it: cancelled, superseded or interrupted
)

// Valid reports whether c is one of the classes.
func (c Class) Valid() bool {
	switch c {
	case Success, Error, TimedOut, OutOfMemory, Loss, Stopped:
		return true
	}
	return false
}

// Outcome is the end of an attempt.
type Outcome struct {
	Class    Class         `json:"class"`
	ExitCode *int          `json:"exit_code"`        // nil when a signal ended it, or it never began
	Reason   string        `json:"reason,omitempty"` // for people; empty after a success
	Duration time.Duration `json:"duration"`
	Metrics  metric.Final  `json:"metrics,omitempty"` // final values
	Stdout   Output        `json:"stdout"`
	Stderr   Output        `json:"stderr"`
	// Unmeasured is why metrics of files are missing, for people: of each a sentence.
	Unmeasured []string `json:"unmeasured,omitempty"`
	// Thinned tells of which of its metrics' values a curve can be drawn, where it is not all of them.
	Thinned *metric.Thinned `json:"thinned,omitempty"`
}

// plainOutcome is an Outcome without its methods.
type plainOutcome Outcome

// outcomeWire is the JSON form: what is infinite among the metrics is null there, and stands beside
// them, as do their spans.
type outcomeWire struct {
	plainOutcome
	Infinite metric.Infinite `json:"infinite,omitempty"`
	Spans    metric.Spans    `json:"spans,omitempty"`
}

// MarshalJSON writes the fields, and infinite and spans where a metric has them.
func (o Outcome) MarshalJSON() ([]byte, error) {
	return json.Marshal(outcomeWire{plainOutcome(o), o.Metrics.Infinite(), o.Metrics.Spans()})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (o *Outcome) UnmarshalJSON(data []byte) error {
	var w outcomeWire
	if err := json.Unmarshal(data, &w); err != nil {
		return err
	}
	*o = Outcome(w.plainOutcome)
	o.Metrics = o.Metrics.Restored(w.Infinite).Spanned(w.Spans)
	return nil
}

// MostHostFaults is after how many host faults in a row a worker takes nothing more by itself, and the master leaves it alone.
const MostHostFaults = 3

// fast is how long an attempt may have lasted that its host could not run: what ran for longer says nothing of the next.
const fast = time.Second

// HostFault reports whether the host could not run the attempt: it lacks what every attempt needs, such as space, memory or
// the files of the revision.
func (o *Outcome) HostFault() bool {
	return o.Class == Loss && strings.HasPrefix(o.Reason, "infra:") && o.Duration < fast
}

// Ran reports whether the program ran, to its end or until its time was over: so its host can run something. Of one that could
// not begin, was lost or was stopped that is not known.
func (o *Outcome) Ran() bool {
	switch o.Class {
	case Loss, Stopped:
		return false
	case Success:
		return true
	}
	return o.ExitCode != nil || o.Duration > 0
}

// Exited reports whether a program that ended so did by itself, and had the time to write
// everything. Shells exit with codes from 128 on where a signal ended a command of theirs.
func (o *Outcome) Exited() bool {
	return o.Class == Success || o.Class == Error && o.ExitCode != nil && *o.ExitCode >= 0 && *o.ExitCode < 128
}

// MostUnread bounds Unread: programs can make up names in JSON lines.
const MostUnread = 10

// Output is what became of one stream of an attempt.
type Output struct {
	Bytes     int64  `json:"bytes"`               // of what the program printed that are in the file
	Printed   int64  `json:"printed,omitempty"`   // by the program, where that is more
	Truncated bool   `json:"truncated,omitempty"` // the file holds less than what was printed
	Error     string `json:"error,omitempty"`     // why, where it is not the ceiling: no space left on device
	// Unread is what matched a metric last and was no number, of the first MostUnread metrics.
	Unread []metric.Rejected `json:"unread,omitempty"`
}
