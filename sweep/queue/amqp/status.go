package amqp

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/queue"
)

// logInterval is after how long a cause that stays is logged again.
const logInterval = time.Minute

// passingTime is how long a cause that most often passes by itself is not logged: what a worker
// needs at the broker is made when the master hears of it first.
const passingTime = 5 * time.Second

// statusTracker is how an end reaches the broker: what its parts (two connections and the streams)
// say, put together, and what of it is worth a log line.
type statusTracker struct {
	log *slog.Logger

	mu      sync.Mutex
	faults  map[string]*Fault // by part; nil: not yet there
	since   time.Time
	program string
	blocked string
	// until when each cause is not logged, since the broker was last reached
	quietUntil map[string]time.Time
}

// newStatusTracker begins with parts that are not there yet.
func newStatusTracker(log *slog.Logger, parts ...string) *statusTracker {
	s := &statusTracker{log: log, faults: map[string]*Fault{}, since: time.Now(),
		quietUntil: map[string]time.Time{}}
	for _, p := range parts {
		s.faults[p] = nil
	}
	return s
}

// failed notes what is wrong with a part.
func (s *statusTracker) failed(part string, f *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.faults) == 0 {
		s.since = now
	}
	s.faults[part] = f
	until, known := s.quietUntil[f.Error()]
	switch {
	case (f.Kind == Clash || f.Kind == Unready) && !known:
		s.quietUntil[f.Error()] = now.Add(passingTime)
	case !now.Before(until):
		s.quietUntil[f.Error()] = now.Add(logInterval)
		s.log.Warn("the broker cannot be used: "+f.text, "broker", f.Broker, "part", part)
	}
}

// works notes that a part works.
func (s *statusTracker) works(part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.faults[part]; !was {
		return
	}
	delete(s.faults, part)
	if len(s.faults) > 0 {
		return
	}
	now := time.Now()
	s.log.Info("the broker is reached", "program", s.program, "after",
		now.Sub(s.since).Round(time.Millisecond))
	s.since = now
	maps.DeleteFunc(s.quietUntil, func(_ string, until time.Time) bool {
		return until.Sub(now) <= passingTime
	})
}

// forget is for a part that ended for good.
func (s *statusTracker) forget(part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.faults[part]; !was {
		return
	}
	if delete(s.faults, part); len(s.faults) == 0 {
		s.since = time.Now()
	}
}

func (s *statusTracker) setProgram(program string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.program = program
}

// setBlocked notes why the broker takes no messages; "": it does again.
func (s *statusTracker) setBlocked(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why == s.blocked {
		return
	}
	s.blocked = why
	if why != "" {
		s.log.Warn("the broker takes no messages for now; give it memory or disk space", "reason",
			why)
	} else {
		s.log.Info("the broker takes messages again")
	}
}

// optionalParts are streams without which everything else works.
var optionalParts = []string{"lines", "pieces"}

// unreachable reports whether a part is missing without which nothing works.
func (s *statusTracker) unreachable() bool {
	for part := range s.faults {
		if !slices.Contains(optionalParts, part) {
			return true
		}
	}
	return false
}

func (s *statusTracker) status() queue.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := queue.Status{Unreachable: s.unreachable(), Since: s.since, Blocked: s.blocked,
		Program: s.program}
	if !q.Unreachable {
		return q
	}
	for _, part := range slices.Sorted(maps.Keys(s.faults)) {
		q.Reason = "the broker was not reached yet"
		if f := s.faults[part]; f != nil {
			q.Reason = f.Error()
			break
		}
	}
	return q
}
