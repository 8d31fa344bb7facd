package master

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// reads are the pending reads of output. The zero value is ready; it is safe for concurrent use.
type reads struct {
	mu  sync.Mutex
	all map[string]*read
}

// read is a pending read of a piece.
type read struct {
	answer chan task.Piece
	worker string // that is asked; "": none yet
}

func (r *reads) add() (id string, answer <-chan task.Piece) {
	id = rand.Text()
	c := make(chan task.Piece, 1)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*read{}
	}
	r.all[id] = &read{answer: c}
	return id, c
}

// expect notes which worker is asked: answers of others are dropped.
func (r *reads) expect(id, worker string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits := r.all[id]; waits != nil {
		waits.worker = worker
	}
}

func (r *reads) drop(id string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, id)
}

// answer hands a piece to its reader. One without a reader, or of another worker than the one
// asked, is dropped.
func (r *reads) answer(p task.Piece) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if waits := r.all[p.ID]; waits != nil && waits.worker == p.Worker {
		waits.answer <- p
		delete(r.all, p.ID)
	}
}

// readable refuses a piece of another version.
func readable(p task.Piece) task.Piece {
	if !task.Foreign(p.Version) {
		return p
	}
	return task.Piece{ID: p.ID, Worker: p.Worker, Error: fmt.Sprintf("the output is on worker %s: "+
		"%s", p.Worker, task.Mismatch(p.Version, task.Version))}
}

// Output reads a piece of what an attempt printed from the worker that ran it; 0 is the newest that
// began. It reads where r says, at most task.MaxPieceBytes bytes. It waits for the worker no longer
// than ctx; an answer that does not come is an error. Of an attempt that has not begun there is
// none (Absent).
func (m *Master) Output(ctx context.Context, id task.ID, attempt int, r task.Read) (task.Piece,
	error) {
	return m.askWorker(ctx, id, attempt, func(read, _ string) (task.Control, error) {
		r.ID, r.Length = read, min(r.Length, task.MaxPieceBytes)
		return task.Control{Kind: task.ReadControl, Read: &r}, nil
	})
}

// askWorker sends the worker that ran an attempt what control makes of the id of the answer and of
// the worker's name, and waits for the answer. Control is called in the master's loop.
func (m *Master) askWorker(ctx context.Context, id task.ID, attempt int,
	control func(read, worker string) (task.Control, error)) (task.Piece, error) {
	read, answer := m.reads.add()
	defer m.reads.drop(read)
	absent, err := m.send(ctx, id, attempt, read, control)
	for m.mayAnswer(err) && wait(ctx, answerPause) {
		absent, err = m.send(ctx, id, attempt, read, control)
	}
	if err != nil || absent {
		return task.Piece{Absent: absent}, err
	}
	select {
	case p := <-answer:
		if p.Error != "" {
			return p, errors.New(p.Error)
		}
		return p, nil
	case <-ctx.Done():
		return task.Piece{}, fmt.Errorf("the worker does not answer: %w", context.Cause(ctx))
	case <-m.ended:
		return task.Piece{}, m.exitErr
	}
}

// firstHeartbeat is how long after the master's start a worker that it knows may not have been
// heard of yet and be there, and answerPause is how often it is tried meanwhile.
const (
	firstHeartbeat = 5 * time.Second
	answerPause    = 200 * time.Millisecond
)

// mayAnswer reports whether an error may pass with the first heartbeat of a worker.
func (m *Master) mayAnswer(err error) bool {
	e, away := errors.AsType[*core.WorkerUnreachable](err)
	return away && e.Expected && time.Since(m.started) < firstHeartbeat
}

// wait sleeps for d, and returns false if ctx ends first.
func wait(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// send sends the worker that ran an attempt what control makes; absent where no attempt has begun.
func (m *Master) send(ctx context.Context, id task.ID, attempt int, read string,
	control func(read, worker string) (task.Control, error)) (absent bool, err error) {
	err = m.ask(ctx, call{prepare: func(ctx context.Context) (core.Command, error) {
		sweep, err := m.add(ctx, id.Sweep)
		if err != nil {
			return nil, err
		}
		worker, err := m.workerOf(ctx, task.ID{Sweep: sweep, Index: id.Index}, attempt)
		if err != nil {
			return nil, err
		}
		if absent = worker == ""; absent {
			return core.Note{}, nil
		}
		if err := m.core.Reachable(worker); err != nil {
			return nil, err
		}
		c, err := control(read, worker)
		if err != nil {
			return nil, err
		}
		c.Sweep, c.Index, c.Attempt = sweep, id.Index, attempt
		m.reads.expect(read, worker)
		return core.Tell{Worker: worker, Control: c}, nil
	}})
	return absent, err
}

// workerOf returns the worker of an attempt that has started, for 0 of the newest one; "" if there
// is none.
func (m *Master) workerOf(ctx context.Context, id task.ID, attempt int) (worker string, err error) {
	if err := m.core.HasTask(id); err != nil {
		return "", err
	}
	s, t, _, err := m.task(ctx, id)
	if err != nil {
		return "", err
	}
	tries, err := m.o.Store.EarlierAttempts(ctx, s, id.Index)
	for _, t := range append(tries, t.Attempt) {
		began := !t.Started.IsZero()
		if !t.Superseded && began && (attempt == 0 || attempt == t.Number) {
			worker = t.Worker
		}
	}
	return worker, err
}

// task reads a task and its sweep as they are on disk; false when the task has no row.
func (m *Master) task(ctx context.Context, id task.ID) (store.Sweep, core.Task, bool, error) {
	s, err := m.o.Store.Sweep(ctx, id.Sweep)
	if err != nil {
		return s, core.Task{}, false, err
	}
	t, ok, err := m.o.Store.Task(ctx, s, id.Index)
	if err == nil && !ok {
		t = core.Task{Index: id.Index, State: s.Head.UnissuedState()}
	}
	return s, t, ok, err
}
