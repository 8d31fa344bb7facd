package amqp

import (
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

// The broker takes what every queue has to send.
var _ [maxSentBytes - queue.MaxTaskBytes]struct{}

const (
	// maxSentBytes is the longest message that is sent, and read.
	maxSentBytes = rights.MaxMessageBytes
	// maxEventsBytes is how much of several events travels in one message, so that it fits one
	// frame (128 KiB).
	maxEventsBytes = 120 << 10
)

// maxBytesFrom is the longest message from a worker of each kind, in bytes; its endpoint sends
// nothing longer. An event with a thousand metrics, or two thousand samples, has some hundred KiB,
// a heartbeat of 4096 slots that all run 500 KiB.
var maxBytesFrom = map[rights.MessageKind]int{
	rights.Events:     1 << 20,
	rights.Heartbeats: 640 << 10,
	rights.Lines:      256 << 10,
	rights.Pieces:     1 << 20,
}

// maxParts is how many parts a message from a worker may have at any depth: elements of lists and
// members of objects. An event of two thousand samples has 14,000, a heartbeat of 4096 slots
// 20,000.
const maxParts = 1 << 16
