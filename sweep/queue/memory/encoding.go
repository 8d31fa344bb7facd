package memory

import (
	"cmp"

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
		batches, failed := task.DecodeBatch(body, maxBytes)
		err = cmp.Or(err, failed)
		for _, part := range batches {
			part.BaseEnv = b.BaseEnv // it is not in what travels
			to.tasks.put(part)
		}
	}
	return err
}

// sendEvents sends events of a worker, encoded where the queue encodes.
func (q *Queue) sendEvents(from string, events []task.Event) error {
	if !q.encodes {
		q.events.put(events...)
		return nil
	}
	bodies, err := task.EncodeAll("an event", events, maxBytes, maxBytes)
	for _, body := range bodies {
		read, failed := task.DecodeEvents(body, func(e *task.Event) error { return e.Check(from) })
		if failed != nil {
			q.refused.Add(1)
			continue
		}
		q.events.put(read...)
	}
	return err
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
