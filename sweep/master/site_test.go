package master_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/internal/leaktest"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/secret"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// limit is how long a test waits for what must happen.
const limit = 20 * time.Second

// site is a master on a store and a queue of its own, with workers that do what the test says.
type site struct {
	t      testing.TB
	folder string
	store  *store.Store
	queue  *memory.Queue
	master *master.Master
	end    func() error // ends the master and waits for what Run returns
	log    *journal
	spy    *master.StoreSpy
}

// journal keeps what was logged.
type journal struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *journal) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func newSite(t testing.TB, change ...func(*master.Options)) *site {
	t.Helper()
	s := &site{t: t, folder: t.TempDir(), queue: memory.NewEncoding()}
	s.start(change...)
	return s
}

// start opens the store and runs a master on it.
func (s *site) start(change ...func(*master.Options)) {
	s.t.Helper()
	var err error
	if s.store, err = store.Open(s.t.Context(), s.folder, "test"); err != nil {
		s.t.Fatal(err)
	}
	s.log = &journal{}
	o := master.Options{Store: s.store, Queue: s.queue,
		Log: slog.New(slog.NewTextHandler(s.log, nil))}
	for _, c := range change {
		c(&o)
	}
	s.master = master.New(o)
	s.spy = s.master.SpyStore()
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func(m *master.Master) { done <- m.Run(ctx) }(s.master)
	st := s.store
	s.end = sync.OnceValue(func() error {
		cancel()
		err := <-done
		if e := st.Close(); e != nil {
			s.t.Error(e)
		}
		return err
	})
	s.t.Cleanup(func() { _ = s.end() })
}

// again ends the master and starts another on the same store, with an empty queue.
func (s *site) again(change ...func(*master.Options)) {
	s.t.Helper()
	s.must(s.end())
	s.queue = memory.NewEncoding()
	s.start(change...)
}

func alone(o *master.Options) { o.Local = true }

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// record is a sweep of n tasks.
func record(t testing.TB, n int) core.Record {
	t.Helper()
	sp, _, err := space.Read("parameters.yml", fmt.Appendf(nil, "i: !interval [0, %d]\n", n))
	if err != nil {
		t.Fatal(err)
	}
	return core.Record{Version: task.Version, Space: sp, Retry: task.Retry{Lost: 3},
		Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"}, Revision: "r1"}}
}

// submit begins a sweep of n tasks.
func (s *site) submit(n int, change ...func(*master.Submission)) string {
	s.t.Helper()
	sub := submissionOf(s.t, n)
	for _, c := range change {
		c(&sub)
	}
	id, err := s.master.Submit(s.t.Context(), sub)
	s.must(err)
	return id
}

func submissionOf(t testing.TB, tasks int) (s master.Submission) {
	s.Record = record(t, tasks)
	return s
}

// head is how a sweep stands on disk.
func (s *site) head(id string) core.Head {
	s.t.Helper()
	sw, err := s.store.Sweep(context.Background(), id)
	s.must(err)
	return sw.Head
}

func (s *site) task(id string, index int64) core.Task {
	s.t.Helper()
	sw, err := s.store.Sweep(context.Background(), id)
	s.must(err)
	t, _, err := s.store.Task(context.Background(), sw, index)
	s.must(err)
	return t
}

// counts are the tasks on disk: "2 pending, 1 running".
func (s *site) counts(id string) string {
	s.t.Helper()
	var words []string
	for state, n := range s.head(id).Counts() {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, task.State(state)))
		}
	}
	return strings.Join(words, ", ")
}

// becomes waits until a sweep stands so on disk.
func (s *site) becomes(id string, state core.State, counts string) {
	s.t.Helper()
	var got string
	s.poll(fmt.Sprintf("%s %s: %s", id, state, counts), func() bool {
		got = s.counts(id)
		return s.head(id).State == state && got == counts
	}, func() string { return string(s.head(id).State) + ": " + got })
}

func (s *site) poll(what string, ok func() bool, is func() string) {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("not in %v: %s; it is %s", limit, what, is())
		}
	}
}

// hand is a worker that does what the test says.
type hand struct {
	s    *site
	name string
	key  *secret.Key // nil: none

	mu       sync.Mutex
	got      []given
	controls []task.Control
	answered map[string]bool // requests to remove outputs, by their ids; the test's
	batches  int
	follow   map[string]bool           // what batches said of their sweep
	newest   map[string]task.Batch     // of a sweep
	auto     func(given) *task.Outcome // ends attempts by itself; nil: the test does
}

// given is an attempt that came.
type given struct {
	sweep string
	task.Attempt
}

