package monitor_test

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
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
	"mlframework/sweep/monitor"
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func TestMain(m *testing.M) { os.Exit(leaktest.Main(m)) }

// limit is how long a test waits for what must happen.
const limit = 30 * time.Second

// site is a master with its API on a socket, a monitor of it on a port, and workers that do what
// the test says.
type site struct {
	t       *testing.T
	folder  string
	queue   *memory.Queue
	master  *api.Client // to act
	asked   *transcript // what the monitor asked of the API, one line a request
	log     *transcript // of the monitor
	monitor *monitor.Monitor
	url     string                             // of the monitor, with its prefix, without a slash at the end
	end     func()                             // ends the master and its API
	broker  interface{ Status() queue.Status } // nil: the queue itself

	mu      sync.Mutex
	now     func() time.Time  // of the monitor
	printed map[string]string // by "train-1/0 stdout"
	// what tasks measure when they begin; nil: nothing
	samples func(a task.Attempt) []metric.Sample
}

// prints adds to what a task printed to a stream.
func (s *site) prints(id string, index int64, stream, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.printed == nil {
		s.printed = map[string]string{}
	}
	s.printed[fmt.Sprintf("%s/%d %s", id, index, stream)] += text
}

// piece answers a worker's request for output.
func (s *site) piece(worker string, c task.Control) task.Piece {
	s.mu.Lock()
	defer s.mu.Unlock()
	stream := "stdout"
	if c.Read.Stderr {
		stream = "stderr"
	}
	text, ok := s.printed[fmt.Sprintf("%s/%d %s", c.Sweep, c.Index, stream)]
	p := task.Piece{Version: task.Version, ID: c.Read.ID, Worker: worker, File: worker + ":1",
		Offset: c.Read.Offset, Size: int64(len(text)), Absent: !ok}
	if c.Read.Offset < p.Size {
		p.Data = []byte(text[c.Read.Offset:min(p.Size, c.Read.Offset+int64(c.Read.Length))])
	}
	return p
}

// transcript keeps what was written.
type transcript struct {
	mu   sync.Mutex
	text strings.Builder
}

func (j *transcript) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.Write(p)
}

func (j *transcript) String() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.text.String()
}

func newSite(t *testing.T, change ...func(*monitor.Options)) *site {
	t.Helper()
	s := &site{t: t, folder: t.TempDir(), queue: memory.NewEncoding(), asked: &transcript{},
		log: &transcript{},
		now: time.Now}
	s.master = api.Dial(s.socket())
	t.Cleanup(s.master.Close)
	s.start()
	client := api.DialBy(s.readSocket(), func(ctx context.Context) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "unix", s.readSocket())
		if err != nil {
			return nil, &api.Unreachable{Target: "the master at " + s.readSocket(),
				Reason: "there is no such file", Remedy: "start the master"}
		}
		return &notingConn{c, s.asked}, nil
	})
	o := monitor.Options{Master: client, State: s.state(), Cluster: "lab",
		Log: slog.New(slog.NewTextHandler(s.log, nil)), Now: s.clock}
	for _, c := range change {
		c(&o)
	}
	var err error
	s.monitor, err = monitor.New(o)
	s.must(err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	s.url = "http://" + l.Addr().String() + strings.TrimSuffix(o.Prefix, "/")
	ctx, stop := context.WithCancel(context.Background())
	var run sync.WaitGroup
	run.Go(func() {
		if err := s.monitor.Run(ctx, l); err != nil {
			t.Errorf("serve: %v", err)
		}
	})
	t.Cleanup(func() { stop(); run.Wait(); client.Close() })
	return s
}

func (s *site) socket() string     { return filepath.Join(s.folder, "api.sock") }
func (s *site) readSocket() string { return filepath.Join(s.folder, "monitor.sock") }
func (s *site) state() string      { return filepath.Join(s.folder, "monitor") }

// clock returns the monitor's.
func (s *site) clock() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.now()
}

