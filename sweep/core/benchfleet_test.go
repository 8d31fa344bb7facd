package core_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// Times of the fleet. A moment is for how long events travel to the core, and how long the master's
// loop gathers them.
const (
	moment       = 20 * time.Millisecond
	beatInterval = 2 * time.Second
	fleetSlots   = 8
	mostMoments  = 4096 // until the latest wakeup
)

// fleet is workers that run the tasks of sweeps in simulated time, for benchmarks: it takes little
// time beside the core, and allocates next to nothing.
type fleet struct {
	*rand.Rand
	meter   *meter
	core    *core.Core
	now     time.Time
	moments int64
	sweeps  []string
	each    int64 // tasks of a sweep
	ended   int   // sweeps
	paused  string
	workers map[string]*fleetWorker
	ordered []*fleetWorker
	starts  int64                 // attempts that began
	wakeups [mostMoments][]wakeup // by moment, as a ring
	woken   []*fleetWorker        // something is in their inbox
	telling []core.Event          // that are on their way
	events  []core.Event          // that came in this moment
	beats   []task.Heartbeat
}

// fleetWorker claims what it gets at once and runs as much as it has slots.
type fleetWorker struct {
	name        string
	gpus        []task.GPU
	number      int32 // in fleet.ordered
	incarnation int
	dead        bool
	draining    bool
	inbox       []task.Busy
	backlog     []task.Busy
	running     [fleetSlots]task.Busy // without a sweep: free
	serials     [fleetSlots]int64     // of these attempts, in the order in which they began
	told        [fleetSlots]task.Busy // by its newest heartbeat
}

// wakeup is that a worker has something to do. It has no pointers: there are many of them, and the
// collection of garbage is measured with the core.
type wakeup struct {
	serial int64 // of the attempt that ends
	worker int32
	slot   int8
	what   wakeupKind
}

type wakeupKind uint8

const (
	beatWakeup   wakeupKind = iota // it tells a heartbeat
	endWakeup                      // an attempt ends
	returnWakeup                   // it was dead and begins anew
)

func newFleet(b *testing.B, workers, sweeps int, tasks int64, needs ...task.Needs) *fleet {
	s, _, err := space.Read("parameters.yml",
		[]byte("lr: [0.1, 0.01, 0.001]\nbatch: [32, 64]\nseed: !interval [1, 1000000]"))
	if err != nil {
		b.Fatal(err)
	}
	f := &fleet{Rand: rand.New(rand.NewPCG(1, 2)), now: at(0), each: tasks / int64(sweeps),
		workers: map[string]*fleetWorker{}}
	record := core.Record{Space: s, Retry: task.Retry{Error: 2, Timeout: 1, OOM: 1, Lost: 3}}
	record.Recipe = task.Recipe{Definition: "train", Command: []string{"python3", "train.py"}}
	var loaded []core.Loaded
	for i := range sweeps {
		f.sweeps = append(f.sweeps, task.SweepID("train", int64(i+1)))
		head := core.Head{ID: f.sweeps[i], State: core.Open, Submitted: f.now, Total: f.each}
		r := record
		if len(needs) > 0 {
			r.Recipe.Needs = needs[i%len(needs)]
		}
		loaded = append(loaded, core.Loaded{Seq: int64(i + 1), Record: r, Head: head})
	}
	f.core, _ = core.Load(core.Options{}, loaded, nil, f.now)
	for i := range workers {
		w := &fleetWorker{name: fmt.Sprintf("worker-%04d", i), number: int32(i)}
		if len(needs) > 0 {
			w.gpus = gpusOf(8, w.name+" A100", 80*gib)
		}
		f.workers[w.name] = w
		f.ordered = append(f.ordered, w)
		f.wake(f.between(0, beatInterval), wakeup{worker: w.number, what: returnWakeup})
	}
	return f
}

func (f *fleet) between(from, to time.Duration) time.Duration {
	return from + time.Duration(f.Int64N(int64(to-from)))
}

