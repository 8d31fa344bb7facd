package amqp

import (
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

// sayAgain is after how long a cause that stays is logged again.
const sayAgain = time.Minute

// state is how an end reaches the broker: what its parts (two connections and the streams) say, put together, and what
// of it is worth a log line.
type state struct {
	log *slog.Logger

	mu      sync.Mutex
	wrong   map[string]*Fault // by part; nil: not yet there
	since   time.Time
	program string
	blocked string
	said    map[string]time.Time // when each cause was last logged, since the broker was last reached
}

// newState begins with parts that are not there yet.
func newState(log *slog.Logger, parts ...string) *state {
	s := &state{log: log, wrong: map[string]*Fault{}, since: time.Now(), said: map[string]time.Time{}}
	for _, p := range parts {
		s.wrong[p] = nil
	}
	return s
}

// fail notes what is wrong with a part.
func (s *state) fail(part string, f *Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	if len(s.wrong) == 0 {
		s.since = now
	}
	s.wrong[part] = f
	last, told := s.said[f.Error()]
	switch {
	case (f.Kind == Clash || f.Kind == Unready) && !told: // most often the last of it
		s.said[f.Error()] = time.Time{}
	case !told || now.Sub(last) >= sayAgain:
		s.said[f.Error()] = now
		s.log.Warn("the broker cannot be used: "+f.words, "broker", f.Broker, "part", part)
	}
}

// well notes that a part works.
func (s *state) well(part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.wrong[part]; !was {
		return
	}
	delete(s.wrong, part)
	if len(s.wrong) > 0 {
		return
	}
	now := time.Now()
	s.log.Info("the broker is reached", "program", s.program, "after", now.Sub(s.since).Round(time.Millisecond))
	s.since = now
	maps.DeleteFunc(s.said, func(_ string, last time.Time) bool { return now.Sub(last) >= sayAgain })
}

// forget is for a part that ended for good.
func (s *state) forget(part string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, was := s.wrong[part]; !was {
		return
	}
	if delete(s.wrong, part); len(s.wrong) == 0 {
		s.since = time.Now()
	}
}

func (s *state) met(program string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.program = program
}

// block notes why the broker takes no messages; "": it does again.
func (s *state) block(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if why == s.blocked {
		return
	}
	s.blocked = why
	if why != "" {
		s.log.Warn("the broker takes no messages for now; give it memory or disk space", "reason", why)
	} else {
		s.log.Info("the broker takes messages again")
	}
}

// optionalParts are streams without which everything else works.
var optionalParts = []string{"lines", "pieces", rights.DeadQueue, rights.WorkerDeadQueue}

// away reports whether a part is missing without which nothing works.
func (s *state) away() bool {
	for part := range s.wrong {
		if !slices.Contains(optionalParts, part) {
			return true
		}
	}
	return false
}

func (s *state) status() queue.Status {
	s.mu.Lock()
	defer s.mu.Unlock()
	q := queue.Status{Away: s.away(), Since: s.since, Blocked: s.blocked, Program: s.program}
	if !q.Away {
		return q
	}
	for _, part := range slices.Sorted(maps.Keys(s.wrong)) {
		q.Reason = "the broker was not reached yet"
		if f := s.wrong[part]; f != nil {
			q.Reason = f.Error()
			break
		}
	}
	return q
}
