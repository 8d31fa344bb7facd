package core_test

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// simStore is a store in memory. What the judge reads of one it can read of it.
type simStore struct {
	sweeps  []*storedSweep // in the order of submission
	byID    map[string]*storedSweep
	workers map[string]core.WorkerRecord
	audit   []core.AuditEntry
	secrets map[string]keptSecrets // the folder of secrets, by sweep
}

type storedSweep struct {
	seq   int64
	model *model
}

type keptSecrets struct {
	edition     string
	pausedSince time.Time
}

func newSimStore() *simStore {
	return &simStore{byID: map[string]*storedSweep{}, workers: map[string]core.WorkerRecord{},
		secrets: map[string]keptSecrets{}}
}

// add keeps a new sweep.
func (s *simStore) add(r core.Record, total int64, now time.Time) *storedSweep {
	n := &storedSweep{seq: int64(len(s.sweeps) + 1), model: newModel(r, total)}
	n.model.head.ID, n.model.head.Submitted = fmt.Sprintf("%s-%d", r.Recipe.Definition, n.seq), now
	s.sweeps = append(s.sweeps, n)
	s.byID[n.model.head.ID] = n
	return n
}

// commit keeps the rows of a step.
func (s *simStore) commit(rows *core.Rows) {
	for i := range rows.Sweeps {
		r := &rows.Sweeps[i]
		m := s.sweeps[r.Seq-1].model
		if r.Rewrite {
			m.record = *r.Record
		}
		m.keep(r.Changes)
	}
	for _, w := range rows.Workers {
		s.workers[w.Name] = w
	}
	for _, name := range rows.Gone {
		delete(s.workers, name)
	}
	s.audit = append(s.audit, rows.Audit...)
}

// loaded is what a core needs of a sweep.
func (s *simStore) loaded(w *storedSweep) core.Loaded {
	open, ahead := w.model.unfinished()
	kept := s.secrets[w.model.head.ID]
	return core.Loaded{Seq: w.seq, Record: w.model.record, Head: w.model.head, Open: open,
		CancelledEarly: ahead, Edition: kept.edition, PausedSince: kept.pausedSince}
}

// load is what a core is made of.
func (s *simStore) load() (sweeps []core.Loaded, workers []core.WorkerRecord) {
	for _, w := range s.sweeps {
		if w.model.head.Ended.IsZero() {
			sweeps = append(sweeps, s.loaded(w))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.workers)) {
		workers = append(workers, s.workers[name])
	}
	return sweeps, workers
}

// placement returns the worker of an attempt, as Reader.AttemptWorker does.
func (s *simStore) placement(id task.ID, attempt int) (p store.AttemptWorker) {
	w := s.byID[id.Sweep]
	if w == nil {
		return p
	}
	row, have := w.model.rows[id.Index]
	if !have {
		return p
	}
	p.Newest = row.Attempt.Number
	if p.Newest == attempt && row.Attempt.Worker != "" {
		p.Worker = row.Attempt.Worker
	} else {
		p.Worker = w.model.tries[tryKey{id.Index, attempt, false}].Worker
	}
	return p
}

// held is how many tasks a worker has, or are on their way to it, of one sweep or, "", of all.
func (s *simStore) held(worker, sweep string) (n int) {
	for _, w := range s.sweeps {
		if !w.model.head.Ended.IsZero() || sweep != "" && sweep != w.model.head.ID {
			continue
		}
		for _, row := range w.model.rows {
			if row.State.Active() && row.Attempt.Worker == worker {
				n++
			}
		}
	}
	return n
}

// Sweeps lists the sweeps, the newest first.
func (s *simStore) Sweeps(context.Context) (all []store.Sweep, err error) {
	for _, w := range slices.Backward(s.sweeps) {
		all = append(all, store.Sweep{Seq: w.seq, Definition: w.model.record.Recipe.Definition,
			Record: w.model.record, Head: w.model.head})
	}
	return all, nil
}

// Tasks yields all rows of a sweep.
func (s *simStore) Tasks(
	_ context.Context, w store.Sweep, _ store.TaskQuery,
) iter.Seq2[core.Task, error] {
	m := s.sweeps[w.Seq-1].model
	return func(yield func(core.Task, error) bool) {
		for _, index := range slices.Sorted(maps.Keys(m.rows)) {
			if !yield(m.rows[index], nil) {
				return
			}
		}
	}
}

// EarlierAttempts lists the attempts that a task left behind.
func (s *simStore) EarlierAttempts(_ context.Context, w store.Sweep, index int64) ([]core.Attempt,
	error) {
	var all []core.Attempt
	for key, t := range s.sweeps[w.Seq-1].model.tries {
		if key.index == index {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b core.Attempt) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number),
			cmp.Compare(btoi(a.Superseded), btoi(b.Superseded)))
	})
	return all, nil
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