func (f *fleet) wake(in time.Duration, w wakeup) {
	moment := &f.wakeups[(f.moments+1+int64(in/moment))%mostMoments]
	*moment = append(*moment, w)
}

// advance is one moment: workers do what it is time for, and what they say of it is in events and
// beats.
func (f *fleet) advance() {
	f.moments++
	f.now = f.now.Add(moment)
	f.beats = f.beats[:0]
	woken := f.woken
	f.woken = nil
	for _, w := range woken {
		f.claim(w)
	}
	due := &f.wakeups[f.moments%mostMoments]
	for _, u := range *due {
		w := f.ordered[u.worker]
		switch {
		case u.what == returnWakeup:
			f.join(w)
		case w.dead:
		case u.what == beatWakeup:
			f.beat(w)
		case w.serials[u.slot] == u.serial && w.running[u.slot].Sweep != "":
			f.end(w, w.running[u.slot], f.class())
		}
	}
	*due = (*due)[:0]
	f.events, f.telling = f.telling, f.events[:0]
}

// class is how an attempt ends.
func (f *fleet) class() task.Class {
	switch n := f.IntN(100); {
	case n < 90:
		return task.Success
	case n < 95:
		return task.Error
	case n < 97:
		return task.TimedOut
	case n < 98:
		return task.OutOfMemory
	case n < 99:
		return task.Loss
	}
	return task.Stopped
}

// beat tells what the worker runs. One of 500 is its last: so every worker dies in 1,000 s.
func (f *fleet) beat(w *fleetWorker) {
	if f.IntN(500) == 0 {
		w.dead, w.backlog, w.running = true, w.backlog[:0], [fleetSlots]task.Busy{}
		f.wake(f.between(5*time.Second, time.Minute), wakeup{worker: w.number, what: returnWakeup})
		return
	}
	f.beats = append(f.beats, w.heartbeat(f.now))
	f.wake(beatInterval, wakeup{worker: w.number, what: beatWakeup})
}

func (w *fleetWorker) heartbeat(now time.Time) task.Heartbeat {
	told := w.told[:0]
	for _, b := range w.running {
		if b.Sweep != "" {
			told = append(told, b)
		}
	}
	return task.Heartbeat{Version: task.Version, Worker: w.name,
		Incarnation: incarnations[w.incarnation], Time: now, Program: "1.0", Host: w.name,
		Slots: fleetSlots, SlotsChosen: true, CPUs: 64, Memory: 512 * gib, GPUs: w.gpus,
		Draining: w.draining, Running: told, Waiting: len(w.backlog),
	}
}

// incarnations are names of processes, in order.
var incarnations = func() (all []string) {
	for i := range 1000 {
		all = append(all, fmt.Sprintf("%05d", i))
	}
	return all
}()

func (f *fleet) join(w *fleetWorker) {
	w.dead, w.draining = false, false
	w.incarnation++
	beat := w.heartbeat(f.now)
	e := task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: w.name, Time: f.now,
		Heartbeat: &beat}
	f.telling = append(f.telling, core.Event{Event: e})
	f.beat(w)
	f.woken = append(f.woken, w)
}

func (f *fleet) claim(w *fleetWorker) {
	if w.dead {
		return
	}
	for _, b := range w.inbox {
		f.tell(w, task.ClaimedEvent, b)
	}
	w.backlog = append(w.backlog, w.inbox...)
	w.inbox = w.inbox[:0]
	f.start(w)
}

// start begins attempts of the backlog in slots that are free.
func (f *fleet) start(w *fleetWorker) {
	for slot := range w.running {
		if len(w.backlog) == 0 {
			return
		}
		if w.running[slot].Sweep != "" {
			continue
		}
		b := w.backlog[0]
		w.backlog = slices.Delete(w.backlog, 0, 1)
		b.Slot, b.Started = slot, f.now
		f.starts++
		w.running[slot], w.serials[slot] = b, f.starts
		f.tell(w, task.StartedEvent, b)
		f.wake(f.between(2*time.Second, 10*time.Second),
			wakeup{serial: f.starts, worker: w.number, slot: int8(slot), what: endWakeup})
	}
}

