package worker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

func TestOutageKeepsEventsInOrder(t *testing.T) {
	ended := make(map[int64]int)
	program := func(_ context.Context, spec process.Spec) process.Exit {
		fmt.Fprintln(spec.Stdout, `{"metrics": {"loss": 1}}`)
		time.Sleep(3 * time.Second)
		return process.Exit{}
	}
	bubble(t, program, func(t *testing.T, s *site) {
		s.send(batch("", 0, 1, 2))
		s.seen(task.StartedEvent, 0, 1)
		synctest.Wait() // that is acknowledged
		s.queue.Outage(true)
		time.Sleep(20 * time.Second) // all end meanwhile
		if n := len(s.soFar()); n > 5 {
			t.Errorf("events came in an outage: %v", kinds(s.soFar()))
		}
		s.queue.Outage(false)
		s.ended(2, 1)
		last := map[int64]int{}
		rank := []task.EventKind{task.ClaimedEvent, task.StartedEvent, task.SamplesEvent,
			task.EndedEvent}
		for _, e := range s.soFar() {
			r := slices.Index(rank, e.Kind)
			if r != last[e.Index] {
				t.Errorf("%s of %d out of order: %v", e.Kind, e.Index, kinds(s.soFar()))
			}
			last[e.Index]++
			if e.Kind == task.EndedEvent {
				ended[e.Index]++
			}
		}
		if diff := cmp.Diff(map[int64]int{0: 1, 1: 1, 2: 1}, ended); diff != "" {
			t.Error(diff)
		}
	})
}

// What an attempt that prints without end has kept of it in an outage is bounded: of the current
// values of its metrics, the latest are sent when it is over.
func TestWhatIsKeptInAnOutageIsBounded(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "events")
	synctest.Test(t, func(t *testing.T) {
		s := newSite(t, nil, spool(path), fake(func(ctx context.Context,
			spec process.Spec) process.Exit {
			for n := 0; ctx.Err() == nil; n++ {
				var line strings.Builder
				for m := range 200 {
					fmt.Fprintf(&line, `, "m%d": %d`, m, n)
				}
				fmt.Fprintf(spec.Stdout, "{\"metrics\": {%s}}\n", line.String()[2:])
				time.Sleep(time.Second)
			}
			return process.Exit{Cause: process.Stopped, Code: -1}
		}))
		s.send(batch("", 0))
		s.seen(task.StartedEvent, 0, 1)
		synctest.Wait()
		s.queue.Outage(true)
		size := func(d time.Duration) int64 {
			time.Sleep(d)
			synctest.Wait()
			info, err := os.Stat(path)
			s.must(err)
			return info.Size()
		}
		first, second := size(2*time.Minute), size(2*time.Minute)
		if second > first+first/2 {
			t.Errorf("the spool has %d bytes after 2 minutes, %d after 4", first, second)
		}
		s.queue.Outage(false)
		time.Sleep(10 * time.Second) // the queue is tried every 5
		synctest.Wait()
		var newest float64
		for _, e := range s.soFar() {
			if v, ok := metric.Final(e.Newest).Get("m7"); ok {
				newest = v
			}
		}
		if newest < 4*60 {
			t.Errorf("the current value that was sent is %v", newest)
		}
		s.stop()
	})
}

func TestShortOutagesRunEachAttemptOnce(t *testing.T) {
	var mu sync.Mutex
	runs := map[string]int{}
	program := func(_ context.Context, spec process.Spec) process.Exit {
		mu.Lock()
		runs[spec.Marks[0]]++
		mu.Unlock()
		time.Sleep(30 * time.Millisecond)
		return process.Exit{}
	}
	bubble(t, program, func(t *testing.T, s *site) {
		for i := range int64(50) {
			for s.queue.Publish(t.Context(), "w1", batch("", i)) != nil {
				s.queue.Outage(false)
			}
			s.queue.Outage(i%3 == 0)
			time.Sleep(time.Duration(i%7) * 10 * time.Millisecond)
		}
		s.queue.Outage(false)
		for i := range int64(50) {
			s.ended(i, 1)
		}
		for id, n := range runs {
			if n != 1 {
				t.Errorf("%s ran %d times", id, n)
			}
		}
		if len(runs) != 50 {
			t.Errorf("%d attempts ran", len(runs))
		}
	})
}

func TestShutdownIsBoundedDuringOutage(t *testing.T) {
	program := func(ctx context.Context, _ process.Spec) process.Exit {
		<-ctx.Done()
		return process.Exit{Cause: process.Stopped, Code: -1, Err: context.Cause(ctx)}
	}
	bubble(t, program, func(t *testing.T, s *site) {
		s.send(batch("", 0))
		s.seen(task.StartedEvent, 0, 1)
		s.queue.Outage(true)
		begin := time.Now()
		s.stop()
		if took := time.Since(begin); took != 5*time.Second {
			t.Errorf("it took %v", took)
		}
	})
}
