package master

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Remove takes a sweep out of the list, and has its outputs removed by the workers that ran its
// tasks, and its rows. When it returns, that survives any crash: what a master that died did not
// have removed, the next one does. What was done before under the same idempotency key is not done
// again.
func (m *Master) Remove(ctx context.Context, id string) error {
	audit := AuditOf(ctx)
	err := m.change(ctx, func(ctx context.Context) (core.Command, error) {
		if again, err := m.repeated(ctx, audit, id); again || err != nil {
			return core.Note{}, err
		}
		sweep, err := m.add(ctx, id)
		damaged, isDamaged := errors.AsType[*store.DamagedSweep](err)
		if isDamaged {
			sweep = damaged.ID
			if h, unread := m.o.Store.Head(ctx, sweep); unread == nil && !h.Ended.IsZero() {
				err = nil
			}
		}
		if err != nil {
			return nil, err
		}
		workers, err := m.o.Store.WorkersOf(ctx, sweep)
		if isDamaged {
			m.notices.repaired(sweep)
			return core.RemoveDamaged{Sweep: sweep, Workers: workers}, err
		}
		return core.RemoveSweep{Sweep: sweep, Workers: workers}, err
	})
	if err == nil {
		m.removing.wakeUp()
	}
	return err
}

// Prune has the workers remove outputs of tasks of a sweep that has ended, as Remove has those of a
// whole sweep removed.
func (m *Master) Prune(ctx context.Context, id string, tasks core.Ranges) error {
	err := m.changeSweep(ctx, id, func(ctx context.Context, id string) (core.Command, error) {
		s, err := m.o.Store.Sweep(ctx, id)
		if err != nil {
			return nil, err
		}
		all := s.Record.Ranges
		if len(all) == 0 {
			all = core.Ranges{{To: s.Head.Total}}
		}
		there := tasks.Without(tasks.Without(all))
		p := core.PruneOutputs{Sweep: id, Tasks: there.Without(s.Record.Pruned)}
		if p.Workers, err = m.o.Store.WorkersOf(ctx, id); err == nil {
			p.Bytes, err = m.o.Store.Bytes(ctx, s, p.Tasks)
		}
		return p, err
	})
	if err == nil {
		m.removing.wakeUp()
	}
	return err
}

// checkRemovals refuses to run tasks of a sweep again while outputs of it are still to be removed:
// those of the next attempts could be meant.
func (m *Master) checkRemovals(ctx context.Context, id string) error {
	left, err := m.o.Store.Removals(ctx)
	for _, r := range left {
		if r.Sweep == id {
			return &core.WrongState{ID: id, Verb: "has", Is: "outputs that worker " + r.Worker +
				" is still to remove", Remedy: "try again when that is done; `run-tasks workers` shows " +
				"whether the worker is there"}
		}
	}
	return err
}

// Removals lists the outputs that workers are still to remove.
func (m *Master) Removals(ctx context.Context) (all []api.Removal, err error) {
	left, err := m.o.Store.Removals(ctx)
	m.removing.mu.Lock()
	defer m.removing.mu.Unlock()
	for _, r := range left {
		one := api.Removal{Sweep: r.Sweep, Worker: r.Worker}
		if why := m.removing.reasons[r]; why != "" {
			one.Reason = &why
		}
		all = append(all, one)
	}
	return all, err
}

// AwaitRemovals waits until the rows of removed sweeps are gone, and their outputs, except those that
// a worker could not remove when it was tried last. It returns early when ctx ends.
func (m *Master) AwaitRemovals(ctx context.Context) {
	r := &m.removing
	defer context.AfterFunc(ctx, r.note)()
	r.mu.Lock()
	defer r.mu.Unlock()
	for ctx.Err() == nil {
		left, err := m.o.Store.Removals(ctx)
		untried := slices.ContainsFunc(left, func(one store.Removal) bool { return r.reasons[one] == "" })
		if err != nil || !untried && !r.looking {
			return
		}
		r.changed.Wait()
	}
}

// removing is the removal of the outputs and rows of sweeps.
type removing struct {
	wake chan struct{} // something may have to be removed

	mu      sync.Mutex
	changed sync.Cond                // what follows, or the store
	looking bool                     // for what is to be removed
	asking  map[string]bool          // workers that are asked to remove something
	reasons map[store.Removal]string // why it was not removed when it was tried last
}

func (r *removing) init() {
	r.changed.L = &r.mu
	r.wake = make(chan struct{}, 1)
	r.asking, r.reasons = map[string]bool{}, map[store.Removal]string{}
	r.wakeUp() // for what an earlier master left
}

func (r *removing) wakeUp() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looking = true
	select {
	case r.wake <- struct{}{}:
	default: // it is about to look
	}
}

// note lets who waits look again.
func (r *removing) note() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.changed.Broadcast()
}

// looked notes that what was there to be removed is asked for.
func (r *removing) looked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looking = len(r.wake) > 0
	r.changed.Broadcast()
}

