package core

import "slices"

// DrainWorker has a worker finish what runs and take nothing new; Off undoes it. It outlives
// master and worker.
type DrainWorker struct {
	Worker string
	Off    bool
}

func (d DrainWorker) check(c *Core) error { return c.checkWorker(d.Worker) }

func (d DrainWorker) apply(c *Core) Answer {
	w := c.workers[d.Worker]
	w.record.Drained = !d.Off
	w.beat.Draining = !d.Off || w.beat.Closing // its next heartbeat says how it is
	c.sendDrain(w)
	return c.saved(w)
}

// ResizeWorker changes how many attempts a worker runs at a time; 0 is what it was started with. It
// outlives master and worker.
type ResizeWorker struct {
	Worker string
	Slots  int
}

func (r ResizeWorker) check(c *Core) error { return c.checkWorker(r.Worker) }

func (r ResizeWorker) apply(c *Core) Answer {
	w := c.workers[r.Worker]
	w.record.Slots = max(0, r.Slots)
	c.sendSlots(w)
	return c.saved(w)
}

// RestartWorker ends a worker's process, so that its supervisor starts another: it returns what has
// not started, and finishes what runs; with Now that is stopped, too, and goes back to pending,
// uncharged. The process that comes takes tasks, unless the worker was drained.
type RestartWorker struct {
	Worker string
	Now    bool
}

func (r RestartWorker) check(c *Core) error {
	if err := c.checkWorker(r.Worker); err != nil {
		return err
	}
	w := c.workers[r.Worker]
	switch state, _ := w.state(); {
	case c.options.Local:
		return &WrongState{ID: r.Worker,
			Is:     "the worker of a run on this machine, and ends with it",
			Remedy: "`run-tasks pause --stop` ends the run, `run-tasks resume` goes on"}
	case state == WorkerAway || state == WorkerRefused || state == WorkerStopping:
		return &WrongState{ID: r.Worker, Is: state,
			Remedy: "only a worker that is there can be asked to start again: start it on its host"}
	}
	return nil
}

func (r RestartWorker) apply(c *Core) Answer {
	w := c.workers[r.Worker]
	if w.restart.incarnation != w.beat.Incarnation {
		w.restart = restartRequest{incarnation: w.beat.Incarnation}
	}
	w.restart.now = w.restart.now || r.Now
	c.sendRestart(w)
	return c.saved(w)
}

// ForgetWorker drops a worker that is away. What it had goes to others.
type ForgetWorker struct{ Worker string }

func (f ForgetWorker) check(c *Core) error {
	if err := c.checkWorker(f.Worker); err != nil {
		return err
	}
	w := c.workers[f.Worker]
	if state, _ := w.state(); w.awayReason == "" && !w.seenAt.IsZero() {
		return &WrongState{ID: f.Worker, Is: state,
			Remedy: "stop it first; one that was stopped is away"}
	}
	return nil
}

func (f ForgetWorker) apply(c *Core) Answer {
	w := c.workers[f.Worker]
	departure := Vanished
	if w.leaving != "" && w.leaving == w.record.Incarnation {
		departure = SignedOff
	}
	c.evict(w, "it was forgotten", "its worker "+f.Worker+" was forgotten", departure)
	for _, a := range c.inOrder {
		if a.ledger.hasPin(f.Worker) {
			c.ledger(a).CancelPinned(f.Worker, c.now)
		}
	}
	delete(c.workers, f.Worker)
	at, _ := slices.BinarySearchFunc(c.ordered, w, byName)
	c.ordered = slices.Delete(c.ordered, at, at+1)
	c.rows.Gone = append(c.rows.Gone, f.Worker)
	return Answer{}
}

func (c *Core) checkWorker(name string) error {
	if c.workers[name] == nil {
		return &UnknownWorker{name}
	}
	return nil
}

// saved has a worker's record kept that a command changed, and answers how the worker is.
func (c *Core) saved(w *worker) Answer {
	c.save(w)
	c.consider(w)
	return Answer{Worker: c.view(w)}
}
