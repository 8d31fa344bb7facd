package worker_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

func stopOf(index int64) task.Control {
	return task.Control{Kind: task.StopControl, Sweep: "train-1", Index: index, Attempt: 1}
}

func TestEventsOfAnAttemptComeInOrder(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil, func(o *worker.Options) { o.Slots = 3 })
	script := `echo '{"metrics": {"loss": 1}}'`
	for i := range int64(10) {
		s.send(batch(script, 3*i, 3*i+1, 3*i+2))
	}
	for i := range int64(30) {
		s.ended(i, 1)
	}
	of := map[int64][]task.EventKind{}
	for _, e := range s.soFar() {
		if e.Version != task.Version || e.Worker != "w1" || e.Sweep != "train-1" ||
			e.Time.IsZero() {
			t.Errorf("%+v", e)
		}
		of[e.Index] = append(of[e.Index], e.Kind)
	}
	for i, kinds := range of {
		if diff := cmp.Diff([]task.EventKind{task.ClaimedEvent, task.StartedEvent,
			task.SamplesEvent,
			task.EndedEvent}, kinds); diff != "" {
			t.Errorf("%d: %s", i, diff)
		}
	}
}

func TestStop(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch(`trap 'echo asked; exit 0' TERM; echo ready > ready; while :; do sleep 0.01; done`,
		0, 1))
	s.appears(s.path(0, "ready"))
	s.tell(stopOf(7)) // unknown: nothing happens
	s.tell(stopOf(1)) // waits
	s.seen(task.ReturnedEvent, 1, 1)
	s.tell(stopOf(0))
	s.tell(stopOf(0))
	if o := s.ended(0, 1); o.Class != task.Stopped || o.Reason != "stopped" ||
		s.file(0, "stdout.log") != "asked\n" {
		t.Errorf("%+v, %q", o, s.file(0, "stdout.log"))
	}
	s.tell(stopOf(0)) // over
	s.obeyed()
	want := []string{"claimed 0/1", "claimed 1/1", "started 0/1", "returned 1/1", "ended 0/1"}
	if diff := cmp.Diff(want, kinds(s.soFar())); diff != "" {
		t.Error(diff)
	}
}

func TestRecallReturnsPendingAttemptsOfOneSweep(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	other := batch("true", 5)
	other.Sweep = "train-2"
	s.send(batch(`until test -e go; do sleep 0.01; done`, 0, 1, 2), other)
	s.seen(task.StartedEvent, 0, 1)
	s.seen(task.ClaimedEvent, 5, 1)
	s.tell(task.Control{Kind: task.RecallControl, Sweep: "train-1"})
	s.seen(task.ReturnedEvent, 1, 1)
	s.seen(task.ReturnedEvent, 2, 1)
	s.must(touch(s.path(0, "go")))
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Errorf("%+v", o)
	}
	s.ended(5, 1)
}

func TestADrainedWorkerFinishesAndTakesNothingNew(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	beats := s.queue.Heartbeats(t.Context())
	if h := <-beats; h.Draining {
		t.Error("drained from the start")
	}
	s.send(batch(`until test -e go; do sleep 0.01; done`, 0, 1))
	s.seen(task.StartedEvent, 0, 1)
	s.tell(task.Control{Kind: task.DrainControl})
	for h := range beats {
		if h.Closing {
			t.Error("it says that it ends")
		}
		if h.Draining {
			break
		}
	}
	s.seen(task.ReturnedEvent, 1, 1)
	s.send(batch("true", 2))
	s.seen(task.ReturnedEvent, 2, 1)
	s.must(touch(s.path(0, "go")))
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Errorf("%+v", o)
	}
	s.tell(task.Control{Kind: task.DrainControl, Off: true})
	for h := range beats {
		if !h.Draining {
			break
		}
	}
	s.send(batch("", 3))
	s.seen(task.StartedEvent, 3, 1)
	s.must(touch(s.path(3, "go")))
	s.ended(3, 1)
}

func TestABatchThatComesTwiceRunsOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	b := batch("echo x >> runs.txt", 0, 1)
	s.send(b, b)
	s.ended(0, 1)
	s.ended(1, 1)
	s.send(b, batch("", 2))
	s.ended(2, 1)
	for i := range int64(2) {
		if got := s.file(i, "runs.txt"); got != "x\n" {
			t.Errorf("task %d ran %d times", i, strings.Count(got, "x"))
		}
	}
}

