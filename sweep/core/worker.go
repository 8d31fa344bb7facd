package core

import (
	"cmp"
	"fmt"
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
	Slots       int    // that were asked for; 0: as started
	Image       string // as in its heartbeats
	Environment string // as in its heartbeats
}

// worker is what is known of a worker.
type worker struct {
	record  WorkerRecord
	unsaved bool           // record is not in the store as it is
	beat    task.Heartbeat // the newest; zero: none since the core was loaded
	seenAt  time.Time      // when that came

	awayReason string // why it counts as gone; "": it does not
	awaySince  time.Time
	mustReturn bool   // it was away, and what waits for it was given to others
	leaving    string // the incarnation that said that it ends

	newerVersion   int // the version of its messages, when that is newer than this program reads; 0: it is not
	droppedVersion int // the version of its events that were dropped because of that, once logged

	quarantine   quarantine
	mismatches   map[attemptKey]mismatch
	unregistered *mismatch // its registration does not come; nil: it has
	leftovers    leftovers
	restart      restartRequest
	older        olderProcesses
	joins        entryLimit
	stops        stopLimit
	lines        logLimit

	lastEventTime time.Time // of its newest event, by its clock
	lastEventAt   time.Time // when that came

	key        []byte // of the registered process: what only it may read is sealed to it
	released   map[task.Need]*release
	keyRefused bool // it asked with another key, and that was logged

	foreignLogged bool // it told of attempts that were not placed on it, and that was logged

	held     []holding // by the sweeps' order
	takes    bool      // it is counted in Core.taking, and capacity in Core.capacity
	capacity Resources
	lacks    bool         // it is counted in Core.lacking
	touched  bool         // it is in Core.touched
	hungry   bool         // it is in Core.hungry
	batches  []task.Batch // that a placement gives it
}

// holding is how many tasks of a sweep a worker has, or is about to have.
type holding struct {
	sweep *activeSweep
	tasks int
}

// MostWorkers bounds the workers that are known.
const MostWorkers = 1024

// worker finds a worker, or makes it known.
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

// admits reports whether a worker is known, or may become so.
func (c *Core) admits(name string) bool {
	if name == "" || c.workers[name] == nil && len(c.workers) >= MostWorkers {
		if name != "" && !c.crowded {
			c.log(slog.LevelError, "no more workers are taken: forget those that are gone (run-tasks workers forget)",
				"worker", name, "known", len(c.workers))
			c.crowded = true
		}
		return false
	}
	return true
}

// save asks for the worker's record to be kept.
func (c *Core) save(w *worker) {
	if !w.unsaved {
		w.unsaved = true
		c.unsaved = append(c.unsaved, w)
	}
}

// holds brings up to date how many tasks of a sweep a worker has.
func (w *worker) holds(a *activeSweep) {
	bySweep := func(h holding, a *activeSweep) int { return serially(h.sweep, a) }
	at, listed := slices.BinarySearchFunc(w.held, a, bySweep)
	switch tasks := a.ledger.Load(w.record.Name); {
	case tasks > 0 && listed:
		w.held[at].tasks = tasks
	case tasks > 0:
		w.held = slices.Insert(w.held, at, holding{a, tasks})
	case listed:
		w.held = slices.Delete(w.held, at, at+1)
	}
}

// registered reports whether the process that speaks is the one whose registration was processed.
func (w *worker) registered() bool {
	return w.beat.Incarnation != "" && w.beat.Incarnation == w.record.Incarnation
}

// newest is the process that began last, of those that spoke or registered.
func (w *worker) newest() string { return max(w.beat.Incarnation, w.record.Incarnation) }

// reads reports whether a worker's program understands batches of a version.
func (w *worker) reads(version int) bool { return version <= max(w.beat.Reads, task.Version) }

// available reports whether a worker may get tasks.
func (w *worker) available() bool {
	return w.registered() && w.awayReason == "" && w.refusal() == "" && !w.record.Drained && !w.beat.Draining &&
		!w.restarting() && w.quarantine.until.IsZero()
}

// usable returns what attempts of a worker may use: on probation that is one slot.
func (w *worker) usable() Resources {
	r := resourcesOf(&w.beat)
	if w.quarantine.probation {
		r.Slots = min(1, r.Slots)
	}
	return r
}

// refusal is why a worker's program gets no tasks; "": it may.
func (w *worker) refusal() string {
	if w.newerVersion > 0 {
		return fmt.Sprintf("its program speaks version %d and the master reads up to %d: update the master",
			w.newerVersion, task.Newest)
	}
	return w.beat.Refuses
}

// consider has the next placement look at a worker, of which something may have changed.
func (c *Core) consider(w *worker) {
	if !w.touched {
		w.touched = true
		c.touched = append(c.touched, w)
	}
}

