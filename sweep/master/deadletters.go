package master

import (
	"context"
	"errors"
	"fmt"

	"mlframework/sweep/queue"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// UnknownDeadLetter says that a dead letter does not exist.
type UnknownDeadLetter struct{ ID string }

func (e *UnknownDeadLetter) Error() string { return "there is no dead letter " + e.ID }

// deadQueue is the queue of dead letters among depths.
const deadQueue = "dead"

// keepDeadLetters writes what came from the queue of dead letters to the store.
func (m *Master) keepDeadLetters(ctx context.Context, letters []task.DeadLetter) error {
	if len(letters) == 0 {
		return nil
	}
	if err := m.o.Store.AddDeadLetters(ctx, letters); err != nil {
		return fmt.Errorf("write the store: %w", err)
	}
	return nil
}

// Depths returns how much waits in the queues, those of all workers among them. Dead letters are
// those in the store and those on their way there.
func (m *Master) Depths(ctx context.Context) ([]queue.Depth, error) {
	var workers []string
	if err := m.query(ctx,
		func(context.Context) error { workers = m.core.WorkerNames(); return nil }); err != nil {
		return nil, err
	}
	all, err := m.o.Queue.Depths(ctx, workers...)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].Queue == deadQueue {
			stored, err := m.o.Store.CountDeadLetters(ctx)
			if err != nil {
				return nil, err
			}
			all[i].Messages += stored
		}
	}
	return all, nil
}

// DeadLetters returns how many dead letters there are, and the newest of them, limit at most.
func (m *Master) DeadLetters(ctx context.Context, limit int) (int, []task.DeadLetter, error) {
	return m.o.Store.DeadLetters(ctx, limit)
}

// Requeue puts a dead letter, or store.AllDeadLetters, back into the queue that it was in, and
// returns how many it did so with, and how many are left: their queue is gone, or only the
// beginning of the message was kept. What a message says is compared with the store then, as
// everything that workers say is: what does not count any more changes nothing. A message may come
// twice when the master ends meanwhile.
func (m *Master) Requeue(ctx context.Context, id string) (requeued, left int, err error) {
	m.requeuing.Lock()
	defer m.requeuing.Unlock()
	ids, err := m.o.Store.DeadLetterIDs(ctx, id)
	if err != nil {
		return 0, 0, err
	}
	if id != store.AllDeadLetters && len(ids) == 0 {
		return 0, 0, &UnknownDeadLetter{id}
	}
	var done []string
	for _, id := range ids {
		l, exists, failed := m.o.Store.DeadLetter(ctx, id)
		if failed == nil && exists {
			exists, failed = m.o.Queue.Requeue(ctx, &l)
		}
		if err = failed; err != nil {
			break
		}
		if exists {
			done = append(done, id)
		} else {
			left++
		}
	}
	if len(done) == 0 {
		return 0, left, err
	}
	dropped := m.query(context.WithoutCancel(ctx), func(ctx context.Context) error {
		_, err := m.o.Store.DropDeadLetters(ctx, done...)
		return err
	})
	return len(done), left, errors.Join(err, dropped)
}

// Drop forgets a dead letter, or store.AllDeadLetters, and returns how many there were. What the
// store says is with a worker and was in a dead letter is sent again, or is lost and goes to
// others, by the rules for messages that got lost.
func (m *Master) Drop(ctx context.Context, id string) (dropped int, err error) {
	err = m.query(ctx, func(ctx context.Context) (err error) {
		dropped, err = m.o.Store.DropDeadLetters(ctx, id)
		return err
	})
	if err == nil && id != store.AllDeadLetters && dropped == 0 {
		err = &UnknownDeadLetter{id}
	}
	return dropped, err
}
