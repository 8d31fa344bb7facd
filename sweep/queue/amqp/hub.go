package amqp

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rabbitmq/amqp091-go"

	"mlframework/sweep/queue"
	"mlframework/sweep/queue/rights"
	"mlframework/sweep/task"
)

// Messages that the broker sends ahead, for each stream: they are all in memory, and each has up to
// rights.LongestMessage. Batches are claimed at once, so few are enough; pieces are long.
const (
	batchesAhead     = 64
	eventsAhead      = 64
	beatsAhead       = 16
	piecesAhead      = 8
	linesAhead       = 8
	deadLettersAhead = 8
	mostEvents       = 4096
)

// What a worker's queue of a connection of the master holds: of heartbeats the newest count, and
// pieces are answers to what was asked a moment ago.
var (
	beatsLimits = amqp091.Table{"x-max-length": int64(4), "x-max-length-bytes": int64(2 << 20),
		"x-overflow": "drop-head"}
	piecesLimits = amqp091.Table{"x-max-length-bytes": int64(8 << 20), "x-overflow": "drop-head"}
)

// Hub is the master's end. It is safe for concurrent use.
type Hub struct {
	end     *end
	made    made
	workers roster // that were heard

	bridged atomic.Bool   // workers of the version before may be there
	quiet   time.Duration // after which they are not

	metrics string // "" where there are none
}

var _ queue.Hub = (*Hub)(nil)

// NewHub makes the master's end. It returns at once and tries to reach the broker for ever; only wrong options are an
// error. Close it.
func NewHub(o Options) (*Hub, error) { return newHub(o, oldQuiet) }

func newHub(o Options, quiet time.Duration) (*Hub, error) {
	o, at, err := o.checked()
	if err != nil {
		return nil, err
	}
	h := &Hub{metrics: o.Metrics, quiet: quiet}
	h.end = newEnd(o, at, queueRoute("nowhere"), h.prepare)
	return h, nil
}

// prepare makes what workers need to be there. What the version before left comes first, so that it keeps its place.
func (h *Hub) prepare(c *connection, ch *amqp091.Channel) error {
	if err := h.takeOver(c); err != nil {
		return err
	}
	return declareInbox(ch)
}

// inbox opens a queue that outlives its consumers, and makes it where it was deleted. Until prepare
// has made it nobody else does, so that workers find no way there before.
func (h *Hub) inbox(name string) func(*amqp091.Channel, string) (string, error) {
	return func(ch *amqp091.Channel, connection string) (string, error) {
		if h.end.publisher.current.Load() == nil {
			return madeByMaster(name)(ch, connection)
		}
		return name, declareInbox(ch)
	}
}

// Close ends its connections and streams.
func (h *Hub) Close() { h.end.close() }

// Status implements queue.Hub.
func (h *Hub) Status() queue.Status { return h.end.status() }

// Publish implements queue.Hub. Its errors are ErrAway, but for a worker's name or a batch that can never be sent.
func (h *Hub) Publish(ctx context.Context, worker string, batches ...task.Batch) error {
	if err := rights.CheckWorker(worker); err != nil {
		return err
	}
	bodies := make([][]byte, 0, len(batches))
	for i := range batches {
		some, err := task.EncodeBatch(&batches[i], mostSent)
		if err != nil {
			return err
		}
		bodies = append(bodies, some...)
	}
	return h.end.publisher.send(ctx, queueRoute(rights.TasksQueue(worker)), bodies)
}

// Remove implements queue.Hub.
func (h *Hub) Remove(ctx context.Context, worker string) error {
	if err := rights.CheckWorker(worker); err != nil {
		return err
	}
	defer h.made.forget(worker)
	defer h.workers.set(worker, false)
	name := rights.TasksQueue(worker)
	return h.end.publisher.ask(ctx, &request{to: queueRoute(name), do: func(ch *amqp091.Channel) error {
		if _, err := ch.QueueDelete(name, false, false, false); err != nil {
			return err
		}
		_, err := ch.QueueDelete(rights.ControlQueue(worker), false, false, false)
		return err
	}})
}

// Control implements queue.Hub. A message to a worker that is away for longer than shortLived is lost.
func (h *Hub) Control(_ context.Context, worker string, c task.Control) error {
	if err := rights.CheckWorker(worker); err != nil {
		return err
	}
	body, err := task.Encode("a control message", &c, mostSent)
	if err != nil {
		return err
	}
	if err := h.tellOld(worker, brief(body)); err != nil {
		return err
	}
	return h.end.publisher.post(queueRoute(rights.ControlQueue(worker)), brief(body))
}

