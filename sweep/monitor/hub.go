package monitor

import (
	"context"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// The topics: what readers are told changes of. A sweep has one of its own.
const (
	sweepsTopic  = "sweeps" // any sweep
	workersTopic = "workers"
	ofSweep      = "sweep/"
)

// Readers are told of a change at most so often, and there are at most so many.
const (
	tellEvery   = time.Second
	mostReaders = 256
)

// hub is what changes, for all readers. It asks the master only while somebody reads: once a second for the list of sweeps
// and the workers, and by one stream of events for each sweep that is looked at, however many look. A reader is told the
// newest version of its topic; one that is slow skips those between, and nobody waits for it.
type hub struct {
	memo   *memo
	master *api.Client
	pace   pace
	parts  sync.WaitGroup

	mu      sync.Mutex
	topics  map[string]*topic
	readers int
	stop    context.CancelFunc // of the looking; nil: nobody reads
	away    error              // why the master does not answer; nil: it does
	sweeps  map[string]core.Summary
	workers []core.Worker
	closed  bool
}

// topic is one thing that readers look at. The hub's mutex guards it.
type topic struct {
	version int64
	changed chan struct{} // closed with every version, and made anew
	readers int
	told    time.Time
	next    *time.Timer   // of a change that is told later; nil: none
	poke    chan struct{} // the list says that the sweep has changed
	end     context.CancelFunc
}

func newHub(m *memo, c *api.Client) *hub {
	return &hub{memo: m, master: c, topics: map[string]*topic{}}
}

// reader is somebody who looks at a topic.
type reader struct {
	hub   *hub
	topic *topic
	leave func()
}

// join begins to look at a topic. It is nil when there are too many readers, or the hub is closed. The reader calls leave.
func (h *hub) join(name string) *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.readers >= mostReaders {
		return nil
	}
	if h.readers++; h.stop == nil {
		h.stop = h.begin(h.look)
	}
	t := h.topics[name]
	if t == nil {
		t = &topic{changed: make(chan struct{}), poke: make(chan struct{}, 1), version: h.memo.clock.Add(1)}
		h.topics[name] = t
		if id, ok := cutSweep(name); ok {
			t.end = h.begin(func(ctx context.Context) { h.follow(ctx, id, t) })
		}
	}
	t.readers++
	return &reader{h, t, sync.OnceFunc(func() { h.leave(name, t) })}
}

func (h *hub) begin(f func(context.Context)) context.CancelFunc {
	ctx, cancel := context.WithCancel(context.Background())
	h.parts.Go(func() { f(ctx) })
	return cancel
}

func (h *hub) leave(name string, t *topic) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t.readers--; t.readers == 0 {
		t.close()
		delete(h.topics, name)
	}
	if h.readers--; h.readers == 0 && h.stop != nil {
		h.stop()
		h.stop = nil
	}
}

func (t *topic) close() {
	if t.end != nil {
		t.end()
	}
	if t.next != nil {
		t.next.Stop()
	}
}

// close ends all looking; readers see it.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	if h.stop != nil {
		h.stop()
	}
	for _, t := range h.topics {
		t.close()
		h.tell(t)
	}
	h.mu.Unlock()
	h.parts.Wait()
}

// standing is what a reader is told.
type standing struct {
	version int64
	away    error
	closed  bool
	changed <-chan struct{} // closed when there is a newer one
}

func (r *reader) now() standing {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return standing{r.topic.version, r.hub.away, r.hub.closed, r.topic.changed}
}

// publish tells the readers of a topic that it changed, now or when the last time is long enough ago.
func (h *hub) publish(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[name]
	if t == nil || t.next != nil {
		return
	}
	if wait := tellEvery - time.Since(t.told); wait > 0 {
		t.next = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			t.next = nil
			h.tell(t)
		})
		return
	}
	h.tell(t)
}

func (h *hub) tell(t *topic) {
	t.version, t.told = h.memo.clock.Add(1), time.Now()
	close(t.changed)
	t.changed = make(chan struct{})
}

// follow reads the events of a sweep. They end when the sweep is idle or the master goes; the list tells when it goes on.
func (h *hub) follow(ctx context.Context, id string, t *topic) {
	for ctx.Err() == nil {
		_ = h.master.Follow(ctx, id, api.Following{Detail: api.DetailCounts},
			func(api.Update) error {
				h.publish(ofSweep + id)
				return nil
			})
		select {
		case <-t.poke:
		case <-ctx.Done():
		}
	}
}
