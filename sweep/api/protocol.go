package api

import (
	"time"
)

// FileHeader identifies the file whose bytes an answer has. A request for the bytes that follow
// sends it back.
const FileHeader = "Output-File"

// OffsetHeader is where in its file the first byte of an answer is.
const OffsetHeader = "Output-Offset"

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

// KeepAlive is the interval of keep-alives to followers.
const KeepAlive = 15 * time.Second

// Root is what all paths begin with: the version of the API.
const Root = "/v1"

// KeyHeader is the header with the idempotency key of a write.
const KeyHeader = "Idempotency-Key"

// EventHeader is the header with the id of an event.
const EventHeader = "Last-Event-ID"
