package master_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/queue"
	"mlframework/sweep/queue/memory"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// picky is a queue that takes nothing for some workers.
type picky struct {
	queue.MasterEndpoint
	refuses func(ctx context.Context, worker string) error // may wait; nil: it takes it

	mu   sync.Mutex
	took map[string][]string // what it took, by worker
}

func (q *picky) take(ctx context.Context, worker, what string) error {
	if err := q.refuses(ctx, worker); err != nil {
		return err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.took == nil {
		q.took = map[string][]string{}
	}
	q.took[worker] = append(q.took[worker], what)
	return nil
}

func (q *picky) all(worker string) []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	return slices.Clone(q.took[worker])
}

func (q *picky) Publish(ctx context.Context, worker string, batches ...task.Batch) error {
	first := batches[0].Attempts[0].Index
	if err := q.take(ctx, worker, fmt.Sprint(len(batches), " batches from ", first)); err != nil {
		return err
	}
	return q.MasterEndpoint.Publish(ctx, worker, batches...)
}

func (q *picky) SendControl(ctx context.Context, worker string, c task.Control) error {
	if err := q.take(ctx, worker, string(c.Kind)); err != nil {
		return err
	}
	return q.MasterEndpoint.SendControl(ctx, worker, c)
}

func (q *picky) RemoveWorker(ctx context.Context, worker string) error {
	if err := q.take(ctx, worker, "remove"); err != nil {
		return err
	}
	return q.MasterEndpoint.RemoveWorker(ctx, worker)
}

// refusing is a queue that takes nothing for w1 as long as it is told to.
func refusing(on *atomic.Bool) *picky {
	return &picky{MasterEndpoint: memory.NewEncoding(), refuses: func(_ context.Context,
		worker string) error {
		if worker == "w1" && on.Load() {
			return fmt.Errorf("%w: the queue of %s is full", queue.ErrUnreachable, worker)
		}
		return nil
	}}
}

// A worker whose queue answers late, or refuses, has others wait for nothing.
func TestAWorkerThatTakesNothingDelaysNoOther(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(ctx context.Context) error{
		"refuses": func(context.Context) error { return queue.ErrUnreachable },
		"hangs": func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, func(t *testing.T) {
				var q *picky
				s := newSite(t, func(o *master.Options) {
					q = &picky{MasterEndpoint: o.Queue}
					q.refuses = func(ctx context.Context, worker string) error {
						if worker == "w1" {
							return refuse(ctx)
						}
						return nil
					}
					o.Queue = q
				})
				defer func() { s.must(s.end()) }()
				s.newHand("w1", 1)
				s.newRunner("w2", 1, time.Millisecond)
				first := s.submit(1) // goes to w1, which is the first by name
				time.Sleep(time.Second)
				begin := time.Now()
				id := s.submit(1)
				for s.head(id).State != core.Finished && time.Since(begin) < time.Minute {
					time.Sleep(time.Millisecond)
					synctest.Wait()
				}
				if took := time.Since(begin); took > 100*time.Millisecond {
					t.Errorf("a task of w2 took %v, while w1 takes nothing of %s", took, first)
				}
			})
		})
	}
}

func batch(index int64, args ...string) core.Message {
	return core.Message{Worker: "w1", Batches: []task.Batch{{Version: task.Version, Sweep: "s-1",
		Attempts: []task.Attempt{{Index: index, Number: 1, Args: args}}}}}
}

func control(k task.ControlKind) core.Message {
	return core.Message{Worker: "w1", Control: &task.Control{Version: task.Version, Kind: k}}
}