// still stops the monitor's clock.
func (s *site) still() {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := s.now()
	s.now = func() time.Time { return at }
}

// later moves the monitor's clock.
func (s *site) later(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := s.now
	s.now = func() time.Time { return before().Add(d) }
}

// start runs master and API; after end another on the same store and queue.
func (s *site) start() {
	s.t.Helper()
	st, err := store.Open(context.Background(), s.folder, "test")
	s.must(err)
	m := master.New(master.Options{Store: st, Queue: s.queue, Lease: time.Hour})
	if s.broker == nil {
		s.broker = s.queue
	}
	handler := server.New(server.Options{Master: m, Store: &st.Reader, Broker: s.broker,
		Program: "1.2"})
	l, err := server.Listen(s.socket())
	s.must(err)
	reading, err := server.ListenForMonitor(s.readSocket())
	s.must(err)
	serving, stopServing := context.WithCancel(context.Background())
	running, stopRunning := context.WithCancel(context.Background())
	var apis, run sync.WaitGroup
	apis.Go(func() {
		if err := handler.Run(serving, l, reading); err != nil {
			s.t.Errorf("serve: %v", err)
		}
	})
	run.Go(func() { _ = m.Run(running) })
	s.end = sync.OnceFunc(func() {
		stopRunning()
		run.Wait()
		stopServing()
		apis.Wait()
		if err := st.Close(); err != nil {
			s.t.Error(err)
		}
	})
	s.t.Cleanup(func() { s.end() })
}

// notingConn notes the request lines that are written to it.
type notingConn struct {
	net.Conn
	to *transcript
}

func (c *notingConn) Write(p []byte) (int, error) {
	for line := range strings.Lines(string(p)) {
		if strings.HasPrefix(line, "GET ") || strings.HasPrefix(line, "POST ") {
			fmt.Fprintln(c.to, strings.TrimSpace(line))
		}
	}
	return c.Conn.Write(p)
}

func (s *site) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *site) until(what string, ok func() bool) {
	s.t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(limit); !ok(); <-tick.C {
		if time.Now().After(end) {
			s.t.Fatalf("not in %v: %s", limit, what)
		}
	}
}

// submit lets a sweep of the parameters begin.
func (s *site) submit(parameters string, change ...func(*core.Record)) string {
	s.t.Helper()
	sp, _, err := space.Read("parameters.yml", []byte(parameters))
	s.must(err)
	r := core.Record{Version: task.Version, Space: sp, Retry: task.Retry{Lost: 3}, Project: "/home/ann/digits",
		Objective: metric.Objective{Maximize: true, Metric: "accuracy"},
		Recipe: task.Recipe{Definition: "train", Command: []string{"train.py"},
			Revision: "4fd2c17a90be77aa"}}
	for _, c := range change {
		c(&r)
	}
	made, err := s.master.Submit(s.t.Context(), api.Submission{Code: "c1", Record: r}, "", "")
	s.must(err)
	return made.ID
}

// becomes waits until a sweep has so many tasks in a state.
func (s *site) becomes(id, state string, n int64) {
	s.t.Helper()
	s.until(fmt.Sprintf("%s has %d %s", id, n, state), func() bool {
		view, err := s.master.Sweep(s.t.Context(), id, false)
		s.must(err)
		return view.Counts[state] == n
	})
}

// hire makes a worker known that does what do says with every attempt; nil: the attempt goes on.
// What it returns ends attempts that went on.
func (s *site) hire(name, host string, slots int,
	do func(sweep string, a task.Attempt) *task.Outcome) (end func(sweep string, index int64,
	o *task.Outcome)) {
	s.t.Helper()
	return s.hireWith(nil, name, host, slots, do)
}

