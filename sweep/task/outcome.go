package task

import (
	"encoding/json"
	"strings"
	"time"

	"mlframework/sweep/metric"
)

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
	Class Class `json:"class"`
	// nil when a signal ended it, or it never began
	ExitCode *int   `json:"exit_code"`
	Reason   string `json:"reason,omitempty"` // for people; empty after a success
	// Frame is where in the user's code the exception of Reason was raised: "train.py:41"; "": not
	// known, or it is none.
	Frame    string        `json:"frame,omitempty"`
	Duration time.Duration `json:"duration"`
	Metrics  metric.Final  `json:"metrics,omitempty"` // final values
	Stdout   Output        `json:"stdout"`
	Stderr   Output        `json:"stderr"`
	// Left is how much the folder of the task holds after it, in bytes; 0: not known.
	Left int64 `json:"left,omitempty"`
	// Unmeasured is why metrics of files are missing, for people: of each a sentence.
	Unmeasured []string `json:"unmeasured,omitempty"`
	// Thinned says of which of its metrics' values a curve can be drawn, if it is not all of
	// them.
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

// NoSpaceReason is how the reason begins with which a worker without disk space accepts nothing.
const NoSpaceReason = "no space left for outputs"

// MaxHostFaults is after how many host faults in a row a worker takes nothing more by itself, and
// the master leaves it alone.
const MaxHostFaults = 3

// maxHostFaultDuration is how long an attempt may have lasted that its host could not run: what ran
// for longer says nothing of the next.
const maxHostFaultDuration = time.Second

// HostFault reports whether the host could not run the attempt: it lacks what every attempt needs,
// such as space, memory or the files of the revision.
func (o *Outcome) HostFault() bool {
	return o.Class == Loss && strings.HasPrefix(o.Reason, "infra:") &&
		o.Duration < maxHostFaultDuration
}

// Failed reports whether the program failed or ran out of memory. A program that was interrupted or
// timed out did not fail.
func (o *Outcome) Failed() bool { return o.Class == Error || o.Class == OutOfMemory }

// Ran reports whether the program ran, to its end or until its time was over: so its host can run
// something. Of one that could not begin, was lost or was stopped that is not known.
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
	return o.Class == Success || o.Class == Error && o.ExitCode != nil && *o.ExitCode >= 0 &&
		*o.ExitCode < 128
}

// Output is what became of one stream of an attempt.
type Output struct {
	// of what the program printed that are in the file
	Bytes     int64 `json:"bytes"`
	Printed   int64 `json:"printed,omitempty"`   // by the program, where that is more
	Truncated bool  `json:"truncated,omitempty"` // the file holds less than what was printed
	// why, where it is not the ceiling: no space left on device
	Error string `json:"error,omitempty"`
	// Unread is what matched a metric last and was no number, of the first MaxUnread metrics.
	Unread []metric.Rejected `json:"unread,omitempty"`
}
