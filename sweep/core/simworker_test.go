package core_test

import (
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// attempt names what a worker runs.
type attempt struct {
	index  int64
	number int
}

// simWorker does what a worker does, by the contract of package queue.
type simWorker struct {
	name        string
	incarnation int
	inbox       []core.Task // outlives the worker
	controls    []task.Control
	outbox      outbox           // outlives the worker
	seen        map[attempt]bool // by this incarnation
	taken       map[attempt]bool // by this one and those before
	backlog     []attempt
	running     []attempt
	stopping    map[attempt]bool
}

func newSimWorker(name string) *simWorker {
	return &simWorker{name: name, seen: map[attempt]bool{}, taken: map[attempt]bool{}, stopping: map[attempt]bool{}}
}

func (s *simWorker) idle() bool {
	return len(s.inbox)+len(s.backlog)+len(s.running)+len(s.controls) == 0 && s.outbox.empty()
}

// die ends the worker and what it ran; another incarnation is there at once. It does not know which deliveries were
// taken before, so what is published twice may run twice.
func (s *simWorker) die(w *world) {
	for _, t := range s.inbox {
		w.history.excuse(t.Index)
	}
	s.controls, s.backlog, s.running = nil, nil, nil
	clear(s.seen)
	clear(s.stopping)
}

// join makes the new incarnation known, after everything that the one before reported.
func (s *simWorker) join() {
	s.incarnation++
	s.outbox.events = append(s.outbox.events, task.Event{Kind: task.JoinedEvent, Worker: s.name, Attempt: s.incarnation})
}

// act lets the worker do a few random things, or nothing.
func (s *simWorker) act(w *world) {
	for range w.IntN(6) {
		switch w.IntN(5) {
		case 0:
			s.claim(w)
		case 1:
			s.obey(w)
		case 2:
			s.start(w)
		case 3:
			s.end(w)
		case 4:
			if len(s.running) > 0 {
				s.tell(w, task.SamplesEvent, s.running[0], nil)
			}
		}
	}
}

// claim takes a delivery. The first of two that name the same attempt counts.
func (s *simWorker) claim(w *world) {
	for range min(len(s.inbox), 1+w.IntN(3)) {
		a := attempt{s.inbox[0].Index, s.inbox[0].Try.Number}
		s.inbox = s.inbox[1:]
		if !s.seen[a] {
			s.seen[a], s.taken[a] = true, true
			s.backlog = append(s.backlog, a)
			s.tell(w, task.ClaimedEvent, a, nil)
		}
	}
}

func (s *simWorker) start(w *world) {
	if len(s.backlog) == 0 {
		return
	}
	a := s.backlog[0]
	s.backlog = s.backlog[1:]
	s.running = append(s.running, a)
	w.history.started(a.index)
	s.tell(w, task.StartedEvent, a, nil)
}

func (s *simWorker) end(w *world) {
	if len(s.running) == 0 {
		return
	}
	i := w.IntN(len(s.running))
	a := s.running[i]
	s.running = slices.Delete(s.running, i, i+1)
	classes := []task.Class{task.Success, task.Success, task.Success, task.Error, task.TimedOut, task.OutOfMemory, task.Loss}
	class := classes[w.IntN(len(classes))]
	if s.stopping[a] && w.IntN(4) > 0 {
		class = task.Stopped
		w.history.excuse(a.index)
	}
	o := &task.Outcome{Class: class, Duration: time.Duration(1+w.IntN(1e6)) * time.Microsecond}
	w.history.ended(s.name, a, o)
	s.tell(w, task.EndedEvent, a, o)
}

func (s *simWorker) obey(w *world) {
	if len(s.controls) == 0 {
		return
	}
	c := s.controls[0]
	s.controls = s.controls[1:]
	switch c.Kind {
	case task.RecallControl:
		s.giveBack(w, func(attempt) bool { return true })
	case task.StopControl:
		a := attempt{c.Index, c.Attempt}
		if slices.Contains(s.running, a) {
			s.stopping[a] = true
		}
		s.giveBack(w, func(b attempt) bool { return a == b })
	}
}

func (s *simWorker) giveBack(w *world, which func(attempt) bool) {
	var kept []attempt
	for _, a := range s.backlog {
		if !which(a) {
			kept = append(kept, a)
			continue
		}
		w.history.excuse(a.index)
		s.tell(w, task.ReturnedEvent, a, nil)
	}
	s.backlog = kept
}

func (s *simWorker) tell(w *world, kind task.Kind, a attempt, o *task.Outcome) {
	s.outbox.events = append(s.outbox.events, task.Event{
		Kind: kind, Worker: s.name, Index: a.index, Attempt: a.number, Time: w.now.Add(time.Hour), Outcome: o,
	})
}

// outbox is the durable queue of one worker's events.
type outbox struct {
	events []task.Event // not acknowledged
	read   int          // of them, delivered
}

func (o *outbox) empty() bool { return len(o.events) == 0 }

func (o *outbox) next() (task.Event, bool) {
	if o.read == len(o.events) {
		return task.Event{}, false
	}
	o.read++
	return o.events[o.read-1], true
}

func (o *outbox) ack() { o.events, o.read = o.events[o.read:], 0 }

func (o *outbox) again() { o.read = 0 }
