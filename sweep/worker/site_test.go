package worker_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/internal/leaktest"
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// keeper is shared: a process has one.
var keeper *process.Keeper

func TestMain(m *testing.M) {
	if folder := os.Getenv(doomed); folder != "" {
		beDoomed(folder)
	}
	var err error
	if keeper, err = process.NewKeeper(nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	if err := keeper.Close(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	if err := leaktest.Find(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// limit is how long a test waits for what must happen.
const limit = time.Minute

// site is a worker in a folder of its own, with a master's end of its queue.
type site struct {
	t       testing.TB
	queue   *memory.Queue
	base    string // holds everything
	outputs string
	options worker.Options
	stop    func()          // ends the worker and waits
	over    chan worker.End // it has ended

	beats  <-chan task.Heartbeat // see obeyed
	mu     sync.Mutex
	events []task.Event
	moved  chan struct{} // closed and replaced when events grows
}

// newSite starts a worker with one slot, on the revision r1 with the given files; change may alter
// its options.
func newSite(t testing.TB, files map[string]string, change ...func(*worker.Options)) *site {
	t.Helper()
	base := t.TempDir()
	s := &site{t: t, queue: memory.NewEncoding(), base: base,
		outputs: filepath.Join(base, "outputs"),
		moved:   make(chan struct{})}
	s.revision("r1", files)
	o := worker.Options{
		Name: "w1", Host: "gpu1", Slots: 1, Outputs: s.outputs, Keeper: keeper,
		Inherited: []string{"PATH=" + os.Getenv("PATH")},
		Revision: func(r string) (string, error) {
			folder := filepath.Join(base, "revisions", r)
			_, err := os.Stat(folder)
			return folder, err
		},
	}
	for _, c := range change {
		c(&o)
	}
	s.options = o
	var reader sync.WaitGroup
	reading, stopReading := context.WithCancel(context.Background())
	reader.Go(func() { s.read(reading) })
	s.start(s.queue.Worker(o.Name))
	t.Cleanup(func() { s.stop(); stopReading(); reader.Wait() })
	return s
}

// start lets a worker with the site's options work at a port.
func (s *site) start(p queue.WorkerEndpoint) {
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	w, over := worker.New(p, s.options), make(chan worker.End, 1)
	parts.Go(func() { over <- w.Run(ctx) })
	s.over = over
	s.stop = func() { cancel(); parts.Wait() }
}

// revision makes the files of a revision; a name that ends with / is a folder.
func (s *site) revision(name string, files map[string]string) {
	s.t.Helper()
	s.must(os.MkdirAll(filepath.Join(s.base, "revisions", name), 0o755))
	for file, text := range files {
		path := filepath.Join(s.base, "revisions", name, file)
		s.must(os.MkdirAll(filepath.Dir(path), 0o755))
		if strings.HasSuffix(file, "/") {
			s.must(os.MkdirAll(path, 0o755))
		} else {
			s.must(os.WriteFile(path, []byte(text), 0o755))
		}
	}
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) read(ctx context.Context) {
	for d := range s.queue.Events(ctx) {
		s.mu.Lock()
		s.events = append(s.events, d.Items...)
		close(s.moved)
		s.moved = make(chan struct{})
		s.mu.Unlock()
		_ = d.Ack() // in an outage they come again
	}
}

// until waits until the events so far satisfy f, and returns them.
func (s *site) until(what string, f func([]task.Event) bool) []task.Event {
	s.t.Helper()
	timeout := time.After(limit)
	for {
		s.mu.Lock()
		events, moved := ofAttempts(s.events), s.moved
		s.mu.Unlock()
		if f(events) {
			return events
		}
		select {
		case <-moved:
		case <-timeout:
			s.t.Fatalf("%s did not happen in %v; events: %v", what, limit, kinds(events))
		}
	}
}

// seen waits for an event of a kind.
func (s *site) seen(k task.EventKind, index int64, attempt int) task.Event {
	s.t.Helper()
	is := func(e task.Event) bool { return e.Kind == k && e.Index == index && e.Attempt == attempt }
	events := s.until(fmt.Sprintf("%s of %d, attempt %d,", k, index, attempt),
		func(all []task.Event) bool {
			return slices.ContainsFunc(all, is)
		})
	return events[slices.IndexFunc(events, is)]
}

// ended waits for the end of an attempt.
func (s *site) ended(index int64, attempt int) task.Outcome {
	s.t.Helper()
	return *s.seen(task.EndedEvent, index, attempt).Outcome
}

// soFar returns the events of attempts that came until now.
func (s *site) soFar() []task.Event { return ofAttempts(s.all()) }

// all returns the events that came until now, those of the worker itself among them.
func (s *site) all() []task.Event {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.events)
}

func ofAttempts(all []task.Event) (events []task.Event) {
	for _, e := range all {
		if e.Kind != task.JoinedEvent && e.Kind != task.LeftEvent {
			events = append(events, e)
		}
	}
	return events
}

// batch returns attempts, each the first of its task, of a shell script.
func batch(script string, indexes ...int64) task.Batch {
	b := task.Batch{Version: task.Version, Sweep: "train-1", Recipe: task.Recipe{
		Definition: "train", Command: []string{"sh", "-c", script,
			"sh"}, Revision: "r1", Grace: 5 * time.Second}}
	for _, i := range indexes {
		b.Attempts = append(b.Attempts, task.Attempt{Index: i, Number: 1})
	}
	return b
}

func (s *site) send(batches ...task.Batch) {
	s.t.Helper()
	s.must(s.queue.Publish(context.Background(), "w1", batches...))
}

func (s *site) tell(c task.Control) {
	s.t.Helper()
	c.Version = cmp.Or(c.Version, task.Version)
	s.must(s.queue.SendControl(context.Background(), "w1", c))
}

// obeyed waits until the worker has done what it was told so far: a drain shows in its heartbeats.
func (s *site) obeyed() {
	s.t.Helper()
	if s.beats == nil { // one stream for all calls, so that they come in their order
		s.beats = s.queue.Heartbeats(s.t.Context())
	}
	late := time.After(limit)
	for _, off := range []bool{false, true} {
		s.tell(task.Control{Kind: task.DrainControl, Off: off})
		for draining := off; draining == off; {
			select {
			case h := <-s.beats:
				draining = h.Draining
			case <-late:
				s.t.Fatal("the worker does not obey")
			}
		}
	}
}

// beat waits for a heartbeat of which ok holds.
func (s *site) beat(what string, ok func(task.Heartbeat) bool) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), limit)
	defer cancel()
	for h := range s.queue.Heartbeats(ctx) {
		if ok(h) {
			return
		}
	}
	s.t.Fatalf("no heartbeat says %s", what)
}

