package core

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Missing is a sweep of which workers report more than the store has. A batch leaves after what it
// says is on disk: the store has lost its newest entries, or it is not the one that these workers
// worked for.
type Missing struct {
	Sweep   string
	Tasks   int      // that workers reported, at most maxMissingTasks by each
	Workers []string // in order
	Known   bool     // the store has the sweep, and not what was handed out of it
	Since   time.Time
}

// String is cause and remedy.
func (m Missing) String() string {
	tasks := fmt.Sprintf("%d tasks", m.Tasks)
	workers := "workers " + strings.Join(m.Workers, ", ") + " report "
	if m.Tasks == 1 {
		tasks = "1 task"
	}
	if len(m.Workers) == 1 {
		workers = "worker " + m.Workers[0] + " reports "
	}
	if m.Known {
		return workers + tasks + " of " + m.Sweep + " that are not in this store: " +
			"its latest entries were lost; the affected tasks run again"
	}
	return workers + tasks + " of " + m.Sweep + ", which this store does not know: " +
		"the store lost its newest entries, or is another one; what still runs of " + m.Sweep +
		" is stopped, its outputs stay on the workers; submit it again where it is missed"
}

// Bounds of what is remembered of one worker's reports: they may be made up, and must not keep out
// those of others.
const (
	maxMissingTasks  = 10_000
	maxMissingSweeps = 32
)

// missingTime is for how long a missing sweep is shown after a worker last spoke of it.
const missingTime = time.Hour

// missingSweeps are the sweeps of which workers report more than the store has. The zero value is
// ready.
type missingSweeps struct {
	sweeps  map[string]*missingSweep
	workers map[string]*missingCount
}

// missingCount is how much of it one worker count.
type missingCount struct{ sweeps, tasks int }

type missingSweep struct {
	tasks   map[int64]struct{}
	workers map[string]int // how many of the tasks each of them reported first
	known   bool
	since   time.Time
	last    time.Time // when a worker last spoke of it
}

// note takes note of a task, and reports whether its sweep is news of this worker's.
func (m *missingSweeps) note(sweep, worker string, index int64, known bool, now time.Time) bool {
	count := m.workers[worker]
	s := m.sweeps[sweep]
	spoke := false
	if s != nil {
		_, spoke = s.workers[worker]
	}
	if !spoke && (count == nil && len(m.workers) >= MaxWorkers ||
		count != nil && count.sweeps >= maxMissingSweeps) {
		return false
	}
	if m.sweeps == nil {
		m.sweeps, m.workers = map[string]*missingSweep{}, map[string]*missingCount{}
	}
	if count == nil {
		count = &missingCount{}
		m.workers[worker] = count
	}
	if s == nil {
		s = &missingSweep{tasks: map[int64]struct{}{}, workers: map[string]int{}, known: known,
			since: now}
		m.sweeps[sweep] = s
	}
	s.last = now
	if !spoke {
		s.workers[worker] = 0
		count.sweeps++
	}
	if _, noted := s.tasks[index]; !noted && count.tasks < maxMissingTasks {
		s.tasks[index] = struct{}{}
		s.workers[worker]++
		count.tasks++
	}
	return !spoke
}

func (m *missingSweeps) remove(id string) {
	for worker, tasks := range m.sweeps[id].workers {
		count := m.workers[worker]
		count.tasks -= tasks
		if count.sweeps--; count.sweeps == 0 {
			delete(m.workers, worker)
		}
	}
	delete(m.sweeps, id)
}

// submitted drops a sweep that the store had not and has now.
func (m *missingSweeps) submitted(id string) {
	if s := m.sweeps[id]; s != nil && !s.known {
		m.remove(id)
	}
}

// ended drops a sweep whose tasks have run again.
func (m *missingSweeps) ended(id string, at time.Time) {
	if s := m.sweeps[id]; s != nil && s.known && at.After(s.since) {
		m.remove(id)
	}
}

// expire drops the sweeps of which no worker has spoken for long.
func (m *missingSweeps) expire(now time.Time) {
	for id, s := range m.sweeps {
		if now.Sub(s.last) >= missingTime {
			m.remove(id)
		}
	}
}

// list lists them by name.
func (m *missingSweeps) list() (all []Missing) {
	for _, id := range slices.Sorted(maps.Keys(m.sweeps)) {
		s := m.sweeps[id]
		workers := slices.Sorted(maps.Keys(s.workers))
		all = append(all, Missing{id, len(s.tasks), workers, s.known, s.since})
	}
	return all
}

// Missing lists, by name, the sweeps of which workers reported more than the store has, until that
// is resolved.
func (c *Core) Missing() []Missing { return c.missing.list() }
