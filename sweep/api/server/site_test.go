package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"mlframework/internal/leaktest"
	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/metric"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// limit is how long a test waits for what must happen.
const limit = 20 * time.Second

// site is a master with its API on a socket, and workers that do what the test says.
type site struct {
	t      *testing.T
	folder string
	queue  *memory.Queue
	store  *store.Store
	server *server.Server
	client *api.Client
	log    *journal
	end    func() // ends master and API

	// is called with controls of workers other than reads, unless nil
	controls func(worker string, c task.Control)
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

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{t: t, folder: t.TempDir(), queue: memory.NewEncoding(), log: &journal{}}
	s.client = api.Dial(s.socket())
	s.client.User = "ann"
	t.Cleanup(s.client.Close)
	s.start()
	return s
}

func (s *site) socket() string { return filepath.Join(s.folder, "api.sock") }

func (s *site) readSocket() string { return filepath.Join(s.folder, "monitor.sock") }

// start runs master and API.
func (s *site) start() {
	s.t.Helper()
	var err error
	s.store, err = store.Open(context.Background(), s.folder, "test")
	s.must(err)
	log := slog.New(slog.NewTextHandler(s.log, nil))
	m := master.New(
		master.Options{Store: s.store, Queue: s.queue, Log: log, Lease: time.Hour,
			Secrets: filepath.Join(s.folder, "secrets")},
	)
	s.server = server.New(server.Options{Master: m, Store: &s.store.Reader, Broker: s.queue,
		Revisions: "/revisions", Program: "1.2", Log: log})
	l, err := server.Listen(s.socket())
	s.must(err)
	reading, err := server.ListenForMonitor(s.readSocket())
	s.must(err)
	serving, stopServing := context.WithCancel(context.Background())
	running, stopRunning := context.WithCancel(context.Background())
	var api, run sync.WaitGroup
	server, st := s.server, s.store
	api.Go(func() {
		if err := server.Run(serving, l, reading); err != nil {
			s.t.Errorf("serve: %v", err)
		}
	})
	run.Go(func() { _ = m.Run(running) })
	s.end = sync.OnceFunc(func() {
		stopRunning()
		run.Wait()
		stopServing()
		api.Wait()
		if err := st.Close(); err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(func() { s.end() })
}

// again ends the master and its API, and starts others on the same store and queue.
func (s *site) again() {
	s.t.Helper()
	s.end()
	s.start()
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

// submission is a sweep of n tasks.
func submission(t *testing.T, n int) api.Submission {
	t.Helper()
	sp, _, err := space.Read("parameters.yml", fmt.Appendf(nil, "i: !interval [0, %d]\n", n))
	if err != nil {
		t.Fatal(err)
	}
	return api.Submission{
		Code: "c1",
		Record: core.Record{Version: task.Version, Space: sp, Retry: task.Retry{Lost: 3}, Project: "/p",
			Objective: metric.Objective{Maximize: true, Metric: "accuracy"},
			Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"},
				Revision: "r1"}},
	}
}

func (s *site) submit(n int) string {
	s.t.Helper()
	made, err := s.client.Submit(s.t.Context(), submission(s.t, n), "", "")
	s.must(err)
	return made.ID
}

// becomes waits until a sweep has tasks in such states.
func (s *site) becomes(id string, counts map[string]int64) {
	s.t.Helper()
	var got map[string]int64
	s.until(fmt.Sprintf("%s is %v", id, counts), func() bool {
		view, err := s.client.Sweep(s.t.Context(), id, false)
		s.must(err)
		got = view.Counts
		for state, n := range counts {
			if got[state] != n {
				return false
			}
		}
		return true
	})
}

func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("not in %v: %s", limit, what)
		}
	}
}

// raw asks without the client.
func (s *site) raw(method, path, body string,
	header ...string) (status int, text string, h http.Header) {
	s.t.Helper()
	bare := &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true,
			DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
				return (&net.Dialer{}).DialContext(ctx, "unix", s.socket())
			},
		},
	}
	r, err := http.NewRequestWithContext(
		s.t.Context(),
		method,
		"http://master"+path,
		strings.NewReader(body),
	)
	s.must(err)
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	answer, err := bare.Do(r)
	s.must(err)
	defer answer.Body.Close()
	all, err := io.ReadAll(answer.Body)
	s.must(err)
	return answer.StatusCode, strings.TrimSpace(string(all)), answer.Header
}

// hand is a worker that does what the test says.
type hand struct {
	s    *site
	name string
	do   func(given) *task.Outcome // nil: the attempt goes on
	in   string                    // the image
	fire func()                    // it says and takes nothing more

	mu     sync.Mutex
	got    []given
	stdout []byte        // of every task
	ago    time.Duration // how long ago what it reports happened
}

