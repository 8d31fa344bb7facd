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

// secretsTimeout is how long the worker requests secrets from a reachable master before it gives
// up. It is longer than a restart of the master takes.
const secretsTimeout = 10 * time.Minute

// maxSecretSets limits the sweeps whose secrets are cached: requesting them again costs little.
const maxSecretSets = 64

// errNoSecrets is the error of an attempt whose secrets never arrived.
var errNoSecrets = errors.New("the master does not send the values of the sweep's secrets: " +
	"check that it runs and is as new as the worker")

// secretSet is the secrets of a sweep, or the error why there are none. It is immutable.
type secretSet struct {
	values secret.Values
	err    error
}

// secretStore holds the secrets that the master sent to this process, in memory only. Heartbeats
// request what waiting attempts need until it arrives.
type secretStore struct {
	worker string
	key    *secret.Key

	mu    sync.Mutex
	sets  map[task.Need]*secretSet
	waits map[task.Need]*secretWait // of those that have not come
}

// secretWait is how long something has been requested.
type secretWait struct {
	lastAsked time.Time
	total     time.Duration
}

func (s *secretStore) init(worker string) {
	s.worker, s.key = worker, secret.NewKey()
	s.sets, s.waits = map[task.Need]*secretSet{}, map[task.Need]*secretWait{}
}

// get returns the secrets for a need; nil if there are none yet.
func (s *secretStore) get(n task.Need) *secretSet {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sets[n]
}

// request reports whether a need has to be requested. One that was given up is requested again: a
// new batch may have better luck.
func (s *secretStore) request(n task.Need) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.sets[n]; l != nil && l.err == nil {
		return false
	}
	delete(s.sets, n)
	return true
}

// put stores the result of a need.
func (s *secretStore) put(n task.Need, l *secretSet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.store(n, l)
}

func (s *secretStore) store(n task.Need, l *secretSet) {
	for other := range s.sets { // any: what is missing then is asked for again
		if len(s.sets) < maxSecretSets {
			break
		}
		delete(s.sets, other)
	}
	s.sets[n] = l
	delete(s.waits, n)
}

// receive stores the master's answer to a need.
func (s *secretStore) receive(c task.Control) error {
	n := task.Need{Sweep: c.Sweep, Edition: c.Edition}
	values, err := s.key.Open(c.Secrets, n.About(s.worker))
	if err != nil {
		return err
	}
	s.put(n, &secretSet{values: values})
	return nil
}

// expire records that a reachable queue accepted these needs, and reports whether one of them has
// been requested for too long. Only time in which the master could answer counts.
func (s *secretStore) expire(needs []task.Need, now time.Time) (givenUp bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n := range s.waits {
		if !slices.Contains(needs, n) {
			delete(s.waits, n)
		}
	}
	for _, n := range needs {
		w := s.waits[n]
		if w == nil {
			w = &secretWait{lastAsked: now}
			s.waits[n] = w
		}
		w.total += min(now.Sub(w.lastAsked), heartbeatInterval)
		if w.lastAsked = now; w.total >= secretsTimeout {
			s.store(n, &secretSet{err: errNoSecrets})
			givenUp = true
		}
	}
	return givenUp
}

// ownSecrets returns the secrets of a worker that has their values in its environment.
func (o Options) ownSecrets(names []string) *secretSet {
	l := &secretSet{values: secret.Values{}}
	for _, v := range o.Inherited {
		if name, value, _ := strings.Cut(v, "="); slices.Contains(names, name) {
			l.values[name] = value
		}
	}
	return l
}

// sensitive returns the values that must not appear in output.
func (s *secretSet) sensitive() (values []string) {
	if s == nil {
		return nil
	}
	for _, value := range s.values {
		if len(value) >= ShortestSecret {
			values = append(values, value)
		}
	}
	return values
}
