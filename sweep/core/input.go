package core

import (
	"time"

	"mlframework/sweep/task"
)

// Input is what came in since the last step. The zero value is a tick.
type Input struct {
	Heartbeats []task.Heartbeat
	Events     []Event
	Command    Command     // nil: none
	Audit      *AuditEntry // of the command; nil: none is kept
	Queue      QueueStatus
	// Unknown are sweeps that are named in Heartbeats and Events and are in no store. Others have
	// to be added (Core.Add) before their events come.
	Unknown map[string]bool
	// Unreadable are sweeps whose secrets are asked for in Heartbeats and cannot be read.
	Unreadable map[string]bool
	// OnlyInput decides what came in, and neither looks after the workers nor places tasks.
	OnlyInput bool
}

// QueueStatus is how the queue to the workers is.
type QueueStatus struct {
	Down  bool      // it is away, or takes nothing
	Since time.Time // when it was reached
}
