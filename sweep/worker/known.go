package worker

import (
	"time"

	"mlframework/sweep/task"
)

// remembered is how many attempts that have left the desk are still known: two of the largest windows of a master, so
// that a batch which is published twice runs once.
const remembered = 1 << 13

// lostResult is the reason of the end that is told again of an attempt whose outcome is not remembered any more.
const lostResult = "its result was lost with the broker"

// known is the attempts that are at the desk or left it lately, and what became of those.
type known struct {
	places map[key]place
	left   []key // a ring, the oldest at next when it is full
	next   int
	ends   ends
}

// place is where a known attempt is.
type place uint8

const (
	here place = iota
	givenBack
	over
)

func (n *known) init() {
	n.places = map[key]place{}
	n.ends.kept = map[key]end{}
}

func (n *known) has(k key) bool {
	_, ok := n.places[k]
	return ok
}

func (n *known) add(k key) { n.places[k] = here }

func (n *known) returned(k key) { n.leave(k, givenBack) }

func (n *known) ended(k key, e task.Event) {
	n.leave(k, over)
	n.ends.add(k, end{e.Time, e.Start, e.Outcome})
}

// leave notes that an attempt left the desk, and forgets the one that left longest ago.
func (n *known) leave(k key, to place) {
	n.places[k] = to
	if len(n.left) < remembered {
		n.left = append(n.left, k)
		return
	}
	delete(n.places, n.left[n.next])
	n.left[n.next] = k
	n.next = (n.next + 1) % remembered
}

// event says again what became of an attempt that is in no slot.
func (n *known) event(i item, worker string) task.Event {
	switch n.places[i.key()] {
	case givenBack:
		return i.event(task.ReturnedEvent, worker)
	case over:
		e := i.event(task.EndedEvent, worker)
		if kept, ok := n.ends.kept[i.key()]; ok {
			e.Time, e.Start, e.Outcome = kept.at, kept.start, kept.outcome
		} else {
			e.Outcome = &task.Outcome{Class: task.Loss, Reason: lostResult}
		}
		return e
	}
	return i.event(task.ClaimedEvent, worker)
}

// How many ends are remembered with their outcomes, and how many bytes these may take, about.
const (
	mostEnds  = 1 << 10
	endsBytes = 1 << 20
)

// ends is how attempts ended, the newest of them.
type ends struct {
	kept  map[key]end
	order []key // the oldest first
	bytes int
}

type end struct {
	at      time.Time
	start   *task.Start // nil: its program did not begin
	outcome *task.Outcome
}

func (s *ends) add(k key, e end) {
	s.kept[k] = e
	s.order = append(s.order, k)
	s.bytes += e.size()
	for len(s.order) > mostEnds || s.bytes > endsBytes {
		oldest := s.order[0]
		s.order = s.order[1:]
		s.bytes -= s.kept[oldest].size()
		delete(s.kept, oldest)
	}
}

// size is the memory that an end takes, about.
func (e end) size() int {
	n := 512 + len(e.outcome.Reason) // with its places in map and order
	for _, m := range e.outcome.Metrics {
		n += 40 + len(m.Name)
		if m.Span != nil {
			n += 64
		}
	}
	return n
}
