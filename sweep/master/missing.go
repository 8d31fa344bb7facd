package master

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Missing is a sweep of which workers tell more than the store knows. A batch leaves after what it says is on disk: the store
// has lost its newest entries, or it is not the one that these workers worked for.
type Missing struct {
	Sweep   string
	Tasks   int      // that workers told of, at most mostMissing
	Workers []string // in order
	Known   bool     // the store has the sweep, and not what was handed out of it
	Since   time.Time
}

// String is cause and remedy.
func (m Missing) String() string {
	tasks, workers := fmt.Sprintf("%d tasks", m.Tasks), "workers "+strings.Join(m.Workers, ", ")+" report "
	if m.Tasks == 1 {
		tasks = "1 task"
	}
	if len(m.Workers) == 1 {
		workers = "worker " + m.Workers[0] + " reports "
	}
	if m.Known {
		return workers + tasks + " of " + m.Sweep + " that are not in this store: its latest entries were lost; the affected tasks run again"
	}
	return workers + tasks + " of " + m.Sweep + ", which this store does not know: the store lost its newest entries, or is another one; " +
		"what still runs of " + m.Sweep + " is stopped, its outputs stay on the workers; submit it again where it is missed"
}

// Bounds of what is remembered, of all sweeps together.
const (
	mostMissing       = 100_000
	mostMissingSweeps = 100
)

// missingTime is for how long people are told of a missing sweep after a worker last spoke of it.
const missingTime = time.Hour

// missing is what workers told and the store does not know. The zero value is ready; it is safe for concurrent use.
type missing struct {
	mu    sync.Mutex
	all   map[string]*missingSweep
	tasks int // of all sweeps
}

type missingSweep struct {
	tasks   map[int64]struct{}
	workers map[string]struct{}
	known   bool
	since   time.Time
	last    time.Time // when a worker last spoke of it
}

func (m *missing) note(sweep, worker string, index int64, known bool, now time.Time) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[string]*missingSweep{}
	}
	s := m.all[sweep]
	if s == nil {
		if len(m.all) >= mostMissingSweeps {
			return
		}
		s = &missingSweep{tasks: map[int64]struct{}{}, workers: map[string]struct{}{}, known: known, since: now}
		m.all[sweep] = s
	}
	s.last = now
	s.workers[worker] = struct{}{}
	if _, noted := s.tasks[index]; !noted && m.tasks < mostMissing {
		s.tasks[index] = struct{}{}
		m.tasks++
	}
}

// resolve drops the sweeps of which people need not be told any more: that were submitted again, whose tasks ran again, or of
// which no worker has spoken for missingTime.
func (m *missing) resolve(now time.Time, stored func(id string) (core.Head, error)) {
	m.mu.Lock()
	all := maps.Clone(m.all)
	m.mu.Unlock()
	for id, s := range all {
		h, err := stored(id)
		_, absent := errors.AsType[*store.UnknownSweep](err)
		submitted := err == nil && !s.known
		done := err == nil && s.known && h.Ended.After(s.since) || absent && s.known
		m.mu.Lock()
		if submitted || done || now.Sub(s.last) >= missingTime {
			m.tasks -= len(s.tasks)
			delete(m.all, id)
		}
		m.mu.Unlock()
	}
}

// Missing lists, by name, the sweeps of which workers told more than the store knows, until that is resolved.
func (m *Master) Missing() (all []Missing) {
	m.missing.mu.Lock()
	defer m.missing.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(m.missing.all)) {
		s := m.missing.all[id]
		all = append(all, Missing{id, len(s.tasks), slices.Sorted(maps.Keys(s.workers)), s.known, s.since})
	}
	return all
}

// strange takes note of an attempt that a worker runs of a sweep on which the loop does not work: it may have ended, or be unknown.
func (m *Master) strange(ctx context.Context, worker string, b task.Busy) {
	_, err := m.o.Store.Sweep(ctx, b.Sweep)
	if _, unknown := errors.AsType[*store.UnknownSweep](err); unknown {
		m.missing.note(b.Sweep, worker, b.Index, false, m.o.Now())
	}
}