// run runs one script as task 0 to its end.
func (s *site) run(script string) task.Outcome {
	s.t.Helper()
	s.send(batch(script, 0))
	return s.ended(0, 1)
}

// path returns a file in the directory of a task.
func (s *site) path(index int64, name string) string {
	return filepath.Join(s.outputs, "train-1", fmt.Sprint(index), name)
}

// file returns what a file of a task has in it, nothing when it is not there.
func (s *site) file(index int64, name string) string {
	s.t.Helper()
	b, err := os.ReadFile(s.path(index, name))
	if !errors.Is(err, fs.ErrNotExist) {
		s.must(err)
	}
	return string(b)
}

// names lists the directory of a task, links with @.
func (s *site) names(index int64) (names []string) {
	s.t.Helper()
	entries, err := os.ReadDir(s.path(index, ""))
	s.must(err)
	for _, e := range entries {
		name := e.Name()
		if e.Type()&os.ModeSymlink != 0 {
			name += "@"
		}
		names = append(names, name)
	}
	return names
}

// appears waits until a file is there, which a script made.
func (s *site) appears(path string) {
	s.t.Helper()
	poll(s.t, path, func() bool { _, err := os.Stat(path); return err == nil })
}

// poll waits for something that tells nobody when it happens.
func poll(t testing.TB, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("%s: not in %v", what, limit)
		}
	}
}

// kinds returns events in short: "claimed 0/1".
func kinds(events []task.Event) (short []string) {
	for _, e := range events {
		short = append(short, fmt.Sprintf("%s %d/%d", e.Kind, e.Index, e.Attempt))
	}
	return short
}

// with returns files and one more.
func with(files map[string]string, name, text string) map[string]string {
	all := maps.Clone(files)
	all[name] = text
	return all
}

func touch(path string) error { return os.WriteFile(path, nil, 0o600) }
