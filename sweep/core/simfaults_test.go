package core_test

import (
	"fmt"
	"slices"
	"time"
)

// faults are the kinds of faults of one history: with few of them little excuses another attempt.
type faults struct {
	delays, duplicates, lostControls, lostBeats, clocks           bool // of messages
	kills, freezes, cuts, rivals, unfit, poison, usedGPUs         bool // of workers
	masterKills, brokerAway, brokerEmptied, people, pauses, stops bool
}

func (s *sim) chooseFaults() (f faults) {
	often := 4
	if s.IntN(4) == 0 {
		often = 2
	}
	for _, kind := range []*bool{&f.delays, &f.duplicates, &f.lostControls, &f.lostBeats, &f.clocks,
		&f.kills, &f.freezes, &f.cuts, &f.rivals, &f.unfit, &f.poison, &f.masterKills, &f.brokerAway,
		&f.brokerEmptied, &f.people, &f.pauses, &f.stops} {
		*kind = s.IntN(often) == 0
	}
	return f
}

// quiet reports whether what is cancelled stops at once: no message is late or lost, and the
// workers and the master are there.
func (f *faults) quiet() bool {
	return !(f.delays || f.lostControls || f.kills || f.freezes || f.cuts || f.rivals || f.poison ||
		f.masterKills || f.brokerAway || f.brokerEmptied || f.stops)
}

// storm lets faults happen for a time.
func (s *sim) storm(length time.Duration) {
	for _, f := range []struct {
		kind   bool
		often  time.Duration
		happen func()
	}{
		{s.faults.kills, 20 * time.Second, func() { s.anyHost().kill() }},
		{s.faults.stops, 20 * time.Second, s.stopAny},
		{s.faults.freezes, 15 * time.Second, s.freezeAny},
		{s.faults.cuts, 15 * time.Second, s.cutAny},
		{s.faults.rivals, length / 2, s.rivalAny},
		{s.faults.clocks, 20 * time.Second, s.setClockBack},
		{s.faults.unfit, 20 * time.Second, s.unfitAny},
		{s.faults.usedGPUs, 10 * time.Second, s.useGPU},
		{s.faults.masterKills, 20 * time.Second, func() {
			if s.master.up {
				s.master.kill()
			}
		}},
		{s.faults.brokerAway, 20 * time.Second, s.cutOff},
		{s.faults.brokerEmptied, 30 * time.Second, s.emptyBroker},
	} {
		if f.kind {
			s.repeat(f.often, f.happen)
		}
	}
}

// repeat lets something happen again and again until the end of the faults.
func (s *sim) repeat(often time.Duration, happen func()) {
	s.after(s.upTo(2*often), func() {
		if !s.calm {
			happen()
			s.repeat(often, happen)
		}
	})
}

func (s *sim) anyHost() *simHost { return s.hosts[s.IntN(len(s.hosts))] }

func (s *sim) stopAny() {
	if p := s.anyHost().process; p != nil {
		p.do(p.stop)
	}
}

// freezeAny freezes a worker, for less than its lease or for more.
func (s *sim) freezeAny() {
	p := s.anyHost().process
	if p == nil || p.frozenUntil.After(s.now) {
		return
	}
	d := s.upTo(4 * time.Second)
	if s.IntN(2) == 0 {
		d = s.between(simLease/2, 3*simLease)
		s.judge.fault(p.name, "", s.now, s.now.Add(d))
	}
	s.tracef("%s is frozen for %v", p.host, d)
	p.frozenUntil = s.now.Add(d)
}

// cutAny cuts a host off from the broker, for about its lease or longer. Its attempts continue.
func (s *sim) cutAny() {
	h := s.anyHost()
	if h.isCut() {
		return
	}
	d := s.between(simLease/2, 3*simLease)
	s.tracef("%s is cut off for %v", h.host, d)
	h.cutUntil = s.now.Add(d)
	s.judge.fault(h.name, "", s.now, h.cutUntil)
	s.after(d, func() { s.broker.greet(h.name) })
}

// rivalAny starts a second worker with the name of another.
func (s *sim) rivalAny() {
	h := s.anyHost()
	if h.rival || h.process == nil || len(s.hosts) > 5 {
		return
	}
	s.judge.fault(h.name, "", s.now, s.now.Add(6*simLease))
	rival := s.addHost(h.name, 0)
	rival.rival, rival.chosen, rival.gpus = true, h.chosen, newSimGPUs(slices.Clone(h.gpus.devices))
	for i := range rival.gpus.devices {
		rival.gpus.devices[i].UUID = fmt.Sprintf("GPU-%s-%d", rival.host, i)
	}
}

// setClockBack sets the clock of a host back, and may take what it knew of its starts.
func (s *sim) setClockBack() {
	h := s.anyHost()
	h.clock -= s.upTo(time.Hour)
	if s.IntN(2) == 0 {
		h.begun = ""
		s.judge.fault(h.name, "", s.now, s.now.Add(4*simLease))
		h.kill()
	}
}

func (s *sim) unfitAny() {
	h := s.anyHost()
	h.unfit = true
	s.tracef("%s is unfit", h.host)
	s.after(s.upTo(time.Minute), func() { h.unfit = false })
}

func (s *sim) cutOff() {
	if !s.broker.down {
		s.broker.leave()
		s.after(s.upTo(2*simLease), s.broker.come)
	}
}

func (s *sim) emptyBroker() {
	if !s.broker.down {
		s.broker.leave()
		s.broker.empty()
		s.after(s.upTo(3*time.Second), s.broker.come)
	}
}
