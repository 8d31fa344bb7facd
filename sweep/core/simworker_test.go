package core_test

import (
	"slices"
	"time"

	"mlframework/sweep/task"
)

// simProcess is a process of a worker.
type simProcess struct {
	*simHost
	incarnation string
	key         []byte
	slots       int
	resized     bool // somebody chose the slots since it started
	alive       bool
	frozenUntil time.Time
	beats       time.Time // when its newest heartbeat arrives
	unheard     bool      // that got lost

	waiting []simItem
	running []*simRun
	known   map[runKey]*task.Event // what became of attempts; nil: they are here
	secrets map[task.Need]bool     // that it was sent
	drained bool
	unmet   map[runKey]time.Time // since when what waits cannot have its GPUs
	unfits  int                  // ends in a row of attempts that its host could not run
	leaving bool                 // it ends when nothing runs
	taken   bool                 // it is not started again
	ending  bool                 // it stops what runs, and ends
	since   time.Time            // when it was asked to end
}

// runKey names an attempt.
type runKey struct {
	id     task.ID
	number int
}

// simItem is an attempt that was claimed and waits for a slot.
type simItem struct {
	runKey
	need     *task.Need // the secrets that it needs
	slots    int        // that it takes
	reserved bool
	attempt  task.Attempt
}

// simRun is an attempt in its slot.
type simRun struct {
	simItem
	slot     int
	start    int         // its place among the judge's starts, from 1; 0: none
	started  *task.Event // nil: its program does not run yet
	stopping bool
	ended    bool // and processes that it left are being ended
}

// do does something now, or when the process is not frozen any more, unless it is dead by then.
func (p *simProcess) do(what func()) {
	switch {
	case !p.alive:
	case p.frozenUntil.After(p.now):
		p.sim.after(p.frozenUntil.Sub(p.now), func() { p.do(what) })
	default:
		what()
	}
}

func (p *simProcess) after(d time.Duration, what func()) {
	p.sim.after(d, func() { p.do(what) })
}

func (p *simProcess) idle() bool { return len(p.waiting)+len(p.running) == 0 }

// event is an event of an attempt.
func (p *simProcess) event(kind task.EventKind, k runKey) task.Event {
	return task.Event{Version: task.Version, Kind: kind, Worker: p.name, Sweep: k.id.Sweep,
		Index: k.id.Index, Attempt: k.number, Time: p.time()}
}

// tell notes events, which are sent soon.
func (p *simProcess) tell(events ...task.Event) {
	if len(p.outbox) == 0 {
		p.after(p.upTo(80*time.Millisecond), p.flush)
	}
	p.put(events...)
}

func (p *simProcess) flush() {
	switch {
	case len(p.outbox) == 0:
	case p.broker.down || p.isCut():
		p.after(300*time.Millisecond, p.flush)
	default:
		p.broker.emit(p.name, p.outbox)
		p.outbox = nil
	}
}

// beatOften sends a heartbeat every two seconds.
func (p *simProcess) beatOften() {
	p.returnUnmet()
	p.dispatch() // GPUs may be free again
	p.beat()
	p.after(2*time.Second, p.beatOften)
}

func (p *simProcess) beat() { p.broker.beat(p, p.heartbeat()) }

func (p *simProcess) heartbeat() task.Heartbeat {
	h := task.Heartbeat{Version: task.Version, Worker: p.name, Incarnation: p.incarnation,
		Time: p.time(), Host: p.host, Slots: p.slots, SlotsChosen: p.chosen || p.resized, CPUs: p.cpus(),
		Memory: simMemory, Labels: map[string]string{task.HostLabel: p.host}, Draining: p.drained, Leaving: p.leaving,
		Waiting: len(p.waiting), Unsent: len(p.outbox), Key: p.key,
		GPUs: p.gpus.describe()}
	for _, i := range p.waiting {
		if p.lacks(i) && !slices.Contains(h.Needs, *i.need) {
			h.Needs = append(h.Needs, *i.need)
		}
	}
	for _, r := range p.running {
		busy := task.Busy{Sweep: r.id.Sweep, Index: r.id.Index, Attempt: r.number, Slot: r.slot}
		switch {
		case r.ended:
			h.Ending += r.slots
			h.Leftovers = append(h.Leftovers, busy)
		case r.started == nil:
			h.Waiting++
		default:
			busy.Started = r.started.Time
			h.Running = append(h.Running, busy)
		}
	}
	return h
}

// cpus returns the CPUs of the host. Slots that nobody chose are as many.
func (p *simProcess) cpus() int {
	if p.chosen {
		return simCPUs
	}
	return p.simHost.slots
}

func (p *simProcess) lacks(i simItem) bool { return i.need != nil && !p.secrets[*i.need] }

// consume claims what waits for the worker: the events first, and then the acknowledgement.
func (p *simProcess) consume() {
	for {
		b, ok := p.broker.next(p.name)
		if !ok || p.ending || p.isCut() {
			return
		}
		var fresh []simItem
		for _, a := range b.Attempts {
			k := runKey{task.ID{Sweep: b.Sweep, Index: a.Index}, a.Number}
			if e, known := p.known[k]; known {
				p.put(p.again(k, e))
				continue
			}
			i := simItem{runKey: k, slots: b.Slots, reserved: b.Reserved, attempt: a}
			if len(b.Recipe.Secrets) > 0 {
				i.need = &task.Need{Sweep: b.Sweep, Edition: b.Edition}
			}
			fresh = append(fresh, i)
			p.known[k] = nil
			p.put(p.event(task.ClaimedEvent, k))
		}
		p.flush()
		if p.chance(p.faults.kills, 40) {
			p.kill()
			return
		}
		p.broker.taken(p.name)
		p.waiting = append(p.waiting, fresh...)
		for _, i := range fresh {
			p.follow(i)
			if p.lacks(i) {
				p.after(0, p.beat)
			}
		}
		if p.drained {
			p.giveBack(func(simItem) bool { return true })
		}
		p.dispatch()
	}
}

