package core_test

import (
	"maps"
	"slices"
	"time"

	"mlframework/sweep/task"
)

// simBroker carries messages by the contract of package queue: batches and events are kept until
// they were taken, in order for each worker, and heartbeats and control messages may be lost.
type simBroker struct {
	*sim
	down   bool
	since  time.Time // when it was reached last
	queues map[string]*simQueue
}

// simQueue is what is on its way to a worker and from it.
type simQueue struct {
	batches  []task.Batch
	controls []task.Control // for a worker that is not there

	controlled, emitted time.Time // when the newest control message and event arrive

	events []emitted
	read   int // of them, by a master that has not acknowledged them
}

type emitted struct {
	event  task.Event
	arrive time.Time
}

func newSimBroker(s *sim) *simBroker { return &simBroker{sim: s, queues: map[string]*simQueue{}} }

func (b *simBroker) queue(worker string) *simQueue {
	q := b.queues[worker]
	if q == nil {
		q = &simQueue{}
		b.queues[worker] = q
	}
	return q
}

func (b *simBroker) names() []string { return slices.Sorted(maps.Keys(b.queues)) }

// idle reports whether nothing is on its way to a worker that is there, or from any.
func (b *simBroker) idle() bool {
	for name, q := range b.queues {
		if len(q.events) > 0 || len(q.batches) > 0 && len(b.alive(name)) > 0 {
			return false
		}
	}
	return true
}

// go away, come back, and lose everything.

func (b *simBroker) leave() {
	b.tracef("the broker is away")
	b.down = true
	for _, q := range b.queues {
		q.read = 0
	}
}

func (b *simBroker) come() {
	if !b.down {
		return
	}
	b.tracef("the broker is back")
	b.down, b.since = false, b.now
	for _, name := range b.names() {
		b.offer(name)
	}
	b.master.wake(0)
}

func (b *simBroker) empty() {
	b.tracef("the broker is emptied")
	b.judge.fault("", "", b.now, b.now.Add(3*time.Second))
	for _, q := range b.queues {
		*q = simQueue{}
	}
}

// latency is how long a message is on its way.
func (b *simBroker) latency(longest time.Duration) time.Duration {
	if b.chance(b.faults.delays, 15) {
		return b.upTo(longest)
	}
	return b.between(time.Millisecond, 15*time.Millisecond)
}

// publish keeps batches for a worker.
func (b *simBroker) publish(worker string, batches []task.Batch) {
	q := b.queue(worker)
	q.batches = append(q.batches, batches...)
	if b.chance(b.faults.duplicates, 20) {
		q.batches = append(q.batches, batches...)
	}
	b.offer(worker)
}

// offer lets the processes of a worker take what waits for it.
func (b *simBroker) offer(worker string) {
	for _, p := range b.alive(worker) {
		p.after(b.latency(3*time.Second), p.consume)
	}
}

// next is what a process takes next.
func (b *simBroker) next(worker string) (batch task.Batch, ok bool) {
	q := b.queue(worker)
	if b.down || len(q.batches) == 0 {
		return batch, false
	}
	return q.batches[0], true
}

// taken acknowledges what next returned.
func (b *simBroker) taken(worker string) { b.queue(worker).batches = b.queue(worker).batches[1:] }

// purge removes what waits for a worker.
func (b *simBroker) purge(worker string) { b.queue(worker).batches = nil }

// control sends a control message: to one of the processes of a worker, where there are several.
func (b *simBroker) control(worker string, c task.Control) {
	if b.chance(b.faults.lostControls, 5) {
		return
	}
	q := b.queue(worker)
	q.controlled = later(q.controlled, b.now.Add(b.latency(3*time.Second)))
	b.after(q.controlled.Sub(b.now), func() { b.deliver(worker, c) })
}

func (b *simBroker) deliver(worker string, c task.Control) {
	all := b.alive(worker)
	if len(all) > 0 {
		p := all[b.IntN(len(all))]
		if !p.isCut() {
			p.do(func() { p.obey(c) })
		}
	} else if !b.calm && b.IntN(2) == 0 {
		b.queue(worker).controls = append(b.queue(worker).controls, c)
	}
}

// greet delivers what waited for a worker that was not there.
func (b *simBroker) greet(worker string) {
	q := b.queue(worker)
	controls := q.controls
	q.controls = nil
	for _, c := range controls {
		b.deliver(worker, c)
	}
	b.offer(worker)
}

// emit keeps events of a worker for the master.
func (b *simBroker) emit(worker string, events []task.Event) {
	if b.chance(b.faults.duplicates, 20) {
		events = append(slices.Clone(events), events...)
	}
	q := b.queue(worker)
	for _, e := range events {
		q.emitted = later(q.emitted, b.now.Add(b.latency(3*time.Second)))
		q.events = append(q.events, emitted{e, q.emitted})
	}
	b.after(q.emitted.Sub(b.now), func() { b.master.wake(b.upTo(20 * time.Millisecond)) })
}

// beat carries a heartbeat, or loses it, but no two that follow each other.
func (b *simBroker) beat(p *simProcess, h task.Heartbeat) {
	lose := !p.unheard && b.chance(b.faults.lostBeats, 6)
	if p.unheard = lose; lose || b.down || p.isCut() {
		return
	}
	p.beats = later(p.beats, b.now.Add(b.latency(1500*time.Millisecond)))
	b.after(p.beats.Sub(b.now), func() { b.master.heartbeat(h) })
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// take delivers the events of a worker that have arrived, all or some of them.
func (q *simQueue) take(s *sim) (all []task.Event) {
	for q.read < len(q.events) && !q.events[q.read].arrive.After(s.now) && s.IntN(10) > 0 {
		all = append(all, q.events[q.read].event)
		q.read++
	}
	return all
}

// acknowledge forgets what was delivered.
func (q *simQueue) acknowledge() { q.events, q.read = q.events[q.read:], 0 }
