package core

import (
	"log/slog"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// WorkerRecord is what outlives the processes of a worker.
type WorkerRecord struct {
	Name        string
	Incarnation string // of the process whose registration was processed last; "": none yet
	Host        string
	Program     string // version
	Started     int    // slots that it was started with
	Drained     bool   // it was asked to take nothing new
	DrainedFor  string // why: ForReplacement, or "": a person asked
	Slots       int    // that were asked for; 0: as started
	Image       string // as in its heartbeats
	Environment string // as in its heartbeats
}

// worker is what is known of a worker.
type worker struct {
	record  WorkerRecord
	unsaved bool           // record is not in the store as it is
	beat    task.Heartbeat // the newest; zero: none since the core was loaded
	gpus    hostGPUs       // as in beat
	host    *host          // nil: not known
	seenAt  time.Time      // when that came

	awayReason string // why it counts as away; "": it does not
	awaySince  time.Time
	mustReturn bool   // it was away, and its queued tasks may have been rescheduled
	leaving    string // the incarnation that signed off

	otherVersion   int // the version of its messages, if it is not this program's; else 0
	droppedVersion int // the version of its events that were dropped because of that, once logged

	quarantine   quarantine
	mismatches   map[attemptKey]mismatch
	unregistered *mismatch // its registration does not come; nil: it has
	leftovers    leftovers
	restart      restartRequest
	older        olderProcesses
	rival        Rival     // the process of its name that was asked to end last
	rivalAt      time.Time // when that was; zero: never
	joins        rateLimit // audit entries of its processes
	stops        rateLimit
	logLines     rateLimit

	lastEventTime time.Time // of its newest event, by its clock
	lastEventAt   time.Time // when that came

	key        []byte // of the registered process: what only it may read is sealed to it
	released   map[task.Need]*release
	keyRefused bool // it asked with another key, and that was logged

	foreignLogged bool // it reported attempts that were not placed on it, and that was logged

	assigned      []assignment // by the sweeps' order
	takesTasks    bool         // it is counted in Core.available, and slots in Core.slots
	slots         int          // that its attempts may use now
	undersupplied bool         // it is counted in Core.undersupplied
	touched       bool         // it is in Core.touched
	idle          bool         // it is in Core.idle
	noRoomFor     needKinds    // of its host as it is
	batches       []task.Batch // that a placement gives it
}

// assignment is how many tasks of a sweep a worker has, or is about to have.
type assignment struct {
	sweep *activeSweep
	tasks int
}

// MaxWorkers bounds the workers that are known.
const MaxWorkers = 1024

// worker returns a worker, which it adds if it is not known.
func (c *Core) worker(name string) *worker {
	w := c.workers[name]
	if w == nil {
		w = &worker{record: WorkerRecord{Name: name}}
		c.workers[name] = w
		at, _ := slices.BinarySearchFunc(c.ordered, w, byName)
		c.ordered = slices.Insert(c.ordered, at, w)
	}
	return w
}

// admits reports whether a worker is known or may be added.
func (c *Core) admits(name string) bool {
	if name == "" || c.workers[name] == nil && len(c.workers) >= MaxWorkers {
		if name != "" && !c.tooManyLogged {
			c.log(slog.LevelError, "too many workers: remove those that are gone with "+
				"`run-tasks workers forget`", "worker", name, "known", len(c.workers))
			c.tooManyLogged = true
		}
		return false
	}
	return true
}

// save has the worker's record written with this step.
func (c *Core) save(w *worker) {
	if !w.unsaved {
		w.unsaved = true
		c.unsaved = append(c.unsaved, w)
	}
}

// updateAssigned brings up to date how many tasks of a sweep a worker has.
func (w *worker) updateAssigned(a *activeSweep) {
	bySweep := func(h assignment, a *activeSweep) int { return serially(h.sweep, a) }
	at, listed := slices.BinarySearchFunc(w.assigned, a, bySweep)
	tasks := a.ledger.Assigned(w.record.Name)
	switch {
	case tasks > 0 && listed:
		w.assigned[at].tasks = tasks
	case tasks > 0:
		w.assigned = slices.Insert(w.assigned, at, assignment{a, tasks})
	case listed:
		w.assigned = slices.Delete(w.assigned, at, at+1)
	}
}

// registered reports whether the process that speaks is the one whose registration was processed.
func (w *worker) registered() bool {
	return w.beat.Incarnation != "" && w.beat.Incarnation == w.record.Incarnation
}

// newest returns the process that started last, of those that spoke or registered.
func (w *worker) newest() string { return max(w.beat.Incarnation, w.record.Incarnation) }

// available reports whether a worker may get tasks.
func (w *worker) available() bool {
	return w.registered() && w.awayReason == "" && w.refusal() == "" && !w.record.Drained &&
		!w.beat.Draining && !w.restarting() && w.quarantine.until.IsZero()
}

// usableSlots returns the slots that attempts of a worker may use: not those in which processes of
// attempts that have ended are being ended, and on probation one.
func (w *worker) usableSlots() int {
	slots := max(0, w.beat.Slots-w.beat.Ending)
	if w.quarantine.probation {
		slots = min(1, slots)
	}
	return slots
}

// refusal returns why a worker's program gets no tasks; "" if it may.
func (w *worker) refusal() string {
	if w.otherVersion > 0 {
		return task.Mismatch(w.otherVersion, task.Version)
	}
	return w.beat.Refuses
}

// consider has the next placement look at a worker, of which something may have changed. The others
// of its host may have room now.
func (c *Core) consider(w *worker) {
	if c.reserving > 0 && w.host != nil {
		w.host.forgetNoRoom()
	}
	if !w.touched {
		w.touched = true
		c.touched = append(c.touched, w)
	}
}

// heartbeat applies a heartbeat.
func (c *Core) heartbeat(h *task.Heartbeat) {
	if !c.admits(h.Worker) {
		return
	}
	if task.Foreign(h.Version) {
		c.refuseVersion(h)
		return
	}
	w := c.worker(h.Worker)
	c.consider(w)
	if h.Incarnation == w.leaving || h.Incarnation < w.newest() && !c.adoptOlder(w, h) {
		return // of a process that has ended, or that another has followed
	}
	c.refuseOlder(w)
	reconnected := w.awayReason != "" || w.seenAt.IsZero()
	w.mustReturn = w.mustReturn || w.awayReason != "" || w.otherVersion > 0
	if w.awayReason != "" || w.beat.Incarnation != h.Incarnation {
		c.joined = append(c.joined, w)
	}
	w.otherVersion, w.droppedVersion, w.awayReason, w.seenAt = 0, 0, "", c.now
	c.setBeat(w, *h)
	if w.leftovers.resolve(h, c.now, min(c.options.Lease/3, lateHeartbeat)) {
		c.retryIdle = true
	}
	if w.record.Incarnation == "" {
		c.register(w, h)
	}
	if c.options.Local || !w.registered() {
		return
	}
	if reconnected {
		c.takeUp(w)
	}
	c.repeatRequests(w)
	c.reconcile(w)
	c.answerNeeds(w, h)
}

// register makes a process that of its worker.
func (c *Core) register(w *worker, h *task.Heartbeat) {
	r := &w.record
	r.Incarnation, r.Host, r.Program, r.Started = h.Incarnation, h.Host, h.Program, h.Slots
	r.Image, r.Environment = h.Image, h.Environment
	w.mismatches, w.unregistered, w.quarantine, w.leftovers = nil, nil, quarantine{}, nil
	w.key, w.keyRefused, w.foreignLogged = h.Key, false, false
	c.save(w)
	c.consider(w)
	c.auditJoin(w)
}

// join processes the registration of a worker's process, once.
func (c *Core) join(h *task.Heartbeat) {
	if !c.admits(h.Worker) {
		return
	}
	w := c.worker(h.Worker)
	if h.Incarnation <= w.record.Incarnation {
		return
	}
	first := w.record.Incarnation == ""
	c.register(w, h)
	if first {
		return
	}
	departure := Vanished
	if h.StartsReported {
		departure = SignedOff
	}
	c.takeUp(w)
	reason := "its worker " + h.Worker + " ended and began anew"
	for _, part := range w.assigned {
		c.ledger(part.sweep).Rejoin(h.Worker, reason, departure, c.now)
	}
}

// leave processes that a worker's process ends by itself. What is on its way to it goes to others.
func (c *Core) leave(h *task.Heartbeat) {
	w := c.workers[h.Worker]
	if w == nil || h.Incarnation != w.record.Incarnation || w.leaving == h.Incarnation {
		return
	}
	w.leaving = h.Incarnation
	away := "it was stopped"
	if w.restart.incarnation == h.Incarnation || h.Leaving {
		away = "it starts again"
	}
	c.evict(w, away, "its worker "+h.Worker+" was stopped", SignedOff)
}

// takeUp resumes the lapsed attempts of a worker.
func (c *Core) takeUp(w *worker) {
	for _, a := range c.inOrder {
		if len(a.ledger.lapsedOf(w.record.Name)) > 0 {
			c.ledger(a).TakeUp(w.record.Name)
		}
	}
	c.sync()
}

// evict takes everything from a worker and empties its queue: what would start when it returns does
// not count.
func (c *Core) evict(w *worker, away, reason string, departure Departure) {
	if departure != LeaseEnded {
		c.takeUp(w)
	}
	if w.awayReason == "" {
		w.awaySince = c.now
	}
	w.awayReason = away
	w.mismatches, w.unregistered, w.leftovers = nil, nil, nil
	c.send(Message{Worker: w.record.Name, Remove: true})
	for _, part := range w.assigned {
		c.ledger(part.sweep).MarkLost(w.record.Name, reason, departure, c.now)
	}
	c.consider(w)
	c.retryIdle = true // what waited for leftovers there may be placed
}
