package api

import (
	"time"
)

// FileHeader identifies the file whose bytes an answer has. Who asks for what follows them names
// it.
const FileHeader = "Output-File"

// Event is the data of one event.
type Event struct {
	Update
	// Snapshot reports that the tasks are not those that changed: together with the events before
	// and after it that say so, it has every task that was handed out, as it is now, apart from
	// those that ended before the client began to follow.
	Snapshot bool `json:"snapshot,omitempty"`
	// More reports that tasks which changed already are still to come: the sweep may have ended
	// before all of it was sent.
	More bool `json:"more,omitempty"`
}

// KeepAlive is how often a follower hears at least something.
const KeepAlive = 15 * time.Second

// Root is what all paths begin with: the version of the API.
const Root = "/v1"

// KeyHeader is the header with the key under which a write may be repeated.
const KeyHeader = "Idempotency-Key"

// EventHeader is where the id of an event stands.
const EventHeader = "Last-Event-ID"
