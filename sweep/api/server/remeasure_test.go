package server_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/api/server"
	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/metric"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// metricReader reads metrics as a worker does: one task at a time, for readTime each.
type metricReader struct {
	readTime time.Duration
	changed  chan struct{} // has an item after a change of pending
	reads    func()        // is called when a task is read

	mu      sync.Mutex
	pending []task.Control
	read    int // how many tasks were read
}

// control handles what the master tells the worker.
func (m *metricReader) control(_ string, c task.Control) {
	m.mu.Lock()
	defer m.mu.Unlock()
	switch c.Kind {
	case task.MeasureControl:
		m.pending = append(m.pending, c)
	case task.ForgetControl:
		m.remove(c.Measure.ID)
	}
	select {
	case m.changed <- struct{}{}:
	default:
	}
}

// remove drops a request. The caller holds mu.
func (m *metricReader) remove(id string) {
	m.pending = slices.DeleteFunc(m.pending,
		func(c task.Control) bool { return c.Measure.ID == id })
}

func (m *metricReader) next() (c task.Control, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.pending) == 0 {
		return c, false
	}
	return m.pending[0], true
}

// run answers requests until ctx ends.
func (m *metricReader) run(ctx context.Context, send func(context.Context, task.Piece) error) {
	for ctx.Err() == nil {
		c, ok := m.next()
		var done <-chan time.Time
		if ok {
			done = time.After(m.readTime)
		}
		select {
		case <-done:
			m.reads()
			m.mu.Lock()
			m.read++
			m.remove(c.Measure.ID)
			m.mu.Unlock()
			found := task.Measured{Metrics: metric.Stored{{Name: "accuracy",
				Value: float64(c.Index)}}}
			_ = send(ctx,
				task.Piece{Version: task.Version, ID: c.Measure.ID, Worker: "w1", Measured: &found})
		case <-m.changed:
		case <-ctx.Done():
		}
	}
}

// newMeasureSite returns a site without a socket, for the virtual time of synctest, with a sweep of
// n tasks that have ended. Its worker reads the metrics of each task for readTime.
func newMeasureSite(t *testing.T, readTime time.Duration, n int,
	do func(given) *task.Outcome) (*site, *metricReader, string) {
	t.Helper()
	m := &metricReader{readTime: readTime, changed: make(chan struct{}, 1), reads: func() {}}
	s := &site{t: t, queue: memory.NewEncoding(), controls: m.control}
	var err error
	s.store, err = store.Open(t.Context(), t.TempDir(), "test")
	s.must(err)
	made := master.New(master.Options{Store: s.store, Queue: s.queue, Lease: time.Hour})
	s.server = server.New(server.Options{Master: made, Store: &s.store.Reader, Broker: s.queue})
	ctx, cancel := context.WithCancel(context.Background())
	var parts sync.WaitGroup
	parts.Go(func() { _ = made.Run(ctx) })
	parts.Go(func() { m.run(ctx, s.queue.Worker("w1").SendPiece) })
	t.Cleanup(func() {
		cancel()
		parts.Wait()
		s.server.Close()
		s.must(s.store.Close())
	})
	s.hireThat(task.Heartbeat{Worker: "w1", Slots: n, Incarnation: "1"}, do)
	id, err := made.Submit(t.Context(),
		master.Submission{Submission: submission(t, n)})
	s.must(err)
	w, stop, err := made.Watch(t.Context(), id, api.DetailCounts)
	s.must(err)
	defer stop()
	for state := core.Open; state != core.Finished; {
		u, err := w.Next(t.Context())
		s.must(err)
		state = u.Sweep.State
	}
	return s, m, id
}

// asks sends a request without a socket, and returns the answer.
func (s *site) asks(ctx context.Context, method, path string, body any) []byte {
	s.t.Helper()
	text, err := json.Marshal(body)
	s.must(err)
	r := httptest.NewRequestWithContext(ctx, method, path, bytes.NewReader(text))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.server.ServeHTTP(w, r)
	if w.Code != http.StatusOK {
		s.t.Fatalf("%s: %d: %s", path, w.Code, w.Body)
	}
	return w.Body.Bytes()
}

// measured asks for the metrics of the first n tasks of a sweep.
func (s *site) measured(ctx context.Context, id string, n int) (all api.Measures) {
	s.t.Helper()
	ask := api.Measure{Metrics: []metric.Rule{}}
	for i := range n {
		ask.Tasks = append(ask.Tasks, int64(i))
	}
	s.must(json.Unmarshal(s.asks(ctx, http.MethodPost, "/v1/sweeps/"+id+"/measure", ask), &all))
	return all
}

// TestWaitingToBeReadDoesNotTimeOut measures all of many tasks, however long a worker reads each.
func TestWaitingToBeReadDoesNotTimeOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, _, id := newMeasureSite(t, 50*time.Second, 12, well)
		for i, m := range s.measured(t.Context(), id, 12).Tasks {
			if m.Error != "" || len(m.Metrics) != 1 || m.Metrics[0].Value != float64(i) {
				t.Errorf("%d: %+v", i, m)
			}
		}
	})
}

// TestCancelledMeasuresAreNotRead holds that the requests of a client that has disconnected are
// removed from the worker's queue, and do not delay the next client.
func TestCancelledMeasuresAreNotRead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m, id := newMeasureSite(t, 50*time.Second, 12, well)
		ctx, cancel := context.WithTimeout(t.Context(), 70*time.Second)
		defer cancel()
		s.measured(ctx, id, 12)
		begin := time.Now()
		next := s.measured(t.Context(), id, 1).Tasks[0]
		took := time.Since(begin)
		m.mu.Lock()
		defer m.mu.Unlock()
		if next.Error != "" || took > m.readTime+time.Second || m.read != 2 {
			t.Errorf("%+v after %v, and %d were read; want 2", next, took, m.read)
		}
	})
}

// What was read of an attempt is not stored once another one was made of its task.
func TestRereadOfATaskThatRanAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s, m, id := newMeasureSite(t, time.Second, 1, func(g given) *task.Outcome {
			o := badly(g)
			o.Metrics = metric.Final{{Name: "accuracy", Value: float64(g.Attempt.Number)}}
			return o
		})
		has := func(want float64, why string) {
			t.Helper()
			var of api.Task
			s.must(json.Unmarshal(s.asks(t.Context(), http.MethodGet, "/v1/sweeps/"+id+"/tasks/0",
				nil), &of))
			if got, _ := of.Row.Metrics.Get("accuracy"); got != want {
				t.Errorf("%s: accuracy is %v, want %v", why, got, want)
			}
		}
		store := func(m api.MeasuredTask) {
			t.Helper()
			s.asks(t.Context(), http.MethodPost, "/v1/sweeps/"+id+"/reread",
				api.Reread{Metrics: []metric.Rule{}, Tasks: []core.Remeasured{m.Remeasured}})
		}
		first := s.measured(t.Context(), id, 1).Tasks[0]
		m.reads = func() {
			s.asks(t.Context(), http.MethodPost, "/v1/sweeps/"+id+"/retry", api.ResumeRequest{})
			time.Sleep(time.Minute)
		}
		if meanwhile := s.measured(t.Context(), id, 1).Tasks[0]; meanwhile.Error !=
			"it runs again, or did meanwhile" {
			t.Errorf("%+v", meanwhile)
		}
		has(2, "after the retry")
		store(first)
		has(2, "values of attempt 1")
		m.reads = func() {}
		store(s.measured(t.Context(), id, 1).Tasks[0])
		has(0, "values of attempt 2")
	})
}