// again is the event that says where a known attempt stands.
func (p *simProcess) again(k runKey, e *task.Event) task.Event {
	if r := p.run(k); r != nil && !r.ended && r.started != nil {
		return *r.started
	}
	if e != nil {
		return *e
	}
	return p.event(task.ClaimedEvent, k)
}

func (p *simProcess) run(k runKey) *simRun {
	for _, r := range p.running {
		if r.runKey == k {
			return r
		}
	}
	return nil
}

// follow ends an earlier attempt of the same task.
func (p *simProcess) follow(i simItem) {
	for _, r := range p.running {
		if r.id == i.id && r.number < i.number {
			p.stopRun(r)
		}
	}
}

// dispatch lets what waits begin in free slots, first what the master reserved something for.
// Attempts of one task never run at once.
func (p *simProcess) dispatch() {
	for !p.ending {
		slot, free := 0, p.slots
		for slices.ContainsFunc(p.running, func(r *simRun) bool { return r.slot == slot }) {
			slot++
		}
		for _, r := range p.running {
			free -= r.slots
		}
		can := func(i simItem) bool {
			return !p.lacks(i) && p.hasDevices(i) && min(i.slots, p.slots) <= free && !slices.ContainsFunc(
				p.running, func(r *simRun) bool { return r.id == i.id })
		}
		n := slices.IndexFunc(p.waiting, func(i simItem) bool { return i.reserved && can(i) })
		if n < 0 {
			n = slices.IndexFunc(p.waiting, can)
		}
		if n < 0 {
			return
		}
		r := &simRun{simItem: p.waiting[n], slot: slot}
		p.gpus.given[r.runKey] = r.attempt
		p.waiting = slices.Delete(p.waiting, n, n+1)
		p.running = append(p.running, r)
		p.after(p.broker.latency(3*time.Second), func() { p.begin(r) })
	}
}

// begin lets the program of an attempt run.
func (p *simProcess) begin(r *simRun) {
	switch {
	case r.stopping:
		p.end(r, task.Outcome{Class: task.Stopped, Reason: "stopped"})
		return
	case p.unfit:
		p.end(r, task.Outcome{Class: task.Loss, Reason: "infra: it has no memory"})
		return
	}
	e := p.event(task.StartedEvent, r.runKey)
	e.Start = &task.Start{Host: p.host, Slot: r.slot}
	r.started = &e
	p.tracef("%s begins %v.%d", p.host, r.id, r.number)
	r.start = p.judge.started(p.name, r.runKey, r.attempt)
	p.note(e)
	p.tell(e)
	began := p.now
	p.after(p.people.duration(r.id, r.number), func() {
		if r.ended {
			return
		}
		class := p.people.class(r.id, r.number)
		if class == killsItsWorker {
			p.kill()
			return
		}
		p.end(r, task.Outcome{Class: class, Reason: string(class), Duration: p.now.Sub(began)})
	})
}

// end tells how an attempt ended. Processes that it left may keep its slot for a while.
func (p *simProcess) end(r *simRun, o task.Outcome) {
	if r.ended {
		return
	}
	r.ended = true
	e := p.event(task.EndedEvent, r.runKey)
	if r.started != nil {
		e.Start = r.started.Start
		o.Stdout.Bytes = p.judge.printed(p.name, r.runKey)
	}
	if o.Class == task.Error {
		o.ExitCode = new(1)
	}
	p.tracef("%s ends %v.%d: %s", p.host, r.id, r.number, o.Class)
	e.Outcome = &o
	e.Leftovers = r.started != nil && p.IntN(8) == 0
	p.known[r.runKey] = &e
	p.tell(e)
	if o.HostFault() {
		p.unfits++
	} else if o.Ran() {
		p.unfits = 0
	}
	if p.unfits >= task.MaxHostFaults && !p.drained {
		p.drained = true
		p.giveBack(func(simItem) bool { return true })
	}
	if e.Leftovers {
		p.beat()
		p.after(p.upTo(3*time.Second), func() { p.free(r) })
		return
	}
	p.free(r)
}

// free takes an attempt out of its slot.
func (p *simProcess) free(r *simRun) {
	p.running = slices.DeleteFunc(p.running, func(o *simRun) bool { return o == r })
	p.releaseGPUs(r)
	if len(p.running) == 0 && (p.leaving || p.ending) {
		p.exit()
		return
	}
	p.beat()
	p.dispatch()
}

// giveBack returns what waits.
func (p *simProcess) giveBack(meant func(simItem) bool) {
	var kept []simItem
	for _, i := range p.waiting {
		if !meant(i) {
			kept = append(kept, i)
			continue
		}
		e := p.event(task.ReturnedEvent, i.runKey)
		p.known[i.runKey] = &e
		p.tell(e)
	}
	p.waiting = kept
}
