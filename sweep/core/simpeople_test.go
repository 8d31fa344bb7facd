package core_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// simPeople submit sweeps and do what people do with them and with workers.
type simPeople struct {
	*sim
	plan     *rand.Rand // of sweeps
	salt     uint64
	commands int
	edition  int
	stopped  map[string]*invariants.Fault // sweeps that were paused with their attempts stopped
	poison   int64                        // which tasks kill their worker; negative: none
}

func (p *simPeople) begin() {
	p.salt, p.stopped, p.poison = p.plan.Uint64(), map[string]*invariants.Fault{}, -1
	if p.faults.poison {
		p.poison = p.Int64N(6)
	}
	var at time.Duration
	for range 1 + p.plan.IntN(3) {
		at += time.Duration(4+p.plan.IntN(8)) * time.Second
		r, total := p.newRecord()
		p.after(at, func() { p.submit(r, total) })
	}
	p.after(p.upTo(10*time.Second), p.act)
}

// act does something now and then.
func (p *simPeople) act() {
	if p.calm {
		return
	}
	var all []func()
	if p.faults.people {
		all = append(all, p.cancel, p.cancelTask, p.cancelTask, p.retry, p.retry, p.extend,
			p.prioritize, p.reread)
	}
	if p.faults.pauses {
		all = append(all, p.pause, p.pauseStop, p.resume, p.resume)
	}
	if p.faults.stops {
		all = append(all, p.drain, p.undrain, p.resize, p.restart, p.restartNow, p.forget)
	}
	if len(all) > 0 {
		all[p.IntN(len(all))]()
	}
	p.after(p.upTo(12*time.Second), p.act)
}

// command asks the master for something, where there is one. Lost is called when it is not known
// whether it was done.
func (p *simPeople) command(action, kind, object string, prepare func() (core.Command, error),
	done func(*core.Effects), lost func()) {
	if !p.master.up {
		return
	}
	p.commands++
	c := &simCall{detail: fmt.Sprintf("call=%d", p.commands), prepare: prepare, lost: func() {}}
	uid := 1000
	c.audit = core.AuditEntry{UID: &uid, User: "ada", Action: action, Kind: kind, Object: object,
		Detail: c.detail}
	c.done = func(e *core.Effects, err error) {
		p.tracef("%s %s: %v", action, object, err)
		if err == nil && done != nil {
			done(e)
		}
	}
	if lost != nil {
		c.lost = lost
	}
	p.master.calls = append(p.master.calls, c)
	p.master.wake(0)
}

// anySweep is the id of a sweep; "": there is none.
func (p *simPeople) anySweep() string {
	if len(p.store.sweeps) == 0 {
		return ""
	}
	return p.store.sweeps[p.IntN(len(p.store.sweeps))].model.head.ID
}

// change is command, of a sweep, which the core is given before.
func (p *simPeople) change(action, id string, prepare func() (core.Command, error),
	done func(*core.Effects), lost func()) {
	if id == "" {
		return
	}
	p.command(action, "sweep", id, func() (core.Command, error) {
		p.master.add(id)
		return prepare()
	}, done, lost)
}

func (p *simPeople) cancel() {
	id := p.anySweep()
	if p.IntN(2) == 0 {
		p.change("cancel", id, func() (core.Command, error) {
			return core.CancelSweep{Sweep: id, Reason: "enough"}, nil
		},
			func(*core.Effects) { p.judge.cancel(id, invariants.Whole, true) },
			func() { p.judge.cancel(id, invariants.Whole, false) })
	}
}

func (p *simPeople) cancelTask() {
	id := p.anySweep()
	if id == "" {
		return
	}
	m := p.store.byID[id].model
	index := m.record.Ranges.At(p.Int64N(m.head.Total))
	p.change("cancel", id, func() (core.Command, error) {
		return core.CancelTask{Task: task.ID{Sweep: id, Index: index}, Reason: "enough"}, nil
	}, func(*core.Effects) { p.judge.cancel(id, index, true) },
		func() { p.judge.cancel(id, index, false) })
}

func (p *simPeople) pause()     { p.pauseWith(false) }
func (p *simPeople) pauseStop() { p.pauseWith(true) }

