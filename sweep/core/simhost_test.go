package core_test

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/task"
)

// simHost is what outlives the processes of a worker on its host. A worker whose name two processes
// have has two hosts.
type simHost struct {
	*sim
	name, host string
	slots      int
	chosen     bool // somebody chose the slots
	gpus       *simGPUs
	clock      time.Duration     // how far it is from the master's
	begun      string            // the newest incarnation; "": none, or it was lost
	noted      []task.Event      // what began last in each slot, of a process that was killed
	keeps      bool              // there are such notes
	outbox     []task.Event      // events that the broker has not taken
	process    *simProcess       // nil: there is none
	unfit      bool              // it can run nothing
	rival      bool              // another worker has its name
	coming     bool              // another process is about to start
	gone       bool              // no other process starts
	cutUntil   time.Time         // when the broker can be reached again
	ended      *invariants.Fault // of the last process; it lasts until the next
}

// addHost adds a worker whose first process starts after a while.
func (s *sim) addHost(name string, d time.Duration) *simHost {
	h := &simHost{sim: s, name: name, host: fmt.Sprintf("%s-%d", name, len(s.hosts)),
		slots: 1 + s.IntN(3), chosen: s.IntN(2) == 0}
	h.gpus = newSimGPUs(h.newDevices())
	if s.faults.clocks {
		h.clock = -s.upTo(time.Hour)
	}
	s.hosts = append(s.hosts, h)
	h.startAfter(d)
	return h
}

func (h *simHost) startAfter(d time.Duration) {
	h.coming = true
	h.after(d, func() {
		if h.coming && !h.gone {
			h.start()
		}
	})
}

func (h *simHost) isCut() bool { return h.cutUntil.After(h.now) }

// time is what the host's clock shows.
func (h *simHost) time() time.Time { return h.now.Add(h.clock) }

// incarnations have one width, so that texts compare as times do.
const incarnationTime = "2006-01-02T15:04:05.000000000Z"

// start starts a process.
func (h *simHost) start() {
	h.coming = false
	if h.ended != nil {
		h.ended.To = h.now // what was on its way to it begins now
	}
	now := h.time()
	before, _, _ := strings.Cut(h.begun, "-r")
	if last, err := time.Parse(incarnationTime, before); err == nil && !now.After(last) {
		now = last.Add(time.Nanosecond)
	}
	h.begun = fmt.Sprintf("%s-r%08x", now.Format(incarnationTime), h.Uint32())
	p := &simProcess{simHost: h, incarnation: h.begun, slots: h.slots, alive: true,
		known: map[runKey]*task.Event{}, secrets: map[task.Need]bool{},
		unmet: map[runKey]time.Time{}}
	p.key = []byte(p.incarnation)
	h.tracef("%s starts on %s: %s", h.name, h.host, p.incarnation)
	h.process = p
	h.put(h.noted...)
	beat := p.heartbeat()
	beat.StartsReported = h.keeps
	h.put(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: h.name, Time: h.time(),
		Heartbeat: &beat})
	h.keeps = true
	p.flush()
	p.beatOften()
	h.broker.greet(h.name)
}

// kill ends a process and what it runs. What it had not yet sent while the broker took events is
// lost with it.
func (h *simHost) kill() {
	if h.process == nil {
		return
	}
	h.tracef("%s is killed on %s", h.name, h.host)
	from := h.now
	if asked := h.process.since; !asked.IsZero() {
		from = asked // it was about to end, and stopped what ran
	}
	h.ended = h.judge.fault(h.name, "", from, h.now)
	h.process.releaseGPUs(h.process.running...)
	h.process.alive, h.process = false, nil
	if !h.broker.down && !h.isCut() {
		h.outbox = nil
	}
	h.supervise()
}

// supervise starts another process, soon, late or never.
func (h *simHost) supervise() {
	switch n := h.IntN(10); {
	case h.rival && !h.calm:
		h.leaveForGood()
	case h.calm || n < 6:
		h.startAfter(h.between(200*time.Millisecond, 5*time.Second))
	case n < 9:
		h.startAfter(h.between(5*time.Second, 4*simLease))
	default:
		h.leaveForGood()
	}
}

// leaveForGood notes that no other process starts here: what the last could not send is lost.
func (h *simHost) leaveForGood() { h.gone, h.outbox = true, nil }

// put notes events to be sent.
func (h *simHost) put(events ...task.Event) { h.outbox = append(h.outbox, events...) }

// note keeps the start of an attempt in its slot.
func (h *simHost) note(e task.Event) {
	h.noted = slices.DeleteFunc(h.noted,
		func(o task.Event) bool { return o.Start.Slot == e.Start.Slot })
	h.noted = append(h.noted, e)
}
