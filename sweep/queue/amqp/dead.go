package amqp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
)

const (
	// mostSeen is how many dead letters are looked at: one takes a round trip. mostHeld is how many
	// bytes of them are held.
	mostSeen = 10_000
	mostHeld = 64 << 20
	// mostLooks is after how many looks a letter is written anew: a quorum queue counts each as a delivery in vain, and
	// RabbitMQ 4 drops what it has delivered 20 times.
	mostLooks = 8
)

// body is a dead letter that was taken, with its message.
type body struct {
	letter
	tag   uint64
	bytes []byte
	looks int64
}

// look takes the dead letters, the first to die first, and gives them to note, which tells whether the message is wanted,
// too. Then finish does with those what is to be done, and tells how many are no letters any more; the others go back.
// Partly tells that there are more than were looked at.
func (h *Hub) look(ctx context.Context, note func(*body) (wanted bool), finish func(*amqp091.Channel, []body) (gone int, err error)) (count int, partly bool, err error) {
	h.dead.Lock()
	defer h.dead.Unlock()
	err = h.end.aside(func(ch *amqp091.Channel) error {
		if err := declareQueue(ch, rights.DeadQueue); err != nil {
			return err
		}
		var wanted []body
		self, taken := h.user(), 0
		for held := 0; !partly; taken++ {
			d, there, err := ch.Get(rights.DeadQueue, false)
			if err = cmp.Or(err, context.Cause(ctx)); err != nil {
				return err
			}
			if !there {
				break
			}
			b := body{letter: letterOf(&d, self), tag: d.DeliveryTag, bytes: d.Body}
			b.looks, _ = d.Headers[countHeader].(int64)
			if note(&b) {
				wanted, held = append(wanted, b), held+len(d.Body)
			}
			if partly = taken+1 >= mostSeen || held > mostHeld; partly {
				count = int(d.MessageCount)
			}
		}
		count += taken
		gone, err := finish(ch, wanted)
		if err != nil {
			return err
		}
		return back(ctx, ch, taken-gone)
	})
	return count, partly, err
}

// Waiting for the broker to have what was given back.
const (
	backLook = 5 * time.Millisecond
	backTime = 5 * time.Second
)

// back gives back what was not acknowledged, and waits until it is there: a quorum queue takes it by and by, and who looks
// meanwhile sees a part of it.
func back(ctx context.Context, ch *amqp091.Channel, letters int) error {
	if err := ch.Nack(0, true, true); err != nil || letters == 0 { // 0: everything
		return err
	}
	pace := time.NewTicker(backLook)
	defer pace.Stop()
	for late := time.After(backTime); ; {
		q, err := ch.QueueDeclarePassive(rights.DeadQueue, true, false, false, false, nil)
		if err != nil || q.Messages >= letters {
			return err
		}
		select {
		case <-pace.C:
		case <-late:
			return nil
		case <-ctx.Done():
			return nil
		}
	}
}

// Dead implements queue.Hub.
func (h *Hub) Dead(ctx context.Context, most int) (all queue.Dead, err error) {
	all.Count, all.Partly, err = h.look(ctx, func(b *body) bool {
		all.Letters = append(all.Letters, b.shown(b.bytes))
		return b.looks >= mostLooks
	}, func(ch *amqp091.Channel, often []body) (int, error) {
		for _, b := range often { // written anew, they were not looked at yet
			if h.end.post(ctx, queueRoute(rights.DeadQueue), b.bytes, b.headers()) != nil {
				continue // another look does it
			}
			if err := ch.Ack(b.tag, false); err != nil {
				return 0, err
			}
		}
		return 0, nil
	})
	slices.SortStableFunc(all.Letters, func(a, b queue.Letter) int { return b.Time.Compare(a.Time) })
	all.Letters = all.Letters[:min(max(most, 0), len(all.Letters))]
	return all, err
}