type given struct {
	sweep string
	task.Attempt
}

// hire makes a worker known that does what do says with every attempt.
func (s *site) hire(name string, slots int, do func(given) *task.Outcome) *hand {
	s.t.Helper()
	return s.hireThat(task.Heartbeat{Worker: name, Slots: slots, Incarnation: "1"}, do)
}

// hireThat is hire for a worker that says more of itself.
func (s *site) hireThat(beat task.Heartbeat, do func(given) *task.Outcome) *hand {
	s.t.Helper()
	name := beat.Worker
	h := &hand{s: s, name: name, do: do, in: beat.Image}
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
			if c.Kind == task.ReadControl {
				_ = port.SendPiece(ctx, h.piece(*c.Read))
			} else if s.controls != nil {
				s.controls(name, c)
			}
		}
	})
	beat.Version, beat.Host, beat.Program = task.Version, "gpu1", "1.2"
	parts.Go(func() {
		for tick := time.NewTicker(50 * time.Millisecond); ; {
			_ = port.SendHeartbeat(ctx, beat)
			select {
			case <-tick.C:
			case <-ctx.Done():
				tick.Stop()
				return
			}
		}
	})
	h.fire = func() { cancel(); parts.Wait() }
	s.t.Cleanup(h.fire)
	joined := task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: name,
		Time: time.Now(), Heartbeat: &beat}
	s.must(port.Emit(ctx, joined))
	return h
}

func (h *hand) piece(r task.Read) task.Piece {
	h.mu.Lock()
	defer h.mu.Unlock()
	p := task.Piece{Version: task.Version, ID: r.ID, Worker: h.name, Offset: r.Offset,
		Size: int64(len(h.stdout)), Absent: r.Stderr || h.stdout == nil}
	if r.Stderr {
		p.Size = 0
	} else if r.Offset < p.Size {
		p.Data = bytes.Clone(h.stdout[r.Offset:min(p.Size, r.Offset+int64(r.Length))])
	}
	return p
}

// prints adds to what every task printed.
func (h *hand) prints(text string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stdout = append(h.stdout, text...)
}

func (h *hand) take(b task.Batch) {
	var events []task.Event
	for _, a := range b.Attempts {
		g := given{b.Sweep, a}
		h.mu.Lock()
		h.got = append(h.got, g)
		h.mu.Unlock()
		events = append(events, h.event(task.ClaimedEvent, g), h.event(task.StartedEvent, g))
		if o := h.do(g); o != nil {
			events = append(events, h.ending(g, o))
		}
	}
	h.emit(events...)
}

func (h *hand) emit(events ...task.Event) {
	_ = h.s.queue.Worker(h.name).Emit(context.Background(), events...)
}

func (h *hand) ends(g given, o *task.Outcome) { h.emit(h.ending(g, o)) }

func (h *hand) ending(g given, o *task.Outcome) task.Event {
	e := h.event(task.EndedEvent, g)
	e.Outcome = o
	return e
}

func (h *hand) event(k task.EventKind, g given) task.Event {
	h.mu.Lock()
	at := time.Now().Add(-h.ago)
	h.mu.Unlock()
	e := task.Event{Version: task.Version, Kind: k, Worker: h.name, Sweep: g.sweep,
		Index: g.Index, Attempt: g.Number, Time: at}
	if k == task.StartedEvent {
		e.Start = &task.Start{Host: "gpu1", Image: h.in}
	}
	return e
}

// reports sets how long ago what it reports from now on happened.
func (h *hand) reports(ago time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ago = ago
}

// has waits until n attempts came.
func (h *hand) has(n int) (all []given) {
	h.s.t.Helper()
	h.s.until(fmt.Sprintf("%d attempts", n), func() bool {
		h.mu.Lock()
		defer h.mu.Unlock()
		all = slices.Clone(h.got)
		return len(all) >= n
	})
	return all
}

// well ends every attempt well; its index is its accuracy.
func well(g given) *task.Outcome {
	return &task.Outcome{Class: task.Success, ExitCode: new(int), Duration: time.Millisecond,
		Metrics: metric.Final{{Name: "accuracy", Value: float64(g.Index)}}}
}

// badly lets every attempt fail.
func badly(given) *task.Outcome {
	code := 3
	return &task.Outcome{Class: task.Error, ExitCode: &code, Reason: "exit code 3",
		Duration: time.Millisecond}
}

// hold lets every attempt go on.
func hold(given) *task.Outcome { return nil }

func parse[T any](t *testing.T, text string) (v T) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return v
}
