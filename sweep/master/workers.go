package master

import (
	"context"
	"time"

	"mlframework/sweep/task"
)

// The states of a worker.
const (
	WorkerReady       = "ready"
	WorkerDraining    = "draining"    // a person asked it to take nothing new
	WorkerAway        = "away"        // its lease has ended; what it had was given to others
	WorkerQuarantined = "quarantined" // it failed at once whatever it got; it is tried again later
	WorkerRefused     = "refused"     // its program is newer than the master's
)

// Worker is a worker as people and programs are shown it. Its JSON names are a contract.
type Worker struct {
	Name    string      `json:"name"`
	Host    string      `json:"host"`
	Program string      `json:"program"` // version
	State   string      `json:"state"`
	Reason  *string     `json:"reason"` // of the state
	Slots   int         `json:"slots"`
	Wanted  *int        `json:"wanted_slots"` // what a person asked for; null: what the worker was started with
	Running []task.Busy `json:"running"`
	Waiting int         `json:"waiting"` // tasks that it has and has not begun
	Load    *task.Load  `json:"load"`
	Seen    *time.Time  `json:"seen"` // its last heartbeat, UTC; null: none since the master started
}

// UnknownWorker says that there is no such worker.
type UnknownWorker struct{ Name string }

func (e *UnknownWorker) Error() string { return "there is no worker " + e.Name }

// Workers lists the workers by name.
func (m *Master) Workers(ctx context.Context) (all []Worker, err error) {
	return nil, nil
}

// Drain lets a worker finish what runs and take nothing new; off undoes it. It outlives master and worker.
func (m *Master) Drain(ctx context.Context, worker string, off bool) (Worker, error) {
	return Worker{}, &UnknownWorker{worker}
}

// Resize changes how many attempts a worker runs at a time; 0 is what it was started with. It outlives master and worker.
func (m *Master) Resize(ctx context.Context, worker string, slots int) (Worker, error) {
	return Worker{}, &UnknownWorker{worker}
}

// Forget drops a worker that is away, and its queue.
func (m *Master) Forget(ctx context.Context, worker string) error { return &UnknownWorker{worker} }

// Output reads a piece of what a task printed from the worker that has it: attempt as numbered in the names of the output
// files, 0 the newest; from offset, at most length bytes and at most task.MostRead. It waits for the worker no longer than
// ctx; an answer that does not come is an error.
func (m *Master) Output(ctx context.Context, id task.ID, attempt int, stderr bool, offset int64, length int) (task.Piece, error) {
	return task.Piece{}, &UnknownWorker{}
}
