package worker_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

// count is how many programs run at a time.
type count struct {
	mu        sync.Mutex
	now, most int
}

func (c *count) add(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += n
	c.most = max(c.most, c.now)
}

func (c *count) get() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// minute returns a program that runs for a minute.
func (c *count) minute(ctx context.Context, _ process.Spec) process.Exit {
	c.add(1)
	defer c.add(-1)
	select {
	case <-time.After(time.Minute):
		return process.Exit{}
	case <-ctx.Done():
		return process.Exit{Cause: process.Stopped, Code: -1}
	}
}

func slots(n int) task.Control { return task.Control{Kind: task.SlotsControl, Slots: n} }

func TestResizeUnderLoad(t *testing.T) {
	var c count
	bubble(t, c.minute, func(t *testing.T, s *site) {
		for i := range int64(30) {
			s.send(batch("", i))
		}
		beats := s.queue.Heartbeats(t.Context())
		// slots then; what runs at once, and after a minute
		for _, step := range []struct{ ask, slots, at, after int }{
			{0, 1, 1, 1}, {4, 4, 4, 4}, {2, 2, 4, 2}, {-1, 2, 2, 2}, {1 << 20, 2, 2, 2}, {3, 3, 3,
				3}, {1, 1, 3, 1}, {3, 3, 3, 3}, {0, 1, 3, 1},
		} {
			time.Sleep(time.Second) // away from the full minute
			s.skip(beats)
			began := time.Now()
			s.tell(slots(step.ask))
			synctest.Wait()
			if n := c.get(); n != step.at {
				t.Errorf("%d slots: %d run at once; want %d", step.slots, n, step.at)
			}
			if h := <-beats; time.Since(began) > 0 || h.Slots != step.slots {
				t.Errorf("%d slots: after %v a heartbeat says %d", step.slots, time.Since(began),
					h.Slots)
			}
			time.Sleep(time.Minute)
			synctest.Wait()
			if n := c.get(); n != step.after {
				t.Errorf("%d slots: %d run after a minute; want %d", step.slots, n, step.after)
			}
		}
		time.Sleep(30 * time.Minute)
		for i := range int64(30) {
			s.ended(i, 1)
		}
		if c.most != 4 {
			t.Errorf("%d at a time", c.most)
		}
	})
}

// skip, in a bubble, takes the heartbeats that wait.
func (s *site) skip(beats <-chan task.Heartbeat) {
	for {
		synctest.Wait()
		select {
		case <-beats:
		default:
			return
		}
	}
}

func TestHeartbeatListsRunningAndPending(t *testing.T) {
	var c count
	bubble(t, c.minute, func(t *testing.T, s *site) {
		s.stop()
		s.options.Program, s.options.Slots = "v1.2", 2
		s.start(s.queue.Worker("w1"))
		s.send(batch("", 0, 1, 2, 3, 4))
		time.Sleep(time.Second)
		beats := s.queue.Heartbeats(t.Context())
		s.skip(beats)
		s.tell(slots(0))
		h := <-beats
		at := s.seen(task.StartedEvent, 0, 1).Time
		want := task.Heartbeat{Version: task.Version, Worker: "w1", Incarnation: h.Incarnation,
			Time: time.Now(), Program: "v1.2", Host: "gpu1", Slots: 2, Waiting: 3, Load: h.Load,
			Key: h.Key, Boot: h.Boot, SlotsChosen: true, CPUs: runtime.NumCPU(), Memory: h.Load.MemoryTotal,
			Labels: map[string]string{"host": "gpu1", "arch": runtime.GOARCH},
			Running: []task.Busy{{Sweep: "train-1", Index: 0, Attempt: 1, Slot: 0, Started: at},
				{Sweep: "train-1", Index: 1, Attempt: 1, Slot: 1, Started: at}}}
		if h.Running[0].Index == 1 {
			want.Running[0].Index, want.Running[1].Index = 1, 0
		}
		if diff := cmp.Diff(want, h); diff != "" {
			t.Error(diff)
		}
	})
}

func TestThreadsFollowTheSlots(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	beats := s.queue.Heartbeats(t.Context())
	for i, n := range []int{0, 2 * runtime.NumCPU(), 2, 0} {
		s.tell(slots(n))
		want := max(n, 1)
		for h := range beats {
			if h.Slots == want {
				break
			}
		}
		s.send(batch(`printf $OMP_NUM_THREADS`, int64(i)))
		s.ended(int64(i), 1)
		if got := s.file(int64(i), "stdout.log"); got != strconv.Itoa(max(1,
			runtime.NumCPU()/want)) {
			t.Errorf("%d slots: %s threads", want, got)
		}
	}
}

// While short attempts come, the worker is drained and let go on: each is reported to its end or
// given back.
func TestDrainAndResumeUnderLoadLoseNothing(t *testing.T) {
	var c count
	bubble(t, func(context.Context, process.Spec) process.Exit {
		c.add(1)
		defer c.add(-1)
		time.Sleep(7 * time.Millisecond)
		return process.Exit{}
	}, func(t *testing.T, s *site) {
		const n = 200
		for i := range int64(n) {
			s.send(batch("", 2*i, 2*i+1))
			s.tell(task.Control{Kind: task.DrainControl, Off: i%3 != 0})
			time.Sleep(time.Duration(i%5) * 5 * time.Millisecond)
		}
		s.tell(task.Control{Kind: task.DrainControl, Off: true})
		s.send(batch("", 2*n))
		s.ended(2*n, 1)
		last, back := map[int64]task.EventKind{}, 0
		for _, e := range s.soFar() {
			if k := last[e.Index]; k == task.EndedEvent || k == task.ReturnedEvent {
				t.Errorf("%s of %d after %s", e.Kind, e.Index, k)
			}
			if last[e.Index] = e.Kind; e.Kind == task.ReturnedEvent {
				back++
			}
		}
		for i := range int64(2*n + 1) {
			if k := last[i]; k != task.EndedEvent && k != task.ReturnedEvent {
				t.Errorf("%d: last was %q", i, k)
			}
		}
		if back == 0 || back == 2*n {
			t.Errorf("%d were given back", back)
		}
	})
}