func (p *simPeople) pauseWith(stop bool) {
	id := p.anySweep()
	stopped := func() {
		if stop && p.stopped[id] == nil {
			p.stopped[id] = p.judge.fault("", id, p.now, p.now.Add(longestCalm))
		}
	}
	p.change("pause", id, func() (core.Command, error) {
		stopped() // should this process end, it is not known whether it was done
		return core.PauseSweep{Sweep: id, Reason: "wait", Stop: stop}, nil
	}, nil, nil)
}

// goOn prepares what a sweep goes on with.
func (p *simPeople) goOn(
	id string, command func(core.Revision) core.Command,
) (core.Command, error) {
	var r core.Revision
	if p.master.core.Check(command(r)) == nil && p.master.core.LacksSecrets(id) {
		r.Edition = p.newEdition(id)
	}
	if p.IntN(4) == 0 {
		r.Revision = fmt.Sprintf("r%d", p.IntN(3))
	}
	return command(r), nil
}

// wentOn notes that attempts of a sweep begin again.
func (p *simPeople) wentOn(id string) {
	if f := p.stopped[id]; f != nil {
		f.To = p.now.Add(simLease)
		delete(p.stopped, id)
	}
}

func (p *simPeople) resume() { p.resumeSweep(p.anySweep()) }

func (p *simPeople) resumeSweep(id string) {
	p.change("resume", id, func() (core.Command, error) {
		return p.goOn(id, func(r core.Revision) core.Command {
			return core.ResumeSweep{Sweep: id, With: r}
		})
	}, func(*core.Effects) { p.wentOn(id) }, nil)
}

// retry retries what did not succeed, all or a part.
func (p *simPeople) retry() {
	id := p.anySweep()
	all := p.IntN(2) == 0
	var indexes []int64
	var grace time.Duration // in which attempts may still end that were to be cancelled
	retried := func() {
		p.judge.fault("", id, p.now, p.now.Add(grace))
		if all {
			indexes = nil
		}
		p.judge.uncancel(id, indexes)
		p.wentOn(id)
	}
	p.change("retry", id, func() (core.Command, error) {
		m := p.store.byID[id].model
		var tasks []core.Task
		for n := range m.head.Total {
			index := m.record.Ranges.At(n)
			row, have := m.rows[index]
			if row.Cancelling && row.State.Active() {
				grace = simLease
			}
			if have && row.Retriable() && (all && row.State.Terminal() || !all && p.IntN(2) == 0) {
				tasks, indexes = append(tasks, row), append(indexes, index)
			}
		}
		if !all && len(tasks) == 0 {
			return nil, errors.New("there is nothing to retry")
		}
		return p.goOn(id, func(r core.Revision) core.Command {
			return core.RetryTasks{Sweep: id, Tasks: tasks, All: all, With: r}
		})
	}, func(*core.Effects) { retried() }, retried)
}

func (p *simPeople) extend() {
	id := p.anySweep()
	more := spaces()[min(len(spaces()), 3+p.IntN(12))-1]
	p.change("extend", id, func() (core.Command, error) {
		return p.goOn(id, func(r core.Revision) core.Command {
			return core.ExtendSweep{Sweep: id, Space: more, With: r}
		})
	}, func(e *core.Effects) {
		for _, w := range e.Changed {
			if w.Head.ID == id {
				p.judge.confirmed[id] = w.Head.Total
			}
		}
		p.wentOn(id)
	}, func() { delete(p.judge.confirmed, id) })
}

// reread gives a sweep other metrics, and some tasks that have ended values.
func (p *simPeople) reread() {
	id, n := p.anySweep(), p.IntN(5)
	p.change("reread", id, func() (core.Command, error) {
		r := core.RereadMetrics{Sweep: id, Metrics: []metric.Rule{{Name: "acc",
			Pattern: fmt.Sprintf("acc%d: ([0-9]+)", n)}}}
		m := p.store.byID[id].model
		for i := range m.head.Total {
			row, have := m.rows[m.record.Ranges.At(i)]
			if have && row.State.Terminal() && p.IntN(2) == 0 {
				r.Rows = append(r.Rows, row)
				r.Values = append(r.Values, core.Remeasured{Index: row.Index,
					Attempt: row.Attempt.Number})
			}
		}
		return r, nil
	}, nil, nil)
}

