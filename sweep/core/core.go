// Package core decides what happens to sweeps, tasks and workers: which attempt runs where, what
// follows its end, who has gone, and what is written, sent and answered. Core is the whole; a
// Ledger owns every transition of the tasks of one sweep:
//
//	pending ─► queued ─► claimed ─► running ─► succeeded
//	   │          │         │          ├─────► failed    (exit code or signal of the user's program)
//	   │          │         │          ├─────► timeout
//	   │          │         │          ├─────► oom
//	   │          │         └──────────┴─────► lost ──┐  (worker gone; or "infra": the host could not run it)
//	   └──────────┴──► cancelled                      └─► pending again, while retry allows
//
// The same picture and its table stand in docs/states.md. The package is pure: state and input in,
// new state and effects out ([Core.Step]); time is a parameter, and effects are to be had only
// after the store has the rows ([Output.Commit]).
package core

import (
	"log/slog"
	"time"

	"mlframework/sweep/task"
)

// DefaultLease is how long a worker may be silent before its tasks are placed elsewhere, unless
// Options say otherwise.
const DefaultLease = 2 * time.Minute

// Options are what a core decides by. The zero value is that of a master with workers on hosts.
type Options struct {
	// Local says that the workers live and die with this process. What the store says is with a
	// worker when the core is loaded is then lost, and sweeps that ran are paused until they are
	// resumed.
	Local bool
	Lease time.Duration // 0: DefaultLease
	// Restarted says that the core follows another of the same process: workers of a local run are
	// alive.
	Restarted bool
	// Memory is what that core knew and the store does not; see Core.Memory.
	Memory Memory
}

// Core decides everything about sweeps, tasks and workers: transitions, leases, quarantine,
// reconciliation, placement. It does no I/O and has no clock and no logger. The same inputs at the
// same times lead to the same outputs. It is for one goroutine.
//
// Apart from Memory it is a function of the store: Load rebuilds it from the rows that its outputs
// asked to be written, and from what workers say of themselves within one lease.
type Core struct {
	options Options
	now     time.Time // of the step that is being decided

	sweeps        map[string]*activeSweep
	inOrder       []*activeSweep // the sweeps in the order in which they were added
	queue         sweepQueue
	due           dueQueue
	serial        int64                 // of the sweep that was added last
	withExclusive map[*activeSweep]bool // sweeps with exclusive tasks that wait
	exclusives    []exclusiveTask       // for reuse: see exclusiveWaiting
	demanding     int                   // sweeps that not every worker can run
	reserving     int                   // sweeps whose tasks reserve what they need
	lacked        bool                  // a worker has lacked files of a sweep
	kinds         map[string]*needKind  // by needs as text
	kindsUsed     needKinds             // their bits
	noneTold      bool                  // followers were told that no worker takes tasks
	gathering     gathering
	placements    int64          // that there were
	changed       []*activeSweep // in this step, in order

	hosts           map[hostKey]*host
	workers         map[string]*worker
	ordered         []*worker    // the workers by name
	available       int          // workers that take tasks
	slots           int          // of these workers, together
	undersupplied   int          // those of them with less than half of their prefetch
	touched         []*worker    // to be considered by the next placement
	idle            []*worker    // that could get more, and there was nothing; by name
	filled          []*worker    // that the placement gave something
	considered      []*worker    // buffer of the placement: those that were touched
	tried           []*worker    // and those that were idle
	running         []attemptKey // buffer of reconcile: what a worker says it runs, in order
	retryIdle       bool         // there may be something for them now
	exclusiveWorker string       // the worker that gets nothing but an exclusive task; "": none
	tooManyLogged   bool         // there are more workers than are admitted, and that was logged
	tickedAt        time.Time    // when tick last ran
	// leasesRenewedAt is when every lease was last known to be whole: no worker could be heard, or
	// this process was held up.
	leasesRenewedAt time.Time

	memory  Memory
	missing missingSweeps

	unknownWorkers rateLimit // of log entries about workers that are not known

	rows       Rows
	sweepRows  []SweepRows // memory of the rows
	effects    Effects
	logged     []LogEntry
	orders     []Order // of ledgers, for the messages of this step
	unsaved    []*worker
	joined     []*worker
	audit      *AuditEntry // of the command that is being decided; nil: none
	unknown    map[string]bool
	unreadable map[string]bool
}

// Loaded is a sweep as the store has it.
type Loaded struct {
	Seq            int64 // by which the store knows it
	Record         Record
	Head           Head
	Open           []Task  // the rows that have not ended
	CancelledEarly []int64 // the indexes of rows beyond the cursor
	// Edition is which values of its secrets the master has; "": none.
	Edition     string
	PausedSince time.Time // as is kept beside the values; zero: it is not paused, or not known
}

