package core

import (
	"cmp"
	"slices"

	"mlframework/sweep/task"
)

// host is a machine. Its workers share its CPUs, memory and GPUs. Each reports in its heartbeats
// what it may use of them, which can be some of the GPUs only.
type host struct {
	key     hostKey
	workers []*worker // by name
}

// hostKey identifies a machine.
type hostKey struct{ name, boot string }

// setBeat makes a heartbeat the newest of a worker.
func (c *Core) setBeat(w *worker, b task.Heartbeat) {
	w.beat = b
	c.lacked = c.lacked || len(b.Lacks) > 0
	w.gpus.update(b.GPUs)
	c.joinHost(w, hostKey{cmp.Or(b.Host, w.record.Name), b.Boot})
}

// joinHost notes on which host a worker is.
func (c *Core) joinHost(w *worker, key hostKey) {
	if w.host != nil && w.host.key == key {
		return
	}
	c.leaveHost(w)
	h := c.hosts[key]
	if h == nil {
		h = &host{key: key}
		c.hosts[key] = h
	}
	at, _ := slices.BinarySearchFunc(h.workers, w, byName)
	h.workers = slices.Insert(h.workers, at, w)
	w.host = h
}

// leaveHost notes that a worker is on no host that is known.
func (c *Core) leaveHost(w *worker) {
	h := w.host
	if h == nil {
		return
	}
	w.host = nil
	h.forgetNoRoom()
	h.workers = slices.DeleteFunc(h.workers, func(other *worker) bool { return other == w })
	if len(h.workers) == 0 {
		delete(c.hosts, h.key)
	}
}

// considerHost has the next placement look at a worker and, if tasks reserve something, at the others
// of its host: there may be room for them.
func (c *Core) considerHost(w *worker) {
	c.consider(w)
	if c.reserving > 0 && w.host != nil {
		for _, other := range w.host.workers {
			c.consider(other)
		}
	}
}

// has reports whether a worker's host has the labels that a task needs.
func (w *worker) has(n *needs) bool { return len(n.On) == 0 || len(n.Lacks(w.beat.Labels)) == 0 }

// fit returns how many tasks of a sweep a worker could run at a time if its host had no others.
func (w *worker) fit(a *activeSweep) int {
	n := &a.ledger.needs
	if w.slots == 0 || w.host == nil || !w.has(n) || w.lacks(a) {
		return 0
	}
	fit := fits(w.slots, w.slotsFor(n))
	if n.reserved && fit > 0 {
		whole := w.whole()
		fit = min(fit, whole.count(n))
	}
	return fit
}

// AtATime returns how many tasks with the same needs a worker could run at a time if its host had no
// other tasks and its GPUs were free. Broken GPUs do not count.
func (w *Worker) AtATime(need task.Needs) int {
	beat := task.Heartbeat{SlotsChosen: w.SlotsChosen, CPUs: w.CPUs, Memory: w.Memory,
		Labels: w.Labels}
	for _, g := range w.GPUs {
		if !g.Broken {
			g.Unavailable = ""
			beat.GPUs = append(beat.GPUs, g)
		}
	}
	is := &worker{beat: beat, slots: w.Slots, host: new(host)}
	is.gpus.update(beat.GPUs)
	return is.fit(&activeSweep{ledger: &Ledger{needs: newNeeds(need)}})
}

// couldStart reports whether a worker could start a task of a sweep now if its host had no others.
func (w *worker) couldStart(a *activeSweep) bool {
	n := &a.ledger.needs
	if !w.available() || w.host == nil || !w.has(n) || w.lacks(a) {
		return false
	}
	whole := w.whole()
	return whole.count(n) > 0
}

// lacks reports whether the files of a sweep's revision are not on a worker's host.
func (w *worker) lacks(a *activeSweep) bool {
	return len(w.beat.Lacks) > 0 && slices.Contains(w.beat.Lacks, a.record.Recipe.Revision)
}
