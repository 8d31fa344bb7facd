package core

import "mlframework/sweep/task"

// RemoveSweep takes a sweep out of the list of sweeps, unless some of its tasks run or may begin.
type RemoveSweep struct {
	Sweep   string
	Workers []string // that have outputs of it
}

func (r RemoveSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return nil, err
	}
	switch h := a.ledger.Head(); {
	case h.State == Open:
		return nil, &WrongState{ID: h.ID, Is: "running", Remedy: "`run-tasks cancel " + h.ID +
			"` ends it"}
	case h.Rows[task.Queued]+h.Rows[task.Claimed]+h.Rows[task.Running] > 0:
		return nil, &WrongState{ID: h.ID, Is: string(h.State) + ", and some of its tasks still run",
			Remedy: "wait for their end, or `run-tasks cancel " + h.ID + "` stops them"}
	case len(a.record.PendingNotices()) > 0:
		return nil, &WrongState{ID: h.ID, Is: "about to send a notification",
			Remedy: "try again when it was sent"}
	}
	return func() {
		c.ledger(a)
		a.removed = true
		c.rows.Removed = append(c.rows.Removed, RemovedSweep(r))
	}, nil
}

// RemoveDamaged is RemoveSweep for a sweep that has ended and cannot be read.
type RemoveDamaged struct {
	Sweep   string
	Workers []string // that have outputs of it
}

func (r RemoveDamaged) decide(c *Core) (func(), error) {
	c.audit.setSweep(r.Sweep)
	return func() {
		c.rows.Removed = append(c.rows.Removed, RemovedSweep(r))
	}, nil
}

// PruneOutputs removes outputs of tasks of a sweep that has ended. Their rows stay, with parameters
// and metrics.
type PruneOutputs struct {
	Sweep   string
	Tasks   Ranges   // that have outputs
	Workers []string // that ran tasks of the sweep
	Bytes   int64    // of the outputs
}

func (p PruneOutputs) decide(c *Core) (func(), error) {
	a, err := c.findSweep(p.Sweep)
	if err != nil {
		return nil, err
	}
	if h := a.ledger.Head(); h.Ended.IsZero() {
		return nil, &WrongState{ID: h.ID, Is: string(h.State), Remedy: "wait for its end"}
	}
	return func() {
		if len(p.Tasks) == 0 {
			return
		}
		now := *a.record
		now.Pruned = now.Pruned.Union(p.Tasks)
		c.rewrite(a, now)
		c.ledger(a).shrink(p.Bytes)
		c.rows.Pruned = append(c.rows.Pruned, PrunedOutputs{a.id(), p.Tasks, p.Workers})
	}, nil
}

// shrink notes that outputs are being removed.
func (l *Ledger) shrink(bytes int64) {
	l.head.Bytes = max(0, l.head.Bytes-bytes)
	l.changed = true
}

// forgetPruned notes that tasks whose outputs may have been removed run again.
func (c *Core) forgetPruned(a *activeSweep, tasks []Task) {
	var again Ranges
	for i := range tasks {
		if a.record.Pruned.Has(tasks[i].Index) {
			tasks[i].Bytes = 0
			again = append(again, Range{tasks[i].Index, tasks[i].Index + 1})
		}
	}
	if len(again) > 0 {
		now := *a.record
		now.Pruned = now.Pruned.Without(again.Union(nil))
		c.rewrite(a, now)
	}
}
