package amqp

import (
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
)

// roster is the workers that are known. The zero value has none.
type roster struct {
	mu      sync.Mutex
	names   map[string]bool
	changed chan struct{}
}

func (r *roster) set(worker string, known bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.names[worker] == known {
		return
	}
	if r.names == nil {
		r.names = map[string]bool{}
	}
	if r.names[worker] = known; !known {
		delete(r.names, worker)
	}
	if r.changed != nil {
		close(r.changed)
		r.changed = nil
	}
}

// all returns the workers, and a channel that is closed when they change.
func (r *roster) all() (names map[string]bool, changed <-chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.changed == nil {
		r.changed = make(chan struct{})
	}
	return maps.Clone(r.names), r.changed
}

// each is the queues of single workers that a consumer consumes beside its own, which is common to
// all.
type each struct {
	all     chan amqp091.Delivery // of all queues
	workers map[string]*heard
	changed <-chan struct{} // there are others
	over    chan struct{}   // closed when the consumer leaves
	id      string          // of its marks
	made    int             // how often workers were added
	marked  int             // up to which of these the common queue has been read
}

// heard is what has come from the queue of one worker.
type heard struct {
	since    int // which addition it was
	messages int
}

// markHeader has a mark in the common queue: what is behind it came after certain queues of workers
// were there.
const markHeader = "mark"

// enough is after how many messages in a worker's own queue the common one is not needed, also
// where the mark was lost.
const enough = 3

// merge has what comes from all queues come in one channel, by turns.
func (k *consumer) merge() {
	k.each = &each{all: make(chan amqp091.Delivery), workers: map[string]*heard{},
		over: make(chan struct{}), id: rand.Text()}
	k.each.take(k.in)
	k.in = k.each.all
}

func (e *each) take(in <-chan amqp091.Delivery) {
	go func() {
		for d := range in { // closed with the channel
			select {
			case e.all <- d:
			case <-e.over:
				return
			}
		}
	}()
}

// end lets go of what nobody reads any more.
func (e *each) end() {
	if e != nil {
		close(e.over)
	}
}

// extend consumes the queues of the workers that are known now.
func (f *feed[T]) extend(k *consumer) error {
	names, changed := f.workers.all()
	k.each.changed = changed
	for _, worker := range slices.Sorted(maps.Keys(k.each.workers)) {
		if names[worker] {
			continue
		}
		if err := k.ch.Cancel(tagOf(worker), false); err != nil {
			return err
		}
		delete(k.each.workers, worker)
	}
	k.each.made++
	before := len(k.each.workers)
	for _, worker := range slices.Sorted(maps.Keys(names)) {
		if k.each.workers[worker] != nil {
			continue
		}
		name, err := f.each(k.ch, k.c.id, worker)
		if err != nil {
			return err
		}
		in, err := k.ch.Consume(name, tagOf(worker), false, false, false, false, nil)
		if err != nil {
			return err
		}
		k.each.take(in)
		k.each.workers[worker] = &heard{since: k.each.made}
	}
	if f.mark != nil && len(k.each.workers) > before {
		f.mark(k.each.id + strconv.Itoa(k.each.made))
	}
	return nil
}

// tagOf names the consumer of a worker's queue.
func tagOf(worker string) string { return consumerTag + "." + worker }

// changed is closed when there are other workers; nil for a consumer of one queue.
func (k *consumer) changed() <-chan struct{} {
	if k.each == nil {
		return nil
	}
	return k.each.changed
}

// passOver reports whether a message is none of the stream: a mark, or one in the common queue that
// is in the queue of its worker, too.
func (k *consumer) passOver(d *amqp091.Delivery) bool {
	if k.each == nil {
		return false
	}
	_, worker, _ := strings.Cut(d.RoutingKey, ".")
	h := k.each.workers[worker]
	switch {
	case d.ConsumerTag != consumerTag:
		if h != nil && d.ConsumerTag == tagOf(worker) {
			h.messages++
		}
		return false
	case d.Exchange == rights.FromWorkers:
		return h != nil && (h.since <= k.each.marked || h.messages >= enough)
	}
	mark, is := d.Headers[markHeader].(string) // only the master can send here
	if text, own := strings.CutPrefix(mark, k.each.id); own {
		if n, err := strconv.Atoi(text); err == nil {
			k.each.marked = max(k.each.marked, n)
		}
	}
	return is
}

// ownOf opens a queue of this connection for what one worker sends of a kind.
func ownOf(prefix string, kind rights.Kind, limits amqp091.Table) func(*amqp091.Channel, string,
	string) (string, error) {
	return func(ch *amqp091.Channel, connection, worker string) (string, error) {
		name := prefix + connection + "." + worker
		return name, own(ch, name, kind.Key(worker), limits)
	}
}
