package core

import (
	"maps"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// Dump is everything that a ledger knows, but for what it has not handed over yet.
type Dump struct {
	Head     Head
	Revision string
	Open     map[int64]Task
	Waiting  []int64
	Load     map[string]int
	Ahead    []int64
}

// Dump copies what the ledger knows, for comparison.
func (l *Ledger) Dump() Dump {
	d := Dump{Head: l.head, Revision: l.revision, Open: map[int64]Task{},
		Load: map[string]int{}, Ahead: slices.Sorted(maps.Keys(l.cancelledEarly))}
	for _, t := range l.pending {
		d.Waiting = append(d.Waiting, t.Index)
	}
	for i, t := range l.open {
		d.Open[i] = *t
	}
	for worker, held := range l.assigned {
		d.Load[worker] = len(held)
	}
	return d
}

// Waits returns, by sweep, why none of its tasks can start now.
func (c *Core) Waits() map[string]string {
	all := map[string]string{}
	for id, n := range c.Notices() {
		if n.Waits != "" && c.sweeps[id].ledger.head.State == Open {
			all[id] = n.Waits
		}
	}
	return all
}

// ForgetDevices is a fault: what workers have is given out again.
func (c *Core) ForgetDevices() {
	for _, a := range c.inOrder {
		for _, t := range a.ledger.assignedTo("") {
			t.Attempt.Devices = nil
		}
	}
}

// Cancellable reports whether the command CancelTask takes a task.
func (l *Ledger) Cancellable(index int64) bool { return l.cancellable(index) }

// Dump copies what the core knows of a sweep's tasks; false: it does not have the sweep.
func (c *Core) Dump(sweep string) (d Dump, have bool) {
	a := c.sweeps[sweep]
	if a == nil {
		return d, false
	}
	return a.ledger.Dump(), true
}

// Quarantined lists the workers in quarantine.
func (c *Core) Quarantined() (names []string) {
	for name, w := range c.workers {
		if !w.quarantine.until.IsZero() {
			names = append(names, name)
		}
	}
	return names
}

// ProlongQuarantines is a fault: no quarantine ends.
func (c *Core) ProlongQuarantines() {
	for _, w := range c.workers {
		if !w.quarantine.until.IsZero() {
			w.quarantine.until = c.now.Add(lastQuarantine)
		}
	}
}

// ForgetLapsed is a fault: attempts of workers whose leases have ended count as dead.
func (c *Core) ForgetLapsed() {
	for _, a := range c.inOrder {
		for _, t := range a.ledger.lapsed {
			c.ledger(a).leaveLapsed(t)
		}
	}
}

// ForgetWaiting is a fault: tasks of a sweep that wait are not handed out.
func (c *Core) ForgetWaiting(sweep string) {
	if a := c.sweeps[sweep]; a != nil {
		a.ledger.pending = nil
	}
}

// ForgetCancelled is a fault: it forgets that people cancelled tasks which workers have.
func (c *Core) ForgetCancelled() {
	for _, a := range c.sweeps {
		for _, t := range a.ledger.open {
			t.Cancelling = false
		}
	}
}

// Stored is the form of anything, read back.
func Stored[T any](v T) (string, error) { return stored(v) }

// MostImages is how many images a worker adds to a sweep's record.
const MostImages = maxImages

// ExclusiveWaits reports whether an exclusive task has waited long for an empty worker.
func (l *Ledger) ExclusiveWaits(now time.Time) bool {
	return len((&activeSweep{ledger: l}).exclusiveWaiting(nil, now)) > 0
}

// The bounds of placement.
const (
	MostAssigned = maxAssigned
	MostBatch    = maxBatch
)

// PrefetchTarget, BatchSize and Remaining are pure parts of the placement.
func PrefetchTarget(slots int, mean time.Duration, others bool) int {
	return prefetchTarget(slots, mean, others)
}
func BatchSize(slots int, mean time.Duration) int { return batchSize(slots, mean) }
func Remaining(target int, used float64) int      { return remaining(target, used) }

// Bounds of what is remembered that one worker tells of and the store does not know.
const (
	MostMissing       = maxMissingTasks
	MostMissingSweeps = maxMissingSweeps
)

// MostStops is how often in a second a worker is told to stop what does not count.
const MostStops = maxStops

// MostUncharged bounds the uncharged attempts of a task.
const MostUncharged = maxUncharged

// MostLogLines bounds the lines of the log that one worker causes in a minute.
const MostLogLines = maxLogLines

// ChooseGPUs gives tasks GPUs of a host without others, one after the other. It returns what is free
// of each after each task, 1 is all of it, and how many of them got some: the next one waits.
func ChooseGPUs(gpus []task.GPU, needs []task.GPUs) (free [][]float64, begun int) {
	w := &worker{host: new(host)}
	w.gpus.update(gpus)
	room := w.room()
	for _, need := range needs {
		n := newNeeds(task.Needs{GPUs: need})
		if room.count(&n) == 0 {
			return free, begun
		}
		room.take(&n)
		begun++
		now := make([]float64, len(room.free))
		for i, units := range room.free {
			now[i] = float64(units) / gpuUnits
		}
		free = append(free, now)
	}
	return free, begun
}

// Units returns how many gpuUnits a task takes of a GPU.
func Units(g task.GPUs, of task.GPU) int {
	n, d := newNeeds(task.Needs{GPUs: g}), deviceOf(&of)
	return n.of(&d)
}

// GPUUnits is a whole GPU.
const GPUUnits = gpuUnits

// NextNotices returns the notices of a sweep after it changed.
func NextNotices(have []Notice, was, now Head, at time.Time) []Notice {
	return nextNotices(have, was, now, at)
}