// Load makes a core of what the store has. The output is what follows from that: attempts are
// asked again to end, sweeps without their secrets wait.
func Load(o Options, sweeps []Loaded, workers []WorkerRecord, now time.Time) (*Core, Output) {
	if o.Lease <= 0 {
		o.Lease = DefaultLease
	}
	c := &Core{options: o, now: now, memory: o.Memory.clone(), hosts: map[hostKey]*host{},
		workers: map[string]*worker{}, kinds: map[string]*needKind{},
		sweeps: map[string]*activeSweep{}, withExclusive: map[*activeSweep]bool{}}
	for _, r := range workers {
		c.worker(r.Name).record = r
	}
	for _, s := range sweeps {
		c.Add(s)
	}
	for _, s := range sweeps {
		a := c.sweeps[s.Head.ID]
		c.pauseWithoutSecrets(a)
		if o.Local && !o.Restarted {
			c.ledger(a).RunKilled(now)
		}
	}
	return c, c.finish()
}

// Step decides. It returns what has to be kept, and what is done after that, which is valid until
// the next step.
func (c *Core) Step(in Input, now time.Time) Output {
	c.now, c.unknown, c.unreadable, c.audit = now, in.Unknown, in.Unreadable, nil
	if in.Audit != nil { // a step that is dropped leaves the caller's as it was
		entry := *in.Audit
		c.audit = &entry
	}
	var counted Output
	if in.Command != nil { // first: it was prepared by what the store had before this step
		c.command(in.Command)
	}
	for i := range in.Heartbeats {
		c.heartbeat(&in.Heartbeats[i])
	}
	for i := range in.Events {
		c.event(&in.Events[i], &counted)
	}
	if !in.OnlyInput {
		c.tick(in.Queue)
		c.place()
	}
	done := c.finish()
	done.Events, done.Lag, done.Refused = counted.Events, counted.Lag, counted.Refused
	return done
}

// finish collects what a step decided and prepares the next.
func (c *Core) finish() Output {
	c.sync()
	c.rows.Sweeps = c.sweepRows[:0]
	for _, a := range c.changed {
		a.changed = false
		c.collectRows(a)
	}
	c.changed = c.changed[:0]
	for _, w := range c.unsaved {
		w.unsaved = false
		if c.workers[w.record.Name] == w {
			c.rows.Workers = append(c.rows.Workers, w.record)
		}
	}
	for i := range c.orders {
		c.send(Message{Worker: c.orders[i].Worker, Control: &c.orders[i].Control})
	}
	for _, w := range c.joined {
		c.sendState(w)
	}
	c.sweepRows = c.rows.Sweeps
	out := Output{rows: c.rows, effects: c.effects, Log: c.logged, Supplied: c.undersupplied == 0}
	c.rows, c.effects, c.logged, c.orders = Rows{}, Effects{}, nil, nil
	c.unsaved, c.joined = c.unsaved[:0], c.joined[:0]
	return out
}

// collectRows notes what changed about a sweep. One that has ended or was removed is
// dropped.
func (c *Core) collectRows(a *activeSweep) {
	if a.removed {
		c.drop(a)
		return
	}
	c.addNotices(a)
	changes := a.ledger.TakeChanges()
	c.orders = append(c.orders, changes.Controls...)
	if !changes.Empty() || a.rewritten {
		c.rows.Sweeps = append(c.rows.Sweeps, SweepRows{Seq: a.seq, Record: a.record,
			Head: a.ledger.head, Changes: changes, Rewrite: a.rewritten, Code: a.code,
			Ranked: a.ranked})
		a.rewritten, a.code, a.ranked = false, "", false
	}
	if !a.ledger.head.Ended.IsZero() {
		c.drop(a)
	}
}

// send adds a message to those of the step.
func (c *Core) send(m Message) { c.effects.Messages = append(c.effects.Messages, m) }

// sendControl sends a control message.
func (c *Core) sendControl(worker string, m task.Control) {
	m.Version = task.Version
	c.send(Message{Worker: worker, Control: &m})
}

func (c *Core) log(level slog.Level, text string, args ...any) {
	c.logged = append(c.logged, LogEntry{level, text, args})
}

// Next is when the next step is due although nothing comes in: leases are to be looked at, or a
// task that backs off may be placed. Zero: never.
func (c *Core) Next() time.Time {
	var next time.Time
	if !c.options.Local && (len(c.workers) > 0 || c.keepsSecrets()) {
		next = c.tickedAt.Add(tickInterval)
	}
	if due := c.due.next(); !due.IsZero() && (next.IsZero() || due.Before(next)) {
		next = due
	}
	return next
}