func TestUnknownControlIsIgnored(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch(`until test -e go; do sleep 0.01; done`, 0))
	s.seen(task.StartedEvent, 0, 1)
	s.tell(task.Control{Kind: "unheard of"})
	s.obeyed()
	s.must(touch(s.path(0, "go")))
	if o := s.ended(0, 1); o.Class != task.Success {
		t.Errorf("%+v", o)
	}
}

func TestShutdownStopsRunningAndReturnsPending(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch(`trap 'until test -e go; do sleep 0.01; done; echo asked; exit 5' TERM
		echo ready > ready; while :; do sleep 0.01; done`, 0, 1, 2))
	s.appears(s.path(0, "ready"))
	var stopped sync.WaitGroup
	stopped.Go(s.stop)
	s.beat("that it ends", func(h task.Heartbeat) bool {
		return h.Closing && h.Draining && len(h.Running) == 1
	})
	s.must(touch(s.path(0, "go")))
	stopped.Wait()
	o := s.ended(0, 1)
	if o.Class != task.Stopped || o.ExitCode == nil || *o.ExitCode != 5 {
		t.Errorf("%+v", o)
	}
	s.seen(task.ReturnedEvent, 1, 1)
	s.seen(task.ReturnedEvent, 2, 1)
	if n := len(s.soFar()); n != 7 {
		t.Errorf("%v", kinds(s.soFar()))
	}
}

func TestJoinIsFirstAndLeaveIsLast(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.send(batch(`trap 'exit 5' TERM; echo ready > ready; while :; do sleep 0.01; done`, 0, 1))
	s.appears(s.path(0, "ready"))
	s.stop()
	s.ended(0, 1)
	poll(t, "the last event", func() bool { return len(s.all()) == 7 })
	all := s.all()
	if all[4].Kind == task.EndedEvent { // the program may end before the rest is given back
		all[4], all[5] = all[5], all[4]
	}
	if diff := cmp.Diff([]string{"joined 0/0", "claimed 0/1", "claimed 1/1", "started 0/1",
		"returned 1/1", "ended 0/1", "left 0/0"}, kinds(all)); diff != "" {
		t.Fatal(diff)
	}
	joined, left := all[0], all[6]
	for _, e := range []task.Event{joined, left} {
		if e.Version != task.Version || e.Worker != "w1" || e.Sweep != "" || e.Time.IsZero() ||
			e.Heartbeat == nil || e.Heartbeat.Incarnation != joined.Heartbeat.Incarnation ||
			e.Heartbeat.Worker != "w1" || e.Heartbeat.Host != "gpu1" || e.Heartbeat.Slots != 1 ||
			len(e.Heartbeat.Running) > 0 || e.Heartbeat.Waiting > 0 {
			t.Errorf("%+v, %+v", e, e.Heartbeat)
		}
	}
	if h := <-s.queue.Heartbeats(t.Context()); h.Incarnation != joined.Heartbeat.Incarnation {
		t.Errorf("heartbeats are of %s, the worker joined as %s", h.Incarnation,
			joined.Heartbeat.Incarnation)
	}
}

// runner is a fake of programs.
type runner func(context.Context, process.Spec) process.Exit

func (r runner) Run(ctx context.Context, spec process.Spec) process.Exit { return r(ctx, spec) }

// fake lets programs be a function, which runs in the clock of a bubble.
func fake(r runner) func(*worker.Options) { return func(o *worker.Options) { o.Keeper = r } }

func TestNeverMoreAttemptsThanSlots(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	busy, most, begun := map[string]bool{}, 0, 0
	var three sync.WaitGroup // the first three wait for each other, each in a slot of its own
	three.Add(3)
	s := newSite(t, nil, func(o *worker.Options) { o.Slots = 3 },
		fake(func(_ context.Context, spec process.Spec) process.Exit {
			slot := spec.Env[slices.IndexFunc(spec.Env,
				func(v string) bool { return strings.HasPrefix(v, "SLOT=") })]
			mu.Lock()
			if busy[slot] {
				t.Errorf("%s is taken twice", slot)
			}
			busy[slot] = true
			begun++
			early := begun <= 3
			most = max(most, len(busy))
			mu.Unlock()
			if early {
				three.Done()
				three.Wait()
			}
			mu.Lock()
			delete(busy, slot)
			mu.Unlock()
			return process.Exit{}
		}))
	for i := range int64(60) {
		s.send(batch("", i))
	}
	for i := range int64(60) {
		s.ended(i, 1)
	}
	if most != 3 {
		t.Errorf("%d attempts at a time", most)
	}
}

