package amqp

import (
	"crypto/rand"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue/rights"
)

// fanIn is the queues of single workers that a consumer consumes beside its own, which is common to
// all.
type fanIn struct {
	deliveries    chan amqp091.Delivery // of all queues
	workers       map[string]*workerConsumer
	changed       <-chan struct{} // there are others
	done          chan struct{}   // closed when the consumer leaves
	markerID      string          // of its marks
	extensions    int             // how often workers were added
	reachedMarker int             // up to which of these the common queue has been read
}

// workerConsumer is what has come from the queue of one worker.
type workerConsumer struct {
	extension int // which addition it was
	messages  int
}

// markerHeader has a mark in the common queue: what is behind it came after certain queues of
// workers were there.
const markerHeader = "mark"

// enoughMessages is after how many messages in a worker's own queue the common one is not needed,
// also where the mark was lost.
const enoughMessages = 3

// startFanIn has what comes from all queues come in one channel, by turns.
func (k *consumer) startFanIn() {
	k.fanIn = &fanIn{deliveries: make(chan amqp091.Delivery), workers: map[string]*workerConsumer{},
		done: make(chan struct{}), markerID: rand.Text()}
	k.fanIn.forward(k.in)
	k.in = k.fanIn.deliveries
}

func (e *fanIn) forward(in <-chan amqp091.Delivery) {
	go func() {
		for d := range in { // closed with the channel
			select {
			case e.deliveries <- d:
			case <-e.done:
				return
			}
		}
	}()
}

// close lets go of what nobody reads any more.
func (e *fanIn) close() {
	if e != nil {
		close(e.done)
	}
}

// consumeWorkers consumes the queues of the workers that are known now.
func (f *streamSpec[T]) consumeWorkers(k *consumer) error {
	names, changed := f.workers.all()
	k.fanIn.changed = changed
	for _, worker := range slices.Sorted(maps.Keys(k.fanIn.workers)) {
		if names[worker] {
			continue
		}
		if err := k.ch.Cancel(workerTag(worker), false); err != nil {
			return err
		}
		delete(k.fanIn.workers, worker)
	}
	k.fanIn.extensions++
	before := len(k.fanIn.workers)
	for _, worker := range slices.Sorted(maps.Keys(names)) {
		if k.fanIn.workers[worker] != nil {
			continue
		}
		name, err := f.workerQueue(k.ch, k.conn.id, worker)
		if err != nil {
			return err
		}
		in, err := k.ch.Consume(name, workerTag(worker), false, false, false, false, nil)
		if err != nil {
			return err
		}
		k.fanIn.forward(in)
		k.fanIn.workers[worker] = &workerConsumer{extension: k.fanIn.extensions}
	}
	if f.sendMarker != nil && len(k.fanIn.workers) > before {
		f.sendMarker(k.fanIn.markerID + strconv.Itoa(k.fanIn.extensions))
	}
	return nil
}

// workerTag names the consumer of a worker's queue.
func workerTag(worker string) string { return consumerTag + "." + worker }

// workersChanged is closed when there are other workers; nil for a consumer of one queue.
func (k *consumer) workersChanged() <-chan struct{} {
	if k.fanIn == nil {
		return nil
	}
	return k.fanIn.changed
}

// isDuplicate reports whether a message is none of the stream: a mark, or one in the common queue
// that is in the queue of its worker, too.
func (k *consumer) isDuplicate(d *amqp091.Delivery) bool {
	if k.fanIn == nil {
		return false
	}
	_, worker, _ := strings.Cut(d.RoutingKey, ".")
	h := k.fanIn.workers[worker]
	switch {
	case d.ConsumerTag != consumerTag:
		if h != nil && d.ConsumerTag == workerTag(worker) {
			h.messages++
		}
		return false
	case d.Exchange == rights.FromWorkers:
		return h != nil && (h.extension <= k.fanIn.reachedMarker || h.messages >= enoughMessages)
	}
	mark, is := d.Headers[markerHeader].(string) // only the master can send here
	if text, own := strings.CutPrefix(mark, k.fanIn.markerID); own {
		if n, err := strconv.Atoi(text); err == nil {
			k.fanIn.reachedMarker = max(k.fanIn.reachedMarker, n)
		}
	}
	return is
}
