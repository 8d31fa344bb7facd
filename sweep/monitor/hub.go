package monitor

import (
	"context"
	"strings"
	"sync"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// The topics: what readers are told changes of. A sweep has one of its own.
const (
	sweepsTopic      = "sweeps" // any sweep
	workersTopic     = "workers"
	overviewTopic    = "overview" // any sweep, or what it says of workers and the master
	sweepTopicPrefix = "sweep/"
)

// Readers are told of a change at most so often, and there are at most so many: of all sessions,
// and of one, which so keeps nobody else out.
const (
	notifyInterval    = time.Second
	maxReaders        = 256
	maxSessionReaders = 32
)

// hub is what changes, for all readers. It asks the master only while somebody reads: once a second
// for the list of sweeps and the workers, and by one stream of events for each sweep that is looked
// at, however many look. A reader is told the newest version of its topic; one that is slow skips
// those between, and nobody waits for it.
type hub struct {
	answers    *answers
	master     *api.Client
	throughput throughput
	goroutines sync.WaitGroup

	mu          sync.Mutex
	topics      map[string]*topic
	readers     int
	stopPolling context.CancelFunc // nil: there are no readers
	unreachable error              // why the master does not answer; nil: it does
	sweeps      map[string]core.Summary
	workers     []core.Worker
	shown       overviewFacts // what the overview was made from last
	closed      bool
}

// topic is one thing that readers look at. The hub's mutex guards it.
type topic struct {
	version       int64
	changed       chan struct{} // closed with every version, and made anew
	readers       int
	notifiedAt    time.Time
	pendingNotify *time.Timer   // of a change that is published later; nil: none
	resumed       chan struct{} // the list says that the sweep has changed
	stopFollowing context.CancelFunc
}

func newHub(m *answers, c *api.Client) *hub {
	return &hub{answers: m, master: c, topics: map[string]*topic{}}
}

// reader is a subscription to a topic.
type reader struct {
	hub   *hub
	topic *topic
	leave func()
}

// join subscribes a session to a topic. It returns nil when there are too many readers, or the hub
// is closed. The reader calls leave.
func (h *hub) join(name string, s *session) *reader {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed || h.readers >= maxReaders || s.readers >= maxSessionReaders {
		return nil
	}
	s.readers++
	if h.readers++; h.stopPolling == nil {
		h.stopPolling = h.start(h.poll)
	}
	t := h.topics[name]
	if t == nil {
		t = &topic{changed: make(chan struct{}), resumed: make(chan struct{}, 1),
			version: h.answers.clock.Add(1)}
		h.topics[name] = t
		if id, ok := strings.CutPrefix(name, sweepTopicPrefix); ok {
			t.stopFollowing = h.start(func(ctx context.Context) { h.follow(ctx, id, t) })
		}
	}
	t.readers++
	return &reader{h, t, sync.OnceFunc(func() { h.leave(name, t, s) })}
}

func (h *hub) start(f func(context.Context)) context.CancelFunc {
	ctx, cancel := context.WithCancel(context.Background())
	h.goroutines.Go(func() { f(ctx) })
	return cancel
}

func (h *hub) leave(name string, t *topic, s *session) {
	h.mu.Lock()
	defer h.mu.Unlock()
	s.readers--
	if t.readers--; t.readers == 0 {
		t.close()
		delete(h.topics, name)
	}
	if h.readers--; h.readers == 0 && h.stopPolling != nil {
		h.stopPolling()
		h.stopPolling = nil
	}
}

func (t *topic) close() {
	if t.stopFollowing != nil {
		t.stopFollowing()
	}
	if t.pendingNotify != nil {
		t.pendingNotify.Stop()
	}
}

// close ends all looking; readers see it.
func (h *hub) close() {
	h.mu.Lock()
	h.closed = true
	if h.stopPolling != nil {
		h.stopPolling()
	}
	for _, t := range h.topics {
		t.close()
		h.notify(t)
	}
	h.mu.Unlock()
	h.goroutines.Wait()
}

// topicState is what a reader sees of its topic.
type topicState struct {
	version     int64
	unreachable error
	closed      bool
	changed     <-chan struct{} // closed when there is a newer one
}

func (r *reader) state() topicState {
	r.hub.mu.Lock()
	defer r.hub.mu.Unlock()
	return topicState{r.topic.version, r.hub.unreachable, r.hub.closed, r.topic.changed}
}

// publish tells the readers of a topic that it changed, now or when the last time is long enough
// ago.
func (h *hub) publish(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.topics[name]
	if t == nil || t.pendingNotify != nil {
		return
	}
	if wait := notifyInterval - time.Since(t.notifiedAt); wait > 0 {
		t.pendingNotify = time.AfterFunc(wait, func() {
			h.mu.Lock()
			defer h.mu.Unlock()
			t.pendingNotify = nil
			h.notify(t)
		})
		return
	}
	h.notify(t)
}

func (h *hub) notify(t *topic) {
	t.version, t.notifiedAt = h.answers.clock.Add(1), time.Now()
	close(t.changed)
	t.changed = make(chan struct{})
}

// follow reads the events of a sweep. They end when the sweep is idle or the master goes; the list
// tells when it goes on.
func (h *hub) follow(ctx context.Context, id string, t *topic) {
	for ctx.Err() == nil {
		_ = h.master.Follow(ctx, id, api.FollowOptions{Detail: api.DetailCounts},
			func(api.Update) error {
				h.publish(sweepTopicPrefix + id)
				return nil
			})
		select {
		case <-t.resumed:
		case <-ctx.Done():
		}
	}
}
