package master

import (
	"context"

	"mlframework/sweep/queue"
)

// UnknownLetter says that there is no such dead letter.
type UnknownLetter struct{ ID string }

func (e *UnknownLetter) Error() string { return "there is no dead letter " + e.ID }

// Depths tells how much waits in the queues, those of all workers among them.
func (m *Master) Depths(ctx context.Context) ([]queue.Depth, error) {
	var workers []string
	if err := m.query(ctx, func(context.Context) error { workers = m.core.WorkerNames(); return nil }); err != nil {
		return nil, err
	}
	return m.o.Queue.Depths(ctx, workers...)
}

// Dead lists the newest dead letters, at most so many.
func (m *Master) Dead(ctx context.Context, most int) (queue.Dead, error) {
	return m.o.Queue.Dead(ctx, most)
}

// Requeue puts a dead letter back to where it was to be read; queue.AllLetters stands for all. What it says is compared with
// the store then, as everything that workers say is: what does not count any more changes nothing.
func (m *Master) Requeue(ctx context.Context, id string) (queue.Requeued, error) {
	done, err := m.o.Queue.Requeue(ctx, id)
	if err == nil && id != queue.AllLetters && done == (queue.Requeued{}) {
		err = &UnknownLetter{id}
	}
	return done, err
}

// Drop forgets a dead letter, or queue.AllLetters, and tells how many they were. What the store says is with a worker and
// was in a letter is sent again, or is lost and goes to others, by the rules for messages that got lost.
func (m *Master) Drop(ctx context.Context, id string) (int, error) {
	n, err := m.o.Queue.Drop(ctx, id)
	if err == nil && id != queue.AllLetters && n == 0 {
		err = &UnknownLetter{id}
	}
	return n, err
}
