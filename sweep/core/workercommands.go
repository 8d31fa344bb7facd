package core

import "slices"

// ForReplacement is why a worker is drained whose container is replaced or removed.
const ForReplacement = "replacement"

// DrainWorker has a worker finish what runs and take nothing new; Off undoes it. It outlives
// master and worker. With a reason it drains a worker that is not drained, and undoes a drain for
// that reason; all else stays as it is, so that a person's drain does.
type DrainWorker struct {
	Worker string
	Off    bool
	For    string // the reason; "": a person asks
}

// applies reports whether the command changes a worker.
func (d DrainWorker) applies(w *WorkerRecord) bool {
	switch {
	case d.For == "":
		return true
	case d.Off:
		return w.Drained && w.DrainedFor == d.For
	}
	return !w.Drained
}

func (d DrainWorker) decide(c *Core) (func(), error) {
	w, err := c.findWorker(d.Worker)
	if err == nil && !d.applies(&w.record) {
		return func() {}, nil
	}
	return func() {
		w.record.Drained, w.record.DrainedFor = !d.Off, ""
		if !d.Off {
			w.record.DrainedFor = d.For
		}
		w.beat.Draining = !d.Off || w.beat.Closing // its next heartbeat says how it is
		c.sendDrain(w)
		c.saved(w)
	}, err
}

// ResizeWorker changes how many attempts a worker runs at a time; 0 is what it was started with. It
// outlives master and worker.
type ResizeWorker struct {
	Worker string
	Slots  int
}

func (r ResizeWorker) decide(c *Core) (func(), error) {
	w, err := c.findWorker(r.Worker)
	return func() {
		w.record.Slots = max(0, r.Slots)
		c.sendSlots(w)
		c.saved(w)
	}, err
}

// RestartWorker ends a worker's process, so that its supervisor starts another: it returns what has
// not started, and finishes what runs; with Now that is stopped, too, and goes back to pending,
// uncharged. The process that comes takes tasks, unless the worker was drained.
type RestartWorker struct {
	Worker string
	Now    bool
}

func (r RestartWorker) decide(c *Core) (func(), error) {
	w, err := c.findWorker(r.Worker)
	if err != nil {
		return nil, err
	}
	switch state, _ := w.state(); {
	case c.options.Local:
		return nil, &WrongState{ID: r.Worker,
			Is:     "the worker of a run on this machine, and ends with it",
			Remedy: "`run-tasks pause --stop` ends the run, `run-tasks resume` goes on"}
	case state == WorkerAway || state == WorkerRefused || state == WorkerStopping:
		return nil, &WrongState{ID: r.Worker, Is: state,
			Remedy: "only a worker that is there can be asked to start again: start it on its host"}
	}
	return func() {
		if w.restart.incarnation != w.beat.Incarnation {
			w.restart = restartRequest{incarnation: w.beat.Incarnation}
		}
		w.restart.now = w.restart.now || r.Now
		c.sendRestart(w)
		c.saved(w)
	}, nil
}

// ForgetWorker drops a worker that is away. What it had goes to others.
type ForgetWorker struct{ Worker string }

func (f ForgetWorker) decide(c *Core) (func(), error) {
	w, err := c.findWorker(f.Worker)
	if err != nil {
		return nil, err
	}
	if state, _ := w.state(); w.awayReason == "" && !w.seenAt.IsZero() {
		return nil, &WrongState{ID: f.Worker, Is: state,
			Remedy: "stop it first; one that was stopped is away"}
	}
	return func() {
		c.forget(w)
	}, nil
}

// forget drops a worker that is away.
func (c *Core) forget(w *worker) {
	name, departure := w.record.Name, Vanished
	if w.leaving != "" && w.leaving == w.record.Incarnation {
		departure = SignedOff
	}
	c.evict(w, "it was forgotten", "its worker "+name+" was forgotten", departure)
	for _, a := range c.inOrder {
		if a.ledger.hasPin(name) {
			c.ledger(a).CancelPinned(name, c.now)
		}
	}
	c.leaveHost(w)
	delete(c.workers, name)
	at, _ := slices.BinarySearchFunc(c.ordered, w, byName)
	c.ordered = slices.Delete(c.ordered, at, at+1)
	c.rows.Gone = append(c.rows.Gone, name)
}

// findWorker finds the worker of a command.
func (c *Core) findWorker(name string) (*worker, error) {
	if w := c.workers[name]; w != nil {
		return w, nil
	}
	return nil, &UnknownWorker{name}
}

// saved has a worker's record kept that a command changed, and answers how the worker is.
func (c *Core) saved(w *worker) {
	c.save(w)
	c.consider(w)
}
