package memory

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

// What queues are called, as on a broker.
const (
	tasksPrefix = "tasks."
	eventsQueue = "events"
)

// letters are the dead ones, the newest last. The zero value has none.
type letters struct {
	mu   sync.Mutex
	dead []letter
}

type letter struct {
	queue.Letter
	body []byte
}

// Bury puts a message to the dead letters, as a broker does with one that nobody can take: JSON of a batch, from
// tasks.WORKER, or of several events, from events.
func (q *Queue) Bury(from string, body []byte, reason string) {
	l := letter{queue.Letter{From: from, Reason: reason, Time: time.Now().UTC(), Size: len(body),
		Head: slices.Clone(body[:min(len(body), queue.HeadBytes)])}, slices.Clone(body)}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%s", from, l.Time.UnixNano(), body))
	l.ID = hex.EncodeToString(sum[:8])
	q.letters.mu.Lock()
	defer q.letters.mu.Unlock()
	q.letters.dead = append(q.letters.dead, l)
}

// Dead implements queue.Hub.
func (q *Queue) Dead(_ context.Context, most int) (all queue.Dead, err error) {
	if q.outage.on() {
		return all, queue.ErrAway
	}
	q.letters.mu.Lock()
	defer q.letters.mu.Unlock()
	all.Count = len(q.letters.dead)
	for _, l := range slices.Backward(q.letters.dead) {
		if len(all.Letters) < most {
			all.Letters = append(all.Letters, l.Letter)
		}
	}
	return all, nil
}

// take removes the letters that are meant.
func (ls *letters) take(meant func(letter) bool) (taken []letter) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.dead = slices.DeleteFunc(ls.dead, func(l letter) bool {
		if meant(l) {
			taken = append(taken, l)
			return true
		}
		return false
	})
	return taken
}

// of tells whether a letter is meant by an id.
func of(id string) func(letter) bool {
	return func(l letter) bool { return id == queue.AllLetters || l.ID == id }
}

// Requeue implements queue.Hub.
func (q *Queue) Requeue(_ context.Context, id string) (done queue.Requeued, err error) {
	if q.outage.on() {
		return done, queue.ErrAway
	}
	taken := q.letters.take(func(l letter) bool {
		if !of(id)(l) {
			return false
		}
		if !q.there(l.From) {
			done.Left++
			return false
		}
		return true
	})
	for _, l := range taken {
		if err := q.deliver(l); err != nil {
			q.Bury(l.From, l.body, err.Error())
		}
	}
	done.Moved = len(taken)
	return done, nil
}

// there tells whether a queue is there from which letters die.
func (q *Queue) there(name string) bool {
	worker, ok := strings.CutPrefix(name, tasksPrefix)
	q.mu.Lock()
	defer q.mu.Unlock()
	return name == eventsQueue || ok && q.ports[worker] != nil && !q.ports[worker].removed
}

// deliver puts a letter into the queue that it is from; an error when it cannot be read.
func (q *Queue) deliver(l letter) error {
	if l.From == eventsQueue {
		var events []task.Event
		err := json.Unmarshal(l.body, &events)
		if err == nil {
			q.events.put(events...)
		}
		return err
	}
	var b task.Batch
	err := json.Unmarshal(l.body, &b)
	if err == nil {
		q.port(strings.TrimPrefix(l.From, tasksPrefix)).tasks.put(b)
	}
	return err
}

// Drop implements queue.Hub.
func (q *Queue) Drop(_ context.Context, id string) (int, error) {
	if q.outage.on() {
		return 0, queue.ErrAway
	}
	return len(q.letters.take(of(id))), nil
}

// Depths implements queue.Hub.
func (q *Queue) Depths(_ context.Context, workers ...string) (all []queue.Depth, err error) {
	if q.outage.on() {
		return nil, queue.ErrAway
	}
	for _, w := range workers {
		if name := tasksPrefix + w; q.there(name) {
			all = append(all, queue.Depth{Queue: name, Messages: q.port(w).tasks.count()})
		}
	}
	q.letters.mu.Lock()
	defer q.letters.mu.Unlock()
	return append(all, queue.Depth{Queue: eventsQueue, Messages: q.events.count()}, queue.Depth{Queue: "heartbeats", Messages: q.heartbeats.count()},
		queue.Depth{Queue: "dead", Messages: len(q.letters.dead)}), nil
}