// Requeue implements queue.Hub.
func (h *Hub) Requeue(ctx context.Context, id string) (done queue.Requeued, err error) {
	defer h.end.buried.forget()
	_, _, err = h.look(ctx, meant(id), func(ch *amqp091.Channel, all []body) (int, error) {
		there := map[string]bool{}
		for _, b := range all {
			if b.cut != "" || len(b.bytes) > mostSent {
				done.Left++
				continue
			}
			exists, known := there[b.from]
			if !known {
				if exists, err = h.exists(b.from); err != nil {
					return done.Moved, err
				}
				there[b.from] = exists
			}
			if !exists {
				done.Left++
				continue
			}
			if err := h.end.post(ctx, queueRoute(queueOf(b.from)), b.bytes, b.back()); err != nil {
				return done.Moved, err
			}
			if err := ch.Ack(b.tag, false); err != nil {
				return done.Moved, err
			}
			done.Moved++
		}
		return done.Moved, nil
	})
	return done, err
}

// Drop implements queue.Hub.
func (h *Hub) Drop(ctx context.Context, id string) (dropped int, err error) {
	defer h.end.buried.forget()
	if id == queue.AllLetters {
		h.dead.Lock()
		defer h.dead.Unlock()
		err = h.end.aside(func(ch *amqp091.Channel) (err error) {
			dropped, err = ch.QueuePurge(rights.DeadQueue, false)
			return err
		})
		return dropped, err
	}
	_, _, err = h.look(ctx, meant(id), func(ch *amqp091.Channel, all []body) (int, error) {
		for _, b := range all {
			if err := ch.Ack(b.tag, false); err != nil {
				return dropped, err
			}
			dropped++
		}
		return dropped, nil
	})
	return dropped, err
}

// meant tells whether a letter has an id.
func meant(id string) func(*body) bool {
	return func(b *body) bool { return id == queue.AllLetters || b.id(b.bytes) == id }
}

// exists tells whether a queue is there from which letters die.
func (h *Hub) exists(name string) (bool, error) {
	if worker, ok := rights.TasksOf(name); name != eventsName && (!ok || rights.CheckWorker(worker) != nil) {
		return false, nil
	}
	_, there, err := h.depth(name)
	return there, err
}

// Names of queues in the contract that are others on the broker, where versions before had queues of those names.
const (
	eventsName     = "events"
	heartbeatsName = "heartbeats"
)

// queueOf is what a queue of the contract is on the broker.
func queueOf(name string) string {
	switch name {
	case eventsName:
		return rights.EventsQueue
	case heartbeatsName:
		return rights.HeartbeatsQueue
	}
	return name
}

// back is what a message says that goes back to where it was to be read: whose it is, where that counts.
func (l *letter) back() amqp091.Table {
	if l.from != eventsName || l.before {
		return nil
	}
	return l.of.headers()
}

// Depths implements queue.Hub.
func (h *Hub) Depths(ctx context.Context, workers ...string) (all []queue.Depth, err error) {
	var names []string
	for _, w := range workers {
		names = append(names, rights.TasksQueue(w))
	}
	for _, name := range append(names, eventsName, heartbeatsName, rights.DeadQueue) {
		d, there, err := h.depth(name)
		if err != nil {
			return nil, err
		}
		if there {
			all = append(all, d)
		}
	}
	unacked := h.unacked(ctx)
	for i := range all {
		if n, told := unacked[queueOf(all[i].Queue)]; told {
			all[i].Unacked = &n
		}
	}
	return all, nil
}

// depth asks for one queue; false when it is not there.
func (h *Hub) depth(name string) (d queue.Depth, there bool, err error) {
	err = h.end.aside(func(ch *amqp091.Channel) error {
		q, err := ch.QueueDeclarePassive(queueOf(name), true, false, false, false, nil)
		if isNotFound(err) {
			return nil
		}
		d, there = queue.Depth{Queue: name, Messages: q.Messages, Consumers: &q.Consumers}, err == nil
		return err
	})
	return d, there, err
}

// aside does something on a channel of its own, of the connection that a broker which is short of memory goes on serving.
// Its errors are ErrAway.
func (e *end) aside(do func(*amqp091.Channel) error) error {
	c, _ := e.lookout.now()
	if c == nil {
		return e.publisher.away()
	}
	ch, err := c.Channel()
	if err == nil {
		err = do(ch)
		_ = ch.Close() // the broker may have closed it
	}
	return e.wrong(err)
}

// wrong makes an error ErrAway.
func (e *end) wrong(err error) error {
	if err == nil || errors.Is(err, queue.ErrAway) {
		return err
	}
	return fmt.Errorf("%w: %w", queue.ErrAway, explain(e.at, err, nil))
}