// sending runs an outbox on a queue.
func sending(t *testing.T, q queue.MasterEndpoint) (box *master.Outbox, log *journal) {
	t.Helper()
	log = &journal{}
	box = master.NewOutbox(q, slog.New(slog.NewTextHandler(log, nil)))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() { defer close(done); box.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return box, log
}

// What waits for a worker goes in order, and batches that follow each other as one.
func TestMessagesOfAWorkerKeepTheirOrder(t *testing.T) {
	timed(t, func(t *testing.T) {
		var on atomic.Bool
		on.Store(true)
		q := refusing(&on)
		box, log := sending(t, q)
		box.Send(control(task.FollowControl), batch(1), batch(2))
		synctest.Wait()
		box.Send(batch(3), control(task.StopControl), batch(4))
		time.Sleep(10 * time.Second)
		said := strings.Count(log.String(), "cannot send to a worker")
		if said != 1 || box.Pending() != 6 {
			t.Errorf("%d messages wait: %s", box.Pending(), log)
		}
		on.Store(false)
		time.Sleep(3 * time.Second)
		want := []string{"follow", "3 batches from 1", "stop", "1 batches from 4"}
		if got := q.all("w1"); !slices.Equal(got, want) || box.Pending() != 0 {
			t.Errorf("it got %q, and %d messages wait; want %q", got, box.Pending(), want)
		}
	})
}

// The removal of what waits for a worker is not lost, whatever waits, and nothing that came before
// it is sent after it.
func TestARemovalTakesThePlaceOfWhatWaits(t *testing.T) {
	timed(t, func(t *testing.T) {
		var on atomic.Bool
		on.Store(true)
		q := refusing(&on)
		box, _ := sending(t, q)
		long := strings.Repeat("x", 1<<20)
		for n := range 100 {
			box.Send(batch(int64(n), long))
			synctest.Wait()
		}
		box.Send(core.Message{Worker: "w1", Remove: true}, batch(1000))
		time.Sleep(10 * time.Second)
		box.Send(core.Message{Worker: "w1", Remove: true}, control(task.DrainControl), batch(1001))
		on.Store(false)
		time.Sleep(3 * time.Second)
		want := []string{"remove", "drain", "1 batches from 1001"}
		if got := q.all("w1"); !slices.Equal(got, want) || box.Pending() != 0 {
			t.Errorf("it got %q, and %d messages wait; want %q", got, box.Pending(), want)
		}
	})
}

// A task that is too long to be sent keeps back none that goes with it.
func TestATaskThatCannotBeSentLosesNoOther(t *testing.T) {
	timed(t, func(t *testing.T) {
		q := memory.NewEncoding()
		box, log := sending(t, q)
		box.Send(batch(1), batch(2, string(make([]byte, 4<<20))), batch(3)) // 24 MiB of JSON
		batches := q.Worker("w1").Consume(t.Context())
		for _, want := range []int64{1, 3} {
			select {
			case d := <-batches:
				if got := d.Items[0].Attempts[0].Index; got != want {
					t.Errorf("task %d came, want %d", got, want)
				}
				_ = d.Ack()
			case <-time.After(time.Minute):
				t.Fatalf("task %d does not come", want)
			}
		}
		synctest.Wait()
		if box.Pending() != 0 || !strings.Contains(log.String(), "task s-1/2") {
			t.Errorf("%d messages wait: %s", box.Pending(), log)
		}
	})
}

// What waits for a worker is bounded, and that is said once.
func TestWhatWaitsForAWorkerIsBounded(t *testing.T) {
	timed(t, func(t *testing.T) {
		var on atomic.Bool
		on.Store(true)
		box, log := sending(t, refusing(&on))
		heap := func() int64 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			return int64(m.HeapAlloc)
		}
		before := heap()
		for n := range 200 {
			box.Send(batch(int64(n), strings.Repeat("x", 1<<20)), control(task.StopControl))
		}
		other := batch(0, strings.Repeat("y", 1<<20))
		other.Worker = "w2"
		box.Send(other)
		synctest.Wait()
		if held := heap() - before; held > 96<<20 { // what other tests hold at the same time counts, too
			t.Errorf("%d MiB wait for a worker that takes nothing", held>>20)
		}
		if n := strings.Count(log.String(), "messages for a worker are dropped"); n != 1 {
			t.Errorf("that is said %d times: %s", n, log)
		}
		if box.Pending() == 0 {
			t.Error("nothing waits for it")
		}
	})
}

// Tasks that were dropped, as too much waited for their worker, run when its queue takes them.
func TestDroppedTasksAreSentAgain(t *testing.T) {
	timed(t, func(t *testing.T) {
		var on atomic.Bool
		on.Store(true)
		var q *picky
		s := newSite(t, func(o *master.Options) {
			q = refusing(&on)
			q.MasterEndpoint = o.Queue
			o.Queue = q
		})
		defer func() { s.must(s.end()) }()
		h := s.newRunner("w1", 8, time.Millisecond)
		defer h.beating(func() task.Heartbeat {
			return task.Heartbeat{Worker: "w1", Slots: 8, Incarnation: "1"}
		})()
		id := s.submit(8, func(sub *master.Submission) {
			text := fmt.Appendf(nil, "i: !interval [0, 8]\nname: [%s]\n",
				strings.Repeat("x", 256<<10))
			sp, _, err := space.Read("parameters.yml", text)
			s.must(err)
			sub.Record.Space = sp
		})
		time.Sleep(time.Minute)
		if !strings.Contains(s.log.String(), "messages for a worker are dropped") {
			t.Errorf("nothing was dropped: %s", s.log)
		}
		on.Store(false)
		time.Sleep(30 * time.Second)
		if h := s.head(id); h.State != core.Finished {
			t.Errorf("it is %s: %s", h.State, s.counts(id))
		}
	})
}