func (p *simPeople) prioritize() {
	id, priority := p.anySweep(), p.IntN(5)-2
	p.change("priority", id, func() (core.Command, error) {
		return core.PrioritizeSweep{Sweep: id, Priority: priority}, nil
	}, nil, nil)
}

// worker asks for something about any worker.
func (p *simPeople) worker(action string, command func(name string) core.Command,
	done func(name string)) {
	name := p.anyHost().name
	p.command(action, "worker", name, func() (core.Command, error) { return command(name), nil },
		func(*core.Effects) {
			if done != nil {
				done(name)
			}
		}, nil)
}

func (p *simPeople) drain() {
	p.worker("drain", func(name string) core.Command { return core.DrainWorker{Worker: name} }, nil)
}

func (p *simPeople) undrain() {
	p.worker("resume", func(name string) core.Command {
		return core.DrainWorker{Worker: name, Off: true}
	}, nil)
}

func (p *simPeople) resize() {
	slots := p.IntN(4)
	p.worker("resize", func(name string) core.Command {
		return core.ResizeWorker{Worker: name, Slots: slots}
	}, nil)
}

func (p *simPeople) restart() {
	p.worker("restart", func(name string) core.Command { return core.RestartWorker{Worker: name} },
		nil)
}

func (p *simPeople) restartNow() {
	p.worker("restart", func(name string) core.Command {
		return core.RestartWorker{Worker: name, Now: true}
	}, nil)
}

func (p *simPeople) forget() {
	p.worker("forget", func(name string) core.Command { return core.ForgetWorker{Worker: name} },
		func(name string) { p.judge.fault(name, "", p.now, p.now) })
}

// repair lets everything go on, and forgets workers that are gone for good.
func (p *simPeople) repair() {
	if !p.master.up || len(p.master.calls) > 0 {
		return
	}
	for _, w := range p.store.sweeps {
		if w.model.head.State == core.Paused {
			p.resumeSweep(w.model.head.ID)
		}
		p.cancelUnknown(w.model)
		p.cancelUnmet(w.model)
	}
	for _, w := range p.master.core.Workers() {
		name := w.Name
		switch {
		case p.store.workers[name].Drained:
			p.command("resume", "worker", name, func() (core.Command, error) {
				return core.DrainWorker{Worker: name, Off: true}, nil
			}, nil, nil)
		case w.State == core.WorkerAway && !slices.ContainsFunc(p.hosts,
			func(h *simHost) bool { return h.name == name && !h.gone }):
			p.command("forget", "worker", name, func() (core.Command, error) {
				return core.ForgetWorker{Worker: name}, nil
			}, nil, nil)
		}
	}
}

// cancelUnknown cancels the tasks of a sweep that wait for workers which are not known any more.
func (p *simPeople) cancelUnknown(m *model) {
	id := m.head.ID
	for n, name := range m.record.Workers {
		_, known := p.store.workers[name]
		if index := int64(n); !known && m.head.Ended.IsZero() &&
			m.rows[index].State == task.Pending {
			p.change("cancel", id, func() (core.Command, error) {
				return core.CancelTask{Task: task.ID{Sweep: id, Index: index},
					Reason: "its worker is gone"}, nil
			}, func(*core.Effects) { p.judge.cancel(id, index, true) }, nil)
		}
	}
}

// cancelUnmet cancels a sweep that waits for what no worker can give, now that all are known.
func (p *simPeople) cancelUnmet(m *model) {
	id := m.head.ID
	if p.master.core.CheckNeeds(id, m.record.Recipe.Needs) == nil || !m.head.Ended.IsZero() ||
		m.head.Rows[task.Queued]+m.head.Rows[task.Claimed]+m.head.Rows[task.Running] > 0 {
		return
	}
	p.change("cancel", id, func() (core.Command, error) {
		return core.CancelSweep{Sweep: id, Reason: "no worker has its GPUs"}, nil
	}, func(*core.Effects) { p.judge.cancel(id, invariants.Whole, true) }, nil)
}