// hireWith is hire for a worker with GPUs, which it gives to attempts in turn.
func (s *site) hireWith(gpus []task.GPU, name, host string, slots int,
	do func(sweep string, a task.Attempt) *task.Outcome) (end func(sweep string, index int64,
	o *task.Outcome)) {
	s.t.Helper()
	port := s.queue.Worker(name)
	event := func(k task.EventKind, sweep string, index int64, number int) task.Event {
		return task.Event{Version: task.Version, Kind: k, Worker: name, Sweep: sweep, Index: index,
			Attempt: number, Time: time.Now()}
	}
	ctx, cancel := context.WithCancel(context.Background())
	var mu sync.Mutex
	beat := task.Heartbeat{Version: task.Version, Worker: name, Host: host, Slots: slots,
		Incarnation: "1", Program: "1.2", GPUs: gpus,
		Load: &task.Load{Cores: 8, CPU: .42, MemoryTotal: 64 << 30, MemoryFree: 40 << 30,
			DiskTotal: 1 << 40, DiskFree: 300 << 30}}
	var parts sync.WaitGroup
	parts.Go(func() {
		for d := range port.Consume(ctx) {
			_ = d.Ack()
			b := d.Items[0]
			var events []task.Event
			for _, a := range b.Attempts {
				started := event(task.StartedEvent, b.Sweep, a.Index, a.Number)
				started.Start = &task.Start{Host: host, Resumed: a.Number > 1}
				events = append(events, event(task.ClaimedEvent, b.Sweep, a.Index, a.Number),
					started)
				if s.samples != nil {
					measured := event(task.SamplesEvent, b.Sweep, a.Index, a.Number)
					measured.Samples = s.samples(a)
					events = append(events, measured)
				}
				if o := do(b.Sweep, a); o != nil {
					e := event(task.EndedEvent, b.Sweep, a.Index, a.Number)
					e.Outcome = o
					events = append(events, e)
					continue
				}
				busy := task.Busy{Sweep: b.Sweep, Index: a.Index, Attempt: a.Number,
					Started: time.Now()}
				for _, d := range a.Devices {
					busy.GPUs = append(busy.GPUs, d.UUID)
				}
				mu.Lock()
				beat.Running = append(beat.Running, busy)
				mu.Unlock()
			}
			_ = port.Emit(context.Background(), events...)
		}
	})
	parts.Go(func() {
		for c := range port.Controls(ctx) {
			if c.Kind == task.ReadControl {
				_ = port.SendPiece(ctx, s.piece(name, c))
			}
		}
	})
	parts.Go(func() {
		for {
			mu.Lock()
			now := beat
			now.Running = append([]task.Busy{}, beat.Running...)
			mu.Unlock()
			begun := time.Now()
			_ = port.SendHeartbeat(ctx, now)
			select {
			// a long heartbeat takes no more than a tenth of a slow machine
			case <-time.After(max(50*time.Millisecond, 10*time.Since(begun))):
			case <-ctx.Done():
				return
			}
		}
	})
	s.t.Cleanup(func() { cancel(); parts.Wait() })
	first := beat
	s.must(port.Emit(ctx, task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: name,
		Time: time.Now(), Heartbeat: &first}))
	return func(sweep string, index int64, o *task.Outcome) {
		mu.Lock()
		var left []task.Busy
		for _, b := range beat.Running {
			if b.Sweep != sweep || b.Index != index {
				left = append(left, b)
			}
		}
		beat.Running = left
		mu.Unlock()
		e := event(task.EndedEvent, sweep, index, 1)
		e.Outcome = o
		_ = port.Emit(context.Background(), e)
	}
}

// well ends an attempt well; its index is its accuracy.
func well(_ string, a task.Attempt) *task.Outcome {
	return &task.Outcome{Class: task.Success, ExitCode: new(int), Duration: 1234 * time.Millisecond,
		Metrics: metric.Final{{Name: "accuracy", Value: float64(a.Index) / 10}}}
}

// badly lets every attempt fail.
func badly(string, task.Attempt) *task.Outcome {
	code := 3
	return &task.Outcome{Class: task.Error, ExitCode: &code, Reason: "exit code 3",
		Duration: time.Millisecond}
}

// hold lets every attempt go on.
func hold(string, task.Attempt) *task.Outcome { return nil }