// heartbeat takes what a worker says of itself.
func (c *Core) heartbeat(h *task.Heartbeat) {
	if !c.admits(h.Worker) {
		return
	}
	if h.Version > task.Newest {
		c.refuseNewer(h)
		return
	}
	w := c.worker(h.Worker)
	c.consider(w)
	if h.Incarnation == w.leaving || h.Incarnation < w.newest() && !c.outlived(w, h) {
		return // of a process that has ended, or that another has followed
	}
	c.refuseOlder(w)
	w.mustReturn = w.mustReturn || w.awayReason != "" || w.newerVersion > 0
	if w.awayReason != "" || w.beat.Incarnation != h.Incarnation {
		c.joined = append(c.joined, w)
	}
	w.newerVersion, w.droppedVersion, w.awayReason, w.beat, w.seenAt = 0, 0, "", *h, c.now
	if w.leftovers.resolve(h, c.now, c.options.Lease/3) {
		c.offered = true
	}
	if w.record.Incarnation == "" {
		c.register(w, h)
	}
	if c.options.Local || !w.registered() {
		return
	}
	c.remind(w)
	c.reconcile(w)
	c.answerNeeds(w, h)
}

// register takes up a worker's process.
func (c *Core) register(w *worker, h *task.Heartbeat) {
	r := &w.record
	r.Incarnation, r.Host, r.Program, r.Started = h.Incarnation, h.Host, h.Program, h.Slots
	r.Image, r.Environment = h.Image, h.Environment
	w.mismatches, w.unregistered, w.quarantine, w.leftovers = nil, nil, quarantine{}, nil
	w.key, w.keyRefused, w.foreignLogged = h.Key, false, false
	c.save(w)
	c.consider(w)
	c.recordJoin(w)
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
	fate := Unknown
	if h.Told {
		fate = Told
	}
	reason := "its worker " + h.Worker + " ended and began anew"
	for _, held := range w.held {
		c.ledger(held.sweep).Rejoin(h.Worker, reason, fate, c.now)
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
	c.lose(w, away, "its worker "+h.Worker+" was stopped", Told)
}

// lose takes everything from a worker, out of its queue, too: what would begin when it returns
// does not count.
func (c *Core) lose(w *worker, away, reason string, fate Fate) {
	w.awayReason, w.awaySince, w.mismatches, w.unregistered, w.leftovers = away, c.now, nil, nil, nil
	c.send(Message{Worker: w.record.Name, Remove: true})
	for _, held := range w.held {
		c.ledger(held.sweep).Lose(w.record.Name, reason, fate, c.now)
	}
	c.consider(w)
	c.offered = true // what waited for leftovers there may be placed
}

// remind tells a worker again what was asked of it and it does not do: messages may get lost.
func (c *Core) remind(w *worker) {
	switch drained := w.record.Drained || !w.quarantine.until.IsZero(); {
	case w.restart.incarnation == w.beat.Incarnation && (!w.beat.Leaving || w.restart.now):
		c.tellRestart(w)
	case drained != w.beat.Draining && !w.beat.Leaving:
		c.tellDrain(w)
	}
	if wanted := cmp.Or(w.record.Slots, w.record.Started); wanted != w.beat.Slots && wanted > 0 {
		c.tellSlots(w)
	}
	c.tellFollowed(w, false)
	if w.quarantine.probation && len(w.beat.Running) > 0 {
		w.quarantine.runs(w.beat.Running[0])
	}
}

// greet tells a worker that has just come what it cannot know: what is followed, and what was
// asked of it.
func (c *Core) greet(w *worker) {
	if c.options.Local { // it came with this master, and this might overtake its first tasks
		return
	}
	name := w.record.Name
	c.tell(name, task.Control{Kind: task.FollowControl, Off: true})
	if w.mustReturn { // what waits there was given to others meanwhile
		w.mustReturn = false
		c.tell(name, task.Control{Kind: task.DrainControl})
	}
	c.tellDrain(w)
	if w.record.Slots > 0 {
		c.tellSlots(w)
	}
	c.tellFollowed(w, true)
}

// tellDrain tells a worker whether it may take anything new.
func (c *Core) tellDrain(w *worker) {
	off := !w.record.Drained && w.quarantine.until.IsZero()
	c.tell(w.record.Name, task.Control{Kind: task.DrainControl, Off: off})
}

func (c *Core) tellSlots(w *worker) {
	c.tell(w.record.Name, task.Control{Kind: task.SlotsControl, Slots: w.record.Slots})
}

// restartRequest is that one process of a worker was asked to end, so that its supervisor starts
// another. It does not outlive the master; a worker that has heard it goes on by itself.
type restartRequest struct {
	incarnation string // of the process; "": nothing was asked
	now         bool   // it stops what runs
}

// restarting reports whether the process that speaks was asked to end.
func (w *worker) restarting() bool {
	return w.beat.Leaving || w.restart.incarnation != "" && w.restart.incarnation == w.beat.Incarnation
}

func (c *Core) tellRestart(w *worker) {
	c.tell(w.record.Name, task.Control{Kind: task.RestartControl, Incarnation: w.restart.incarnation, Now: w.restart.now})
}
