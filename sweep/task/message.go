package task

import "time"

// ControlKind says what a Control asks of a worker.
type ControlKind string

// The kinds of control messages.
const (
	StopControl   ControlKind = "stop"   // one attempt: SIGTERM and its grace, or dropped when it has not begun
	RecallControl ControlKind = "recall" // give back every attempt of a sweep that has not begun
	FollowControl ControlKind = "follow" // send the live output of a sweep, or no longer (Off)
	DrainControl  ControlKind = "drain"  // give back what has not begun, finish what runs, take nothing new
)

// Control is a message from the master to one worker.
type Control struct {
	Version int         `json:"version"`
	Kind    ControlKind `json:"kind"`
	Sweep   string      `json:"sweep,omitempty"`
	Index   int64       `json:"index,omitempty"`
	Attempt int         `json:"attempt,omitempty"`
	Off     bool        `json:"off,omitempty"`
	Reason  string      `json:"reason,omitempty"` // for people
}

// Heartbeat is how a worker makes itself known: at its start, every two seconds, and when its slots change.
type Heartbeat struct {
	Version     int    `json:"version"`
	Worker      string `json:"worker"`
	Incarnation string `json:"incarnation"` // new with every start of the worker
	Host        string `json:"host"`
	Slots       int    `json:"slots"`
	Draining    bool   `json:"draining,omitempty"`
}

// Line is one line of live output, without its line end. Live output is for people who follow: it is bounded and may
// have gaps; the whole output is in the task's files.
type Line struct {
	Sweep   string    `json:"sweep"`
	Index   int64     `json:"index"`
	Attempt int       `json:"attempt"`
	Host    string    `json:"host"`
	Slot    int       `json:"slot"`
	Stderr  bool      `json:"stderr,omitempty"`
	Time    time.Time `json:"time"`
	Text    string    `json:"text"`
	Missed  int64     `json:"missed,omitempty"` // lines of this stream left out before this one
}
