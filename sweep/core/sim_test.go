package core_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"mlframework/internal/invariants"
	"mlframework/sweep/core"
)

// sim is a whole site in one goroutine, driven by a seed: a core on a store, a broker, workers and
// people, with faults for a while and then without.
type sim struct {
	*rand.Rand
	now    time.Time
	agenda agenda

	faults faults
	bug    *bug // nil: none
	store  *simStore
	broker *simBroker
	master *simMaster
	people *simPeople
	hosts  []*simHost
	judge  simJudge

	plain bool // there are none
	gpus  bool // hosts have GPUs, and sweeps need some
	calm  bool // no more faults
	over  bool
	trace func(format string, args ...any) // nil: nothing is traced
}

// simLease is short, so that histories are.
const simLease = 10 * time.Second

// How long a history lasts: with faults, at most, and after them.
const (
	longestStorm = 90 * time.Second
	longestCalm  = time.Hour
)

func newSim(seed uint64, b *bug) *sim {
	s := &sim{Rand: rand.New(rand.NewPCG(seed, 2)), now: at(0), bug: b}
	if b == nil {
		s.bug = &bug{}
	}
	s.faults = s.chooseFaults()
	return s.populate(seed)
}

// newPlainSim has no faults, and sweeps whose end does not depend on which task runs first. Where
// kills is set the master is killed again and again, between any two steps.
func newPlainSim(seed uint64, kills bool) *sim {
	s := &sim{Rand: rand.New(rand.NewPCG(seed, 2)), now: at(0), bug: &bug{}, plain: true}
	s.populate(seed)
	if kills {
		s.repeat(2*time.Second, s.master.killBetweenSteps)
	}
	return s
}

// populate adds what a site has.
func (s *sim) populate(seed uint64) *sim {
	s.store, s.broker, s.judge = newSimStore(), newSimBroker(s), newSimJudge(s)
	s.master = &simMaster{sim: s}
	s.people = &simPeople{sim: s, plan: rand.New(rand.NewPCG(seed, 3))}
	s.gpus = seed%3 == 0
	s.faults.usedGPUs = s.gpus && !s.plain && s.IntN(3) == 0
	for n := range 1 + s.IntN(3) {
		s.addHost(fmt.Sprintf("w%d", n), s.upTo(2*time.Second))
	}
	if s.IntN(4) == 0 {
		s.addHost("late", s.upTo(longestStorm))
	}
	s.after(s.upTo(time.Second), s.master.start)
	s.people.begin()
	storm := time.Duration(20+s.IntN(70)) * time.Second
	s.storm(storm)
	s.after(storm, s.endStorm)
	return s
}

// run lets the history happen and returns what is wrong with it.
func (s *sim) run() (err error) {
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("panic: %v\n%s", value, debug.Stack())
		}
	}()
	for end := s.now.Add(longestStorm + longestCalm); !s.over; {
		m := s.agenda.pop()
		if m.at.After(end) {
			return fmt.Errorf("stuck: %s", s.stuck())
		}
		s.now = m.at
		m.do()
		if err := s.judge.wrong; err != nil {
			return err
		}
	}
	found, err := invariants.Check(context.Background(), s.store, s.judge.evidence())
	if err != nil {
		return err
	}
	return invariants.Error(found)
}

// after lets something happen later.
func (s *sim) after(d time.Duration, do func()) { s.agenda.push(s.now.Add(d), do) }

// upTo is a random time.
func (s *sim) upTo(d time.Duration) time.Duration { return time.Duration(s.Int64N(int64(d))) }

// between is a random time, too.
func (s *sim) between(from, to time.Duration) time.Duration { return from + s.upTo(to-from) }

// chance is true once in n times while there are faults of a kind.
func (s *sim) chance(kind bool, n int) bool { return kind && !s.calm && s.IntN(n) == 0 }

func (s *sim) tracef(format string, args ...any) {
	if s.trace != nil {
		s.trace("%8.3f "+format, append([]any{s.now.Sub(at(0)).Seconds()}, args...)...)
	}
}

