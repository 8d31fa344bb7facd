// Package master runs a core on a store and a queue.
//
// One goroutine, the loop, takes what came in (events, heartbeats, calls), lets the core decide,
// commits the rows of the step as one group, and only then acknowledges, publishes, answers and
// notifies. So a caller that got an answer finds it in the store after any crash. The commands
// import it.
package master

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/notify"
	"mlframework/sweep/queue"
	"mlframework/sweep/secret"
	"mlframework/sweep/store"
)

// ErrStopped is the error of a call that the master did not answer, because its loop has ended.
var ErrStopped = errors.New("the master has stopped")

// Options are what a master works with. Store and Queue are needed.
type Options struct {
	Store *store.Store
	Queue queue.MasterEndpoint
	Log   *slog.Logger
	// Local says that the workers live and die with this process; see core.Options.Local.
	Local bool
	// Secrets is the folder of the values of sweeps' secrets, for this master alone; "": it takes
	// no sweep that has any. With Local the workers have them.
	Secrets string
	Lease   time.Duration    // 0: core.DefaultLease
	Now     func() time.Time // time.Now
	Notify  notify.Sender    // of notices
}

// Master runs sweeps. Its methods may be called concurrently. Before Run they wait for it; after
// Run they fail with ErrStopped.
type Master struct {
	o      Options
	sweeps sweepStore
	calls  chan call
	watch  watchers

	senders senders

	ended   chan struct{} // closed when Run has ended
	exitErr error         // why; read after ended

	outbox   outbox
	reads    reads
	turns    measureTurns
	notices  notices
	started  time.Time // by the clock of the process
	sending  sending
	removing removing

	// What follows is the loop's.
	core    *core.Core
	vault   *secret.Vault // nil: there is none
	metrics *metrics      // what is registered of it is read by others, too
	// pausedUntil is until when nothing is decided, after a panic, but for what comes in.
	pausedUntil time.Time
	supplied    bool // after the last step: every worker has enough at hand
}

// sweepStore finds sweeps by their ids. Sweep searches all of them for one that may be meant, where
// there is none of an id: that is for people.
type sweepStore interface {
	HasSweep(ctx context.Context, id string) (bool, error)
	Sweep(ctx context.Context, id string) (store.Sweep, error)
	AttemptWorker(ctx context.Context, sweep string, index int64, attempt int) (
		store.AttemptWorker, error)
}

// New makes a master.
func New(o Options) *Master {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	m := &Master{o: o, sweeps: o.Store, calls: make(chan call), ended: make(chan struct{}),
		exitErr: ErrStopped, started: time.Now(), metrics: newMetrics()}
	m.outbox.init(o.Queue, o.Log)
	m.removing.init()
	m.sending.now, m.sending.done.L = map[noticeKey]bool{}, &m.sending.mu
	return m
}

// Run is the loop; call it once. It returns nil when ctx ends, and an error when the store cannot
// be read or written: then nothing was acknowledged that is not on disk.
func (m *Master) Run(ctx context.Context) (err error) {
	defer close(m.ended)
	defer func() {
		if err != nil {
			m.exitErr = fmt.Errorf("%w: %w", ErrStopped, err)
		}
	}()
	in, end := m.inputs(ctx)
	defer end()
	if err := m.load(context.WithoutCancel(ctx)); err != nil {
		return err
	}
	defer m.startSending(ctx)()
	defer m.startRemoving(ctx)()
	var last stepInput
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

// Settle brings the store of a run that was killed up to date, as a master with Local does when
// it starts: nothing of the run is alive. Run is not called then.
func (m *Master) Settle(ctx context.Context) error { return m.load(ctx) }

// notices are what workers did that a person should know of.
type notices struct {
	mu      sync.Mutex
	missing []core.Missing
	rivals  []core.Rival
	damaged map[string]error // by sweep or task
}

// note keeps how the core stands after a step.
func (n *notices) note(c *core.Core, now time.Time) {
	missing, rivals := c.Missing(), c.Rivals(now)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.missing, n.rivals = missing, rivals
}

// damage keeps what cannot be read in the store, and reports whether that is news.
func (n *notices) damage(id string, why error) (news bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, isTask := why.(*store.DamagedTask); n.damaged[id] != nil ||
		isTask && len(n.damaged) >= maxDamaged {
		return false
	}
	if n.damaged == nil {
		n.damaged = map[string]error{}
	}
	n.damaged[id] = why
	return true
}

// repaired forgets what cannot be read of a sweep.
func (n *notices) repaired(id string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	delete(n.damaged, id)
}

// hasDamaged reports whether a sweep is known to be damaged.
func (n *notices) hasDamaged(sweep string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.damaged[sweep] != nil
}

// maxDamaged bounds how many tasks that cannot be read are kept beside the sweeps.
const maxDamaged = 100

// Damaged lists why sweeps and tasks cannot be read that the master met since it started, by their
// ids: each error has the cause and the remedy.
func (m *Master) Damaged() (all []error) {
	m.notices.mu.Lock()
	defer m.notices.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.notices.damaged)) {
		all = append(all, m.notices.damaged[id])
	}
	return all
}

// Missing lists, by name, the sweeps of which workers told more than the store knows, until that is
// resolved.
func (m *Master) Missing() []core.Missing {
	m.notices.mu.Lock()
	defer m.notices.mu.Unlock()
	return m.notices.missing
}

// Rivals lists, by name, the workers whose name two processes had until less than a lease ago.
func (m *Master) Rivals() []core.Rival {
	m.notices.mu.Lock()
	defer m.notices.mu.Unlock()
	return m.notices.rivals
}