// newHand makes a worker known, which gets what is published.
func (s *site) newHand(name string, slots int) *hand {
	s.t.Helper()
	return s.newHandThat(task.Heartbeat{Worker: name, Slots: slots, Incarnation: "1"}, nil)
}

// newRunner makes a worker known that runs every attempt well, in the given time.
func (s *site) newRunner(name string, slots int, took time.Duration) *hand {
	s.t.Helper()
	return s.newHandThat(task.Heartbeat{Worker: name, Slots: slots, Incarnation: "1"}, well(took))
}

func (s *site) newHandThat(says task.Heartbeat, auto func(given) *task.Outcome) *hand {
	s.t.Helper()
	name := says.Worker
	h := &hand{s: s, name: name, auto: auto, answered: map[string]bool{}}
	port := s.queue.Worker(name)
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() {
		for d := range port.Consume(ctx) {
			_ = d.Ack()
			h.take(d.Items[0])
		}
	})
	parts.Go(func() {
		for c := range port.Controls(ctx) {
			h.mu.Lock()
			h.controls = append(h.controls, c)
			h.mu.Unlock()
		}
	})
	s.t.Cleanup(func() { cancel(); parts.Wait() })
	h.beat(says)
	return h
}

func (h *hand) beat(b task.Heartbeat) {
	b.Worker = h.name
	h.s.must(h.s.queue.Worker(h.name).SendHeartbeat(context.Background(), b))
}

func (h *hand) take(b task.Batch) {
	h.mu.Lock()
	h.batches++
	if h.follow == nil {
		h.follow, h.newest = map[string]bool{}, map[string]task.Batch{}
	}
	h.newest[b.Sweep] = b
	h.follow[b.Sweep] = b.Follow
	auto := h.auto
	var all []given
	for _, a := range b.Attempts {
		all = append(all, given{b.Sweep, a})
	}
	h.got = append(h.got, all...)
	h.mu.Unlock()
	if auto == nil {
		return
	}
	var events []task.Event
	for _, g := range all {
		if o := auto(g); o != nil {
			events = append(events, h.event(task.ClaimedEvent, g), h.event(task.StartedEvent, g),
				h.ending(g, o))
		}
	}
	_ = h.s.queue.Worker(h.name).Emit(context.Background(), events...)
}

func (h *hand) event(k task.EventKind, g given) task.Event {
	e := task.Event{Version: task.Version, Kind: k, Worker: h.name, Sweep: g.sweep, Index: g.Index,
		Attempt: g.Number, Time: time.Now()}
	if k == task.StartedEvent {
		e.Start = &task.Start{Host: "gpu1"}
	}
	return e
}

func (h *hand) ending(g given, o *task.Outcome) task.Event {
	e := h.event(task.EndedEvent, g)
	e.Outcome = o
	return e
}

func (h *hand) emit(events ...task.Event) {
	h.s.t.Helper()
	h.s.must(h.s.queue.Worker(h.name).Emit(context.Background(), events...))
}

// claim, start and end report about attempts.
func (h *hand) report(k task.EventKind, all ...given) {
	h.s.t.Helper()
	for _, g := range all {
		h.emit(h.event(k, g))
	}
}

func (h *hand) end(class task.Class, all ...given) {
	h.s.t.Helper()
	for _, g := range all {
		h.emit(h.ending(g, &task.Outcome{Class: class, Duration: time.Second}))
	}
}

// has waits for the n-th attempt and returns the first n.
func (h *hand) has(n int) (all []given) {
	h.s.t.Helper()
	h.s.poll(fmt.Sprintf("%d attempts came to %s", n, h.name), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		all = slices.Clone(h.got)
		return len(all) >= n
	}, func() string { return fmt.Sprint(all) })
	return all[:n]
}

// told waits for a control message.
func (h *hand) told(what string, is func(task.Control) bool) {
	h.s.t.Helper()
	var all []task.Control
	h.s.poll(what, func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		all = slices.Clone(h.controls)
		return slices.ContainsFunc(all, is)
	}, func() string { return fmt.Sprint(all) })
}

func (h *hand) toldStop(g given) {
	h.s.t.Helper()
	h.told("stop "+fmt.Sprint(g), func(c task.Control) bool {
		return c.Kind == task.StopControl && c.Sweep == g.sweep && c.Index == g.Index &&
			c.Attempt == g.Number
	})
}

// well ends every attempt well, in the given time.
func well(took time.Duration) func(given) *task.Outcome {
	return func(given) *task.Outcome { return &task.Outcome{Class: task.Success, Duration: took} }
}

func (h *hand) automatic(f func(given) *task.Outcome) *hand {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.auto = f
	return h
}