// endStorm ends the faults, lets people repair what is left of them, and waits for the end.
func (s *sim) endStorm() {
	s.tracef("calm")
	s.calm = true
	s.broker.come()
	for _, h := range s.hosts {
		h.cutUntil = s.now
		s.broker.greet(h.name)
	}
	if !s.master.up {
		s.master.start()
	}
	for _, h := range s.hosts {
		h.unfit = false
		for i := range h.gpus.devices {
			h.gpus.devices[i].Unavailable = ""
		}
		if h.process != nil {
			h.process.frozenUntil = s.now
		}
		if others := s.alive(h.name); h.process == nil && len(others) == 0 &&
			(!h.gone || s.IntN(2) == 0) {
			h.gone = false
			h.start()
		}
	}
	if len(s.alive("")) == 0 {
		s.hosts[0].gone = false
		s.hosts[0].start()
	}
	s.repair()
}

// alive lists the processes of a worker, or of all.
func (s *sim) alive(name string) (all []*simProcess) {
	for _, h := range s.hosts {
		if h.process != nil && (name == "" || name == h.name) {
			all = append(all, h.process)
		}
	}
	return all
}

// repair does every few seconds what people do when something is left: they resume what was paused,
// and forget workers that are gone. It ends the history when nothing is left.
func (s *sim) repair() {
	if s.over = s.ended(); !s.over {
		s.people.repair()
		s.after(5*time.Second, s.repair)
	}
}

// ended reports whether every sweep has ended, nothing happens any more, and every worker that is
// there takes tasks.
func (s *sim) ended() bool {
	for _, w := range s.store.sweeps {
		if w.model.head.Ended.IsZero() {
			return false
		}
	}
	for _, h := range s.hosts {
		if h.process != nil && !h.process.idle() || len(h.outbox) > 0 {
			return false
		}
	}
	if !s.broker.idle() || !s.master.idle() {
		return false
	}
	for _, w := range s.master.core.Workers() {
		if w.State != core.WorkerReady {
			return false
		}
	}
	return true
}

// stuck says what a history waits for that does not end.
func (s *sim) stuck() (text string) {
	for _, w := range s.store.sweeps {
		if h := w.model.head; h.Ended.IsZero() {
			text += fmt.Sprintf("%s has not ended: %s, %v; ", h.ID, h.State, h.Counts())
		}
	}
	if s.master.core != nil {
		for _, w := range s.master.core.Workers() {
			text += fmt.Sprintf("%s is %s", w.Name, w.State)
			if w.Reason != nil {
				text += " (" + *w.Reason + ")"
			}
			text += "; "
		}
	}
	for _, h := range s.hosts {
		if h.process != nil && !h.process.idle() || len(h.outbox) > 0 {
			text += fmt.Sprintf("%s is not idle, with %d events; ", h.name, len(h.outbox))
		}
	}
	return text + fmt.Sprintf("idle are broker %v, master %v", s.broker.idle(), s.master.idle())
}

// agenda is what will happen, a heap by time; what comes at one time happens in the order in which
// it was noted.
type agenda struct {
	all    []planned
	serial int64
}

type planned struct {
	at     time.Time
	serial int64
	do     func()
}

func (m *planned) before(o *planned) bool {
	c := m.at.Compare(o.at)
	return c < 0 || c == 0 && m.serial < o.serial
}

func (a *agenda) push(at time.Time, do func()) {
	a.serial++
	a.all = append(a.all, planned{at, a.serial, do})
	for n := len(a.all) - 1; n > 0; {
		up := (n - 1) / 2
		if !a.all[n].before(&a.all[up]) {
			return
		}
		a.all[n], a.all[up] = a.all[up], a.all[n]
		n = up
	}
}

func (a *agenda) pop() planned {
	first, last := a.all[0], len(a.all)-1
	a.all[0], a.all[last] = a.all[last], planned{}
	a.all = a.all[:last]
	for n := 0; ; {
		least := n
		for child := 2*n + 1; child <= 2*n+2 && child < last; child++ {
			if a.all[child].before(&a.all[least]) {
				least = child
			}
		}
		if least == n {
			return first
		}
		a.all[n], a.all[least] = a.all[least], a.all[n]
		n = least
	}
}
