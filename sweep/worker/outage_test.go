package worker_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
	"mlframework/sweep/worker/process"
)

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
