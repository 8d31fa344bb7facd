package queue

import (
	"context"
	"time"
)

// HeadBytes is the most that a Letter shows of its message.
const HeadBytes = 512

// AllLetters stands for every dead letter.
const AllLetters = ""

// Letters is the part of a Hub for people: what could not be delivered, and what waits. Dead
// letters are messages that could not be read, and those that the broker put aside by its own
// rules, such as a limit of deliveries; they stay until somebody requeues or drops them. Of a long
// message that could not be read only the beginning is kept, and of one worker so many: the others
// are only counted, in Status. Errors are ErrAway: what was asked may be done in part, and may be
// asked again.
type Letters interface {
	// Dead lists the newest dead letters, at most so many.
	Dead(ctx context.Context, most int) (Dead, error)
	// Requeue puts dead letters back to where they were to be read: those of one id, or AllLetters. One that still cannot be
	// read dies again. One for a worker whose queue is gone stays. A letter may come twice when the queue goes away meanwhile.
	// Where there are very many, as Dead.Partly says, one call takes a part of them.
	Requeue(ctx context.Context, id string) (Requeued, error)
	// Drop forgets dead letters, those of one id or AllLetters, and tells how many they were.
	Drop(ctx context.Context, id string) (dropped int, err error)
	// Depths tells how much waits in the queues: of the workers, in the order given, and then in the others. A queue that is
	// not there is left out.
	Depths(ctx context.Context, workers ...string) ([]Depth, error)
}

// Dead is the dead letters.
type Dead struct {
	Count   int
	Letters []Letter // the newest first
	Partly  bool     // there are so many that only the first to die were looked at
}

// Letter is one message that could not be delivered.
type Letter struct {
	ID     string // the same as long as it is dead; equal messages may share it
	From   string // the queue it was in: tasks.WORKER or events; "": not known
	Reason string // why it is here, for people
	Time   time.Time
	Size   int    // of the message, in bytes
	Head   []byte // the first of them, HeadBytes at most
}

// Requeued is what became of dead letters that were to be read again.
type Requeued struct {
	Moved int
	// stayed, as the queue that they were in is gone, or only the beginning of the message was kept
	Left int
}

// Depth is how much waits in one queue.
type Depth struct {
	Queue     string // tasks.WORKER, events, heartbeats or dead
	Messages  int    // nobody has them yet
	Unacked   *int   // somebody has them, and may still give them back; nil: not known
	Consumers *int   // who reads there; nil: not known
}
