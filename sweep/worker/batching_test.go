package worker_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
	"mlframework/sweep/worker"
	"mlframework/sweep/worker/process"
)

// distant is a port whose queue confirms after some milliseconds (of a bubble: nobody waits for
// them), and counts what is sent at once as one.
type distant struct {
	queue.WorkerEndpoint
	sent atomic.Int64
}

func (p *distant) Emit(ctx context.Context, events ...task.Event) error {
	p.sent.Add(1)
	time.Sleep(3 * time.Millisecond)
	return p.WorkerEndpoint.Emit(ctx, events...)
}

// Under load a message holds many events, however long the queue takes to confirm one: a dozen or
// two a second. The events of tasks for which a slot waits go at once.
func TestEventsAreBatchedUnderLoad(t *testing.T) {
	for name, c := range map[string]struct {
		slots, tasks int
		takes        time.Duration
		least, most  int64 // messages
	}{
		"short tasks, 2.5 s": {slots: 2, tasks: 1000, takes: 5 * time.Millisecond,
			most: 70},
		"many slots, 4 s": {slots: 64, tasks: 1024,
			takes: 250 * time.Millisecond, most: 130},
		"as many tasks as slots, one second": {slots: 4, tasks: 4, takes: time.Second, least: 2,
			most: 12},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var n atomic.Int64
				program := func(context.Context, process.Spec) process.Exit {
					// from three to five quarters of it
					took := c.takes * time.Duration(75+n.Add(1)*37%51) / 100
					time.Sleep(took)
					return process.Exit{Duration: took}
				}
				s := newSite(t, nil, fake(program), func(o *worker.Options) { o.Slots = c.slots })
				s.stop()
				p := &distant{WorkerEndpoint: s.queue.Worker("w1")}
				s.start(p)
				indexes := make([]int64, c.tasks)
				for i := range indexes {
					indexes[i] = int64(i)
				}
				begin := time.Now()
				s.send(batch("", indexes...))
				s.until("the end of all", func(all []task.Event) bool {
					ends := 0
					for _, e := range all {
						if e.Kind == task.EndedEvent {
							ends++
						}
					}
					return ends == c.tasks
				})
				if took, ideal := time.Since(begin),
					time.Duration(
						c.tasks/c.slots)*c.takes; took > ideal+c.takes+100*time.Millisecond {
					t.Errorf("it took %v; the tasks take %v", took, ideal)
				}
				if sent := p.sent.Load(); sent < c.least || sent > c.most {
					t.Errorf("%d messages; want %d to %d", sent, c.least, c.most)
				}
				s.stop()
			})
		})
	}
}
