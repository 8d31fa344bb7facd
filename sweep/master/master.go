// Package master puts store, queue and ledger together: it owns the store and decides every transition of a task.
//
// One goroutine, the loop, holds the ledgers. It takes what came in (events, calls of people, heartbeats), lets the
// ledgers decide, places tasks on workers, commits all of it as one group, and only then acknowledges, publishes,
// answers and tells. So whoever got an answer finds it in the store after any crash. The commands import it.
package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/secret"
	"mlframework/sweep/store"
)

// ErrStopped is the error of a call that the master did not answer, because its loop has ended.
var ErrStopped = errors.New("the master has stopped")

// Options are what a master works with. Store and Queue are needed.
type Options struct {
	Store *store.Store
	Queue queue.Hub
	Log   *slog.Logger
	// Alone tells that the workers live and die with this process. What the store says is with a worker when the master
	// starts is then lost, and sweeps that ran are paused until somebody resumes them.
	Alone bool
	// Secrets is the folder of the values of sweeps' secrets, for this master alone; "": it takes no sweep that has any. With
	// Alone the workers have them.
	Secrets string
	Lease   time.Duration    // Lease
	Now     func() time.Time // time.Now
}

// Master runs sweeps. Its methods may be called concurrently. Before Run they wait for it; after Run they fail with
// ErrStopped.
type Master struct {
	o     Options
	calls chan call
	watch watchers

	senders senders

	gone chan struct{} // closed when Run has ended
	fate error         // why; read after gone

	// What follows is the loop's.
	sweeps    map[string]*active
	turn      []string  // ids of sweeps, in the order in which they get slots
	placed    time.Time // when tasks were last handed out
	supplied  bool      // every worker has enough at hand, as of then
	workers   map[string]*member
	emptied   string // a worker that gets nothing until a task has it alone
	missing   missing
	rivals    rivals
	slots     int                  // of the workers that take tasks, together
	ticked    time.Time            // when leases were last looked at
	whole     time.Time            // every lease was whole then
	editions  int64                // of environs, so far
	environs  map[string]environ   // what tasks inherit, of sweeps whose submitter said it
	followers map[string]int       // of live output, by sweep
	expected  map[string]time.Time // until when somebody is about to follow a sweep's output
	vault     *secret.Vault        // nil: there is none
	crowded   bool                 // there are more workers than are taken, and that was said
	entries   []store.Deed         // of what the master itself does, to be kept with the step
	post      post
	reads     reads
	tally     tally
}

// New makes a master.
func New(o Options) *Master {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Lease <= 0 {
		o.Lease = Lease
	}
	m := &Master{
		o: o, calls: make(chan call), gone: make(chan struct{}), fate: ErrStopped,
		sweeps: map[string]*active{}, environs: map[string]environ{}, workers: map[string]*member{}, followers: map[string]int{}, expected: map[string]time.Time{},
	}
	m.post.init(o.Queue, o.Log)
	return m
}

// Run is the loop; call it once. It returns nil when ctx ends, and an error when the store cannot be read or written:
// then nothing was acknowledged that is not on disk.
func (m *Master) Run(ctx context.Context) (err error) {
	defer close(m.gone)
	defer func() {
		if err != nil {
			m.fate = fmt.Errorf("%w: %w", ErrStopped, err)
		}
	}()
	in, end := m.inputs(ctx)
	defer end()
	if err := m.begin(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	var last step
	for {
		s, ok := m.gather(ctx, in, last)
		if !ok {
			return nil
		}
		if err := m.apply(ctx, s); err != nil {
			return err
		}
		last = *s
	}
}

// call is work for the loop. It is answered when its changes are on disk.
type call struct {
	do   func(context.Context) error
	done chan error
	deed *Deed // to be kept with it; nil: none
}

// do lets the loop run f and waits until what it changed is on disk. Ctx bounds the wait for the loop to take it; then
// the answer is near, and f never runs on after do has returned.
func (m *Master) do(ctx context.Context, f func(context.Context) error) error {
	return m.ask(ctx, call{do: f, done: make(chan error, 1)})
}

func (m *Master) ask(ctx context.Context, c call) error {
	select {
	case m.calls <- c:
	case <-m.gone:
		return m.fate
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case err := <-c.done:
		return err
	case <-m.gone:
	}
	select {
	case err := <-c.done:
		return err
	default:
		return m.fate
	}
}