// startRemoving begins to have outputs removed. It returns the function that ends it.
func (m *Master) startRemoving(ctx context.Context) (end func()) {
	ctx, stop := context.WithCancel(ctx)
	var parts sync.WaitGroup
	parts.Go(func() {
		for {
			select {
			case <-m.removing.wake:
			case <-ctx.Done():
				return
			}
			err := errors.Join(m.startAsking(ctx, &parts), m.clearRemoved(ctx))
			if err != nil && ctx.Err() == nil {
				m.o.Log.Warn("what removed sweeps left is not removed now", "error", err)
			}
			m.removing.looked()
		}
	})
	return func() {
		stop()
		parts.Wait()
	}
}

// startAsking starts to ask each worker that is to remove something.
func (m *Master) startAsking(ctx context.Context, parts *sync.WaitGroup) error {
	m.removing.mu.Lock()
	defer m.removing.mu.Unlock()
	left, err := m.o.Store.Removals(ctx)
	for _, r := range left {
		if !m.removing.asking[r.Worker] {
			m.removing.asking[r.Worker] = true
			parts.Go(func() { m.askUntilRemoved(ctx, r.Worker) })
		}
	}
	return err
}

const (
	// removalLimit is how long a worker may take to answer before it is asked again.
	removalLimit = time.Minute
	// removalPause is how long a worker that could not remove everything is left alone.
	removalPause = 5 * time.Second
)

// askUntilRemoved asks a worker to remove what it is to remove, again and again while it is away or
// cannot.
func (m *Master) askUntilRemoved(ctx context.Context, worker string) {
	for {
		left, err := m.removalsOf(ctx, worker)
		if err == nil && len(left) == 0 {
			return
		}
		pause := removalPause
		if time.Since(m.started) < firstHeartbeat {
			pause = answerPause
		}
		for _, r := range left {
			if err := m.removeOutputs(ctx, r); err == nil {
				pause = 0
			}
		}
		if !wait(ctx, pause) {
			return
		}
	}
}

// removalsOf lists what a worker is to remove. If there is nothing it is no longer asked.
func (m *Master) removalsOf(ctx context.Context, worker string) ([]store.Removal, error) {
	m.removing.mu.Lock()
	defer m.removing.mu.Unlock()
	all, err := m.o.Store.Removals(ctx)
	left := slices.DeleteFunc(all, func(r store.Removal) bool { return r.Worker != worker })
	if err == nil && len(left) == 0 {
		delete(m.removing.asking, worker)
	}
	return left, err
}

// removeOutputs has a worker remove the outputs of a sweep, and keeps that it did.
func (m *Master) removeOutputs(ctx context.Context, r store.Removal) error {
	err := m.askToRemove(ctx, r)
	if err == nil {
		err = m.query(ctx, func(ctx context.Context) error {
			return m.o.Store.RemovalDone(ctx, r)
		})
	}
	m.removing.mu.Lock()
	defer m.removing.mu.Unlock()
	away, isAway := errors.AsType[*core.WorkerUnreachable](err)
	switch {
	case err == nil:
		delete(m.removing.reasons, r)
	case m.mayAnswer(err): // it is about to be there
	case isAway:
		m.removing.reasons[r] = fmt.Sprintf("worker %s is away: %s", away.Worker, away.Why)
	default:
		m.removing.reasons[r] = err.Error()
	}
	m.removing.changed.Broadcast()
	return err
}

// askToRemove sends a worker the request to remove the outputs of a sweep, and waits for the answer.
func (m *Master) askToRemove(ctx context.Context, r store.Removal) error {
	id, answer := m.reads.add()
	defer m.reads.drop(id)
	m.reads.expect(id, r.Worker)
	remove := &task.Remove{ID: id}
	if r.Tasks != "" {
		if err := json.Unmarshal([]byte(r.Tasks), &remove.Tasks); err != nil {
			return fmt.Errorf("the tasks in the store cannot be read: %w", err)
		}
	}
	err := m.do(ctx, core.Tell{Worker: r.Worker, Control: task.Control{Kind: task.RemoveControl,
		Sweep: r.Sweep, Remove: remove}})
	if err != nil {
		return err
	}
	select {
	case p := <-answer:
		if p.Error != "" {
			return errors.New(p.Error)
		}
		return nil
	case <-time.After(removalLimit):
		return errors.New("the worker is still at it")
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// clearAtOnce is how many rows of a table go at a time: the loop waits for that.
const clearAtOnce = 2000

// clearRemoved deletes the rows of removed sweeps.
func (m *Master) clearRemoved(ctx context.Context) error {
	seqs, err := m.o.Store.Uncleared(ctx)
	if err != nil {
		return err
	}
	for _, seq := range seqs {
		for more := true; more; {
			err := m.query(ctx, func(ctx context.Context) (err error) {
				more, err = m.o.Store.ClearRemoved(ctx, seq, clearAtOnce)
				return err
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}
