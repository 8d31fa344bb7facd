package memory

import (
	"strings"

	"mlframework/sweep/task"
)

// maxBytes is the longest message that is encoded or read, in bytes: nothing here is that long.
const maxBytes = 16 << 20

// sendBatch sends a batch to a worker, encoded where the queue encodes.
func (q *Queue) sendBatch(to *workerEndpoint, b *task.Batch) error {
	if !q.encodes {
		to.tasks.put(*b)
		return nil
	}
	bodies, err := task.EncodeBatch(b, maxBytes)
	for _, body := range bodies {
		q.readBatch(to, body, b.BaseEnv)
	}
	return err
}

// readBatch puts the batch of a message into the queue of a worker, or among the dead letters. The
// environment is beside it, as it never travels.
func (q *Queue) readBatch(to *workerEndpoint, body []byte, environ []string) {
	batches, err := task.DecodeBatch(body, maxBytes)
	if err != nil {
		q.AddDeadLetter(tasksPrefix+to.name, body, err.Error())
	}
	for _, b := range batches {
		b.BaseEnv = environ
		to.tasks.put(b)
	}
}

// sendEvents sends events of a worker, encoded where the queue encodes.
func (q *Queue) sendEvents(from string, events []task.Event) error {
	if !q.encodes {
		q.events.put(events...)
		return nil
	}
	bodies, err := task.EncodeAll("an event", events, maxBytes, maxBytes)
	for _, body := range bodies {
		q.readEvents(body, func(e *task.Event) error { return e.Check(from) })
	}
	return err
}

// readEvents puts the events of a message into their queue, or the message among the dead letters.
func (q *Queue) readEvents(body []byte, check func(*task.Event) error) {
	events, err := task.DecodeEvents(body, check)
	if err != nil {
		q.AddDeadLetter(eventsQueue, body, err.Error())
		return
	}
	q.events.put(events...)
}

// requeued reads a dead letter again.
func (q *Queue) requeued(l *task.DeadLetter) {
	if l.Queue == eventsQueue {
		q.readEvents(l.Body, func(e *task.Event) error { return e.Check(e.Worker) })
		return
	}
	q.readBatch(q.endpoint(strings.TrimPrefix(l.Queue, tasksPrefix)), l.Body, nil)
}

// passed returns a thing as it is at the other end, read by decode where the queue encodes.
func passed[T any](q *Queue, what string, thing T,
	decode func([]byte) ([]T, error)) (came T, err error) {
	if !q.encodes {
		return thing, nil
	}
	body, err := task.Encode(what, &thing, maxBytes)
	if err != nil {
		return came, err
	}
	things, err := decode(body)
	if err != nil {
		return came, err
	}
	return things[0], nil
}