// Events implements queue.Hub.
func (h *Hub) Events(ctx context.Context) <-chan queue.Delivery[task.Event] {
	return deliver(ctx, h.end, &feed[task.Event]{
		name: "events", open: h.inbox(rights.EventsQueue), prefetch: eventsAhead,
		most:   mostEvents,
		decode: fromWorkers(rights.Events, h.user, task.DecodeEvents, checkEvent),
		reject: h.reject(eventsName),
	})
}

// Heartbeats implements queue.Hub. The queues of a worker that sends one are made, so that it can
// be sent something, and so that it is heard apart from all others from then on. What its own queue
// of heartbeats gets is also in the common one, where it is passed over.
func (h *Hub) Heartbeats(ctx context.Context) <-chan task.Heartbeat {
	return pour(ctx, h.end, &feed[task.Heartbeat]{
		name: "heartbeats", open: h.inbox(rights.HeartbeatsQueue), prefetch: beatsAhead,
		each: ownOf(rights.HeartbeatsPrefix, rights.Heartbeats, beatsLimits), workers: &h.workers,
		mark:   h.markBeats,
		decode: fromWorkers(rights.Heartbeats, h.user, task.DecodeHeartbeat, h.checkBeat),
		reject: h.reject(heartbeatsName),
	})
}

// checkBeat lets a heartbeat through, and makes the queues of its worker.
func (h *Hub) checkBeat(b *task.Heartbeat, worker string) error {
	err := h.checkBeatOf(b, worker)
	if err == nil {
		h.makeQueues(b.Worker)
	}
	return err
}

// markBeats puts a mark into the common queue of heartbeats. It may be lost.
func (h *Hub) markBeats(id string) {
	m := brief(nil)
	m.Headers = amqp091.Table{markHeader: id}
	_ = h.end.publisher.post(queueRoute(rights.HeartbeatsQueue), m)
}

// Pieces implements queue.Hub.
func (h *Hub) Pieces(ctx context.Context) <-chan task.Piece {
	return pour(ctx, h.end, &feed[task.Piece]{
		name: "pieces", open: nothingIn(rights.PiecesPrefix), prefetch: piecesAhead,
		each: ownOf(rights.PiecesPrefix, rights.Pieces, piecesLimits), workers: &h.workers,
		decode: fromWorkers(rights.Pieces, h.user, task.DecodePiece, checkPiece),
		reject: h.reject("pieces"),
	})
}

// Lines implements queue.Hub.
func (h *Hub) Lines(ctx context.Context) <-chan task.Line {
	return pour(ctx, h.end, &feed[task.Line]{
		name: "lines", open: nothingIn(rights.LinesPrefix), prefetch: linesAhead,
		each: ownOf(rights.LinesPrefix, rights.Lines, linesLimits), workers: &h.workers,
		decode: unrepeated(fromWorkers(rights.Lines, h.user, task.DecodeLines, checkLine)),
		reject: h.reject("lines"),
	})
}

// user is the master's user, as whom nobody else can send.
func (h *Hub) user() string {
	if c, _ := h.end.lookout.now(); c != nil {
		return c.user
	}
	return ""
}

// makeAgain is after how long it is seen that the queues of a worker are still there.
const makeAgain = 5 * time.Second

// made is when the queues of workers were last made. The zero value is ready.
type made struct {
	mu    sync.Mutex
	all   map[string]time.Time
	heard map[string]bool // workers that have spoken as their own users
}

func (m *made) speaks(worker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.heard == nil {
		m.heard = map[string]bool{}
	}
	m.heard[worker] = true
}

func (m *made) spoke(worker string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.heard[worker]
}

// due reports whether a worker's queues are to be made now, and notes that they are.
func (m *made) due(worker string, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if last, ok := m.all[worker]; ok && now.Sub(last) < makeAgain {
		return false
	}
	if m.all == nil {
		m.all = map[string]time.Time{}
	}
	m.all[worker] = now
	return true
}

func (m *made) forget(worker string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.all, worker)
}

// makeQueues makes the queues of a worker, unless that was done a moment ago.
func (h *Hub) makeQueues(worker string) {
	h.workers.set(worker, true)
	if !h.made.due(worker, time.Now()) {
		return
	}
	err := h.end.withAdminChannel(func(ch *amqp091.Channel) error {
		if err := declareQueue(ch, rights.TasksQueue(worker)); err != nil {
			return err
		}
		return declareControl(ch, worker)
	})
	if err != nil { // the next heartbeat tries again
		h.made.forget(worker)
		h.end.log.Warn("the queues of a worker cannot be made", "worker", worker, "error", err)
	}
}