func (f *fleet) end(w *fleetWorker, b task.Busy, class task.Class) {
	w.running[b.Slot] = task.Busy{}
	f.tell(w, task.EndedEvent, b)
	e := &f.telling[len(f.telling)-1]
	e.Outcome = outcomes[class][f.IntN(len(outcomes[class]))]
	f.start(w)
}

// outcomes are ends of each class. Of those that a host causes some come at once.
var outcomes = func() map[task.Class][]*task.Outcome {
	all := map[task.Class][]*task.Outcome{}
	classes := []task.Class{task.Success, task.Error, task.TimedOut, task.OutOfMemory, task.Loss,
		task.Stopped}
	for _, class := range classes {
		for n := range 64 {
			lasted := 2*time.Second + time.Duration(n)*125*time.Millisecond
			o := &task.Outcome{Class: class, Duration: lasted}
			if class == task.Loss {
				o.Reason, o.Duration = "infra: no space left on device", lasted/4
			}
			all[class] = append(all[class], o)
		}
	}
	return all
}()

var fleetStarts = func() (all [fleetSlots]task.Start) {
	for slot := range all {
		all[slot] = task.Start{Host: "host", Slot: slot}
	}
	return all
}()

func (f *fleet) tell(w *fleetWorker, kind task.EventKind, b task.Busy) {
	e := task.Event{Version: task.Version, Kind: kind, Worker: w.name, Sweep: b.Sweep,
		Index: b.Index, Attempt: b.Attempt, Time: f.now}
	if kind == task.StartedEvent || kind == task.EndedEvent {
		e.Start = &fleetStarts[b.Slot]
	}
	f.telling = append(f.telling, core.Event{Event: e})
}

// deliver gives workers what a step sent them. What a dead one gets waits for it.
func (f *fleet) deliver(messages []core.Message) {
	for i := range messages {
		m := &messages[i]
		w := f.workers[m.Worker]
		if m.Remove {
			w.inbox = w.inbox[:0]
		}
		for _, batch := range m.Batches {
			for _, a := range batch.Attempts {
				b := task.Busy{Sweep: batch.Sweep, Index: a.Index, Attempt: a.Number}
				w.inbox = append(w.inbox, b)
			}
		}
		if len(m.Batches) > 0 {
			f.woken = append(f.woken, w)
		}
		if m.Control != nil && !w.dead {
			f.control(w, m.Control)
		}
	}
}

func (f *fleet) control(w *fleetWorker, c *task.Control) {
	switch c.Kind {
	case task.DrainControl:
		w.draining = !c.Off
	case task.RecallControl:
		f.giveBack(w, func(b task.Busy) bool { return b.Sweep == c.Sweep })
	case task.StopControl:
		named := func(b task.Busy) bool {
			return b.Sweep == c.Sweep && b.Index == c.Index && b.Attempt == c.Attempt
		}
		f.giveBack(w, named)
		if at := slices.IndexFunc(w.running[:], named); at >= 0 {
			f.end(w, w.running[at], task.Stopped)
		}
	}
}

func (f *fleet) giveBack(w *fleetWorker, which func(task.Busy) bool) {
	w.backlog = slices.DeleteFunc(w.backlog, func(b task.Busy) bool {
		if which(b) {
			f.tell(w, task.ReturnedEvent, b)
			return true
		}
		return false
	})
}

// command is what people ask of the master, once a second; else nil.
func (f *fleet) command() core.Command {
	if f.moments%int64(time.Second/moment) != 0 {
		return nil
	}
	sweep := f.sweeps[f.IntN(len(f.sweeps))]
	switch {
	case f.paused != "":
		sweep, f.paused = f.paused, ""
		return core.ResumeSweep{Sweep: sweep}
	case f.IntN(10) == 0:
		f.paused = sweep
		return core.PauseSweep{Sweep: sweep, Reason: "paused"}
	}
	return core.CancelTask{Task: task.ID{Sweep: sweep, Index: f.Int64N(f.each)},
		Reason: "cancelled"}
}
