package task

import "time"

// DeadLetter is a message that could not be read, or that the broker gave up on.
type DeadLetter struct {
	// ID is the same whenever the queue delivers the dead letter, and another one when the message
	// was requeued and is dead again.
	ID     string
	Queue  string // that the message was in: tasks.WORKER or events, for example; "": not known
	Reason string // why it is dead, for people
	Time   time.Time
	Worker string // that sent what could not be read; "": nobody whose dead letters are bounded
	Sender Sender
	Size   int    // of the message, in bytes
	Body   []byte // the message, or where it is shorter than Size its beginning
}

// Sender is who sent a message to the master, as the broker vouches for it. The zero value is not
// known.
type Sender struct{ User, Key string }
