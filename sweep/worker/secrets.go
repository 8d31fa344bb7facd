package worker

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/secret"
	"mlframework/sweep/task"
)

// secretsPatience is for how long the master may be asked for the values of secrets in vain, while it can be asked. It is
// longer than a master is away that is started again.
const secretsPatience = 10 * time.Minute

// mostLots bounds the sweeps whose values are held: asking for them again costs little.
const mostLots = 64

// errNoSecrets is why an attempt does not run whose secrets never came.
var errNoSecrets = errors.New("the master does not send the values of the sweep's secrets: look whether it runs, and is as new as the worker")

// lot is the values of a sweep's secrets, or why they did not come. It does not change.
type lot struct {
	values secret.Values
	err    error
}

// secrets are the values that the master sent to this process, in memory only. What attempts wait for is said in heartbeats
// until it comes.
type secrets struct {
	worker string
	key    *secret.Key

	mu     sync.Mutex
	lots   map[task.Need]*lot
	waited map[task.Need]*waited // of those that have not come
}

// waited is for how long something was asked for.
type waited struct {
	asked time.Time // last
	sum   time.Duration
}

func (s *secrets) init(worker string) {
	s.worker, s.key = worker, secret.NewKey()
	s.lots, s.waited = map[task.Need]*lot{}, map[task.Need]*waited{}
}

// get is what is known of a need; nil: nothing yet.
func (s *secrets) get(n task.Need) *lot {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.lots[n]
}

// want tells whether a need has to be asked for. One that was given up is asked for again: a new batch may have better luck.
func (s *secrets) want(n task.Need) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.lots[n]; l != nil && l.err == nil {
		return false
	}
	delete(s.lots, n)
	return true
}

// put notes what came of a need.
func (s *secrets) put(n task.Need, l *lot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.keep(n, l)
}

func (s *secrets) keep(n task.Need, l *lot) {
	for other := range s.lots { // any: what is missing then is asked for again
		if len(s.lots) < mostLots {
			break
		}
		delete(s.lots, other)
	}
	s.lots[n] = l
	delete(s.waited, n)
}

// answer takes the master's answer to a need.
func (s *secrets) answer(c task.Control) error {
	n := task.Need{Sweep: c.Sweep, Edition: c.Edition}
	values, err := s.key.Open(c.Secrets, n.About(s.worker))
	if err != nil {
		return err
	}
	s.put(n, &lot{values: values})
	return nil
}

// asked notes that needs were said to a queue that took them, and tells whether one of them has been for too long. Only time
// counts in which somebody could have answered.
func (s *secrets) asked(needs []task.Need, now time.Time) (givenUp bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.waited {
		if !slices.Contains(needs, n) {
			delete(s.waited, n)
		}
	}
	for _, n := range needs {
		w := s.waited[n]
		if w == nil {
			w = &waited{asked: now}
			s.waited[n] = w
		}
		w.sum += min(now.Sub(w.asked), interval)
		if w.asked = now; w.sum >= secretsPatience {
			s.keep(n, &lot{err: errNoSecrets})
			givenUp = true
		}
	}
	return givenUp
}

// own are the secrets of a worker whose environment has their values.
func (o Options) own(names []string) *lot {
	l := &lot{values: secret.Values{}}
	for _, v := range o.Environ {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(names, name) {
			l.values[name] = value
		}
	}
	return l
}

// hidden are the values that must not appear in output.
func (l *lot) hidden() (values []string) {
	if l == nil {
		return nil
	}
	for _, value := range l.values {
		if len(value) >= ShortestSecret {
			values = append(values, value)
		}
	}
	return values
}