// bubble runs a test with the time of a bubble and a worker whose programs are r.
func bubble(t *testing.T, r runner, test func(*testing.T, *site)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil, fake(r))
		test(t, s)
		s.stop()
	})
}

func TestHeartbeatsComeEveryTwoSeconds(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *site) {
		beats := s.queue.Heartbeats(t.Context())
		begin := time.Now()
		first := <-beats
		for n := range 3 {
			h := <-beats
			if at := time.Since(begin); at != time.Duration(n+1)*2*time.Second {
				t.Errorf("heartbeat %d after %v", n+1, at)
			}
			if !h.Time.Equal(time.Now()) {
				t.Errorf("heartbeat %d says that it is %v", n+1, h.Time)
			}
			// the first may come before the queue took the joined event
			h.Load, h.Time, first.Unsent = first.Load, first.Time, 0
			if diff := cmp.Diff(first, h); diff != "" {
				t.Error(diff)
			}
		}
		want := task.Heartbeat{Version: task.Version, Worker: "w1", Host: "gpu1", Slots: 1,
			Incarnation: first.Incarnation, Time: first.Time, Load: first.Load,
			Key: first.Key, Boot: first.Boot, SlotsChosen: true, CPUs: runtime.NumCPU(),
			Memory: first.Load.MemoryTotal,
			Labels: map[string]string{"host": "gpu1", "arch": runtime.GOARCH}}
		if diff := cmp.Diff(want, first); diff != "" || first.Incarnation == "" ||
			len(first.Key) == 0 {
			t.Error(diff)
		}
	})
}

func TestSamplesComeWithinASecondAndBeforeTheEnd(t *testing.T) {
	program := func(_ context.Context, spec process.Spec) process.Exit {
		for n := range 25 { // one every 100 ms
			fmt.Fprintf(spec.Stdout, `{"metrics": {"loss": %d}, "step": %d}`+"\n", n, n)
			time.Sleep(100 * time.Millisecond)
		}
		fmt.Fprint(spec.Stderr, `{"metrics": {"last": 1}}`) // without a line end: seen at the end
		return process.Exit{Duration: 2500 * time.Millisecond}
	}
	bubble(t, program, func(t *testing.T, s *site) {
		s.send(batch("", 0))
		o := s.ended(0, 1)
		var all []metric.Sample
		messages := 0
		for _, e := range s.soFar() {
			for _, sample := range e.Samples {
				if late := e.Time.Sub(sample.Time); late > time.Second {
					t.Errorf("%+v came %v late", sample, late)
				}
				all = append(all, sample)
			}
			if len(e.Samples) > 0 {
				messages++
			}
		}
		if len(all) != 26 || messages != 3 {
			t.Errorf("%d samples in %d messages", len(all), messages)
		}
		if diff := cmp.Diff(metric.Final{{Name: "loss", Value: 24, Span: &metric.Span{Step: 24,
			Low: &metric.Point{}, High: &metric.Point{Value: 24, Step: 24}}},
			{Name: "last", Value: 1}}, o.Metrics); diff != "" {
			t.Error(diff)
		}
		if last := all[len(all)-1]; last.Stream != "stderr" || last.Name != "last" {
			t.Errorf("%+v", last)
		}
	})
}

func TestOldAttemptsAreForgotten(t *testing.T) {
	bubble(t, nil, func(t *testing.T, s *site) {
		s.tell(task.Control{Kind: task.DrainControl}) // all are given back at once
		synctest.Wait()
		b := batch("")
		for n := range worker.MaxRecent + 1 {
			b.Attempts = append(b.Attempts, task.Attempt{Number: n + 1})
		}
		first, last := b, b
		first.Attempts, last.Attempts = b.Attempts[:1], b.Attempts[worker.MaxRecent:]
		s.send(b, last, first)
		// the last is told again
		s.until("the last", func(all []task.Event) bool {
			return len(all) >= 2*(worker.MaxRecent+2)+1
		})
		synctest.Wait()
		claimed := map[int]int{}
		for _, e := range s.soFar() {
			if e.Kind == task.ClaimedEvent {
				claimed[e.Attempt]++
			}
		}
		if claimed[1] != 2 || claimed[worker.MaxRecent+1] != 1 {
			t.Errorf("the first was taken %d times, the last %d times", claimed[1],
				claimed[worker.MaxRecent+1])
		}
	})
}
