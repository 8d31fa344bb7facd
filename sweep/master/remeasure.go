package master

import (
	"context"
	"errors"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

const (
	// measuring is how many tasks a worker is asked to measure at a time: one that it reads, and
	// one on its way.
	measuring = 2
	// measureLimit is for the answer to a Measure; the worker may read another task first.
	measureLimit = measuring*task.MeasureTime + 30*time.Second
)

var errMeasureLimit = errors.New("it is too busy, or has too much to read")

// semaphore admits as many at a time as its capacity is.
type semaphore chan struct{}

// acquire waits for a place until ctx ends or gone is closed.
func (s semaphore) acquire(ctx context.Context, gone <-chan struct{}) bool {
	select {
	case s <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-gone:
	}
	return false
}

func (s semaphore) release() { <-s }

// Remeasure has the metrics of a task read again by the worker that has what its newest attempt
// left. Waiting for a turn while the worker measures other tasks has no limit; only ctx ends it.
// Nothing is kept. The error is *NothingLeft where the task's folder is gone.
func (m *Master) Remeasure(ctx context.Context, id task.ID, by task.Measure) (task.Measured,
	error) {
	turn, err := m.measureTurn(ctx, id)
	if err != nil {
		return task.Measured{}, err
	}
	defer turn.release()
	limited, cancel := context.WithTimeoutCause(ctx, measureLimit, errMeasureLimit)
	defer cancel()
	asked := ""
	p, err := m.askWorker(limited, id, 0, func(read, worker string) (task.Control, error) {
		asked, by.ID = worker, read
		return task.Control{Kind: task.MeasureControl, Measure: &by}, nil
	})
	if limited.Err() != nil && by.ID != "" {
		m.forgetMeasure(ctx, asked, by.ID)
	}
	switch {
	case err != nil:
		return task.Measured{}, err
	case p.Measured == nil:
		return task.Measured{}, &NothingLeft{asked}
	}
	return *p.Measured, nil
}

// measureTurns are the semaphores of those that want tasks measured, by worker. The zero value is
// ready; it is safe for concurrent use.
type measureTurns struct {
	mu  sync.Mutex
	all map[string]semaphore
}

func (t *measureTurns) of(worker string) semaphore {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.all == nil {
		t.all = map[string]semaphore{}
	}
	if t.all[worker] == nil {
		t.all[worker] = make(semaphore, measuring)
	}
	return t.all[worker]
}

// measureTurn waits until the worker of a task's newest attempt can be asked to measure it. The
// caller releases what it returns.
func (m *Master) measureTurn(ctx context.Context, id task.ID) (turn semaphore, err error) {
	err = m.query(ctx, func(ctx context.Context) error {
		sweep, err := m.add(ctx, id.Sweep)
		if err != nil {
			return err
		}
		worker, err := m.workerOf(ctx, task.ID{Sweep: sweep, Index: id.Index}, 0)
		if err != nil {
			return err
		}
		if worker == "" {
			return &NothingLeft{}
		}
		turn = m.turns.of(worker)
		return m.core.Reachable(worker)
	})
	if err == nil && !turn.acquire(ctx, m.ended) {
		if err = context.Cause(ctx); err == nil {
			err = m.exitErr
		}
	}
	return turn, err
}

// forgetMeasure tells a worker that its answer is no longer awaited.
func (m *Master) forgetMeasure(ctx context.Context, worker, id string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 5*time.Second)
	defer cancel()
	// If this fails the worker finishes reading, and its answer is dropped.
	_ = m.do(ctx, core.Tell{Worker: worker, Control: task.Control{Kind: task.ForgetControl,
		Measure: &task.Measure{ID: id}}})
}

// NothingLeft says that there is nothing in which the metrics of a task could be read again.
type NothingLeft struct {
	Worker string // that ran it last; "": it did not begin
}

func (e *NothingLeft) Error() string {
	if e.Worker == "" {
		return "no attempt has begun"
	}
	return "no output is left on worker " + e.Worker
}
