package queuetest

import (
	"fmt"
	"sync"
	"testing"

	"mlframework/sweep/queue"
	"mlframework/sweep/task"
)

var taskTests = []contractTest{
	{"batches come in order, one to a delivery", nil, batchesInOrder},
	{"batches wait for a worker and reach no other", nil, batchesByWorker},
	{"big batches come as they were sent, whole or in parts", nil, bigBatches},
	{"batches of concurrent publishers come in each one's order", nil, concurrentPublishers},
	{"what was acknowledged never comes again, the rest first and in order", nil, batchesAgain},
	{"what waits for a worker that is removed is gone, and the worker may return", nil, removed},
	{"removing a worker that was never there is no error", nil, removeNobody},
	{"consumers that come and go acknowledge every batch once", nil, sharedBatches},
}

func batchesInOrder(t *testing.T, f Fixture) {
	s := open(t, f.Worker("w1").Consume)
	publish(t, f, "w1")
	publish(t, f, "w1", batches("a-1", 0, 5)...)
	publish(t, f, "w1", batches("a-1", 5, 50)...)
	for n := range 50 {
		d := s.next(t)
		if len(d.Items) != 1 {
			t.Fatalf("%d batches in one delivery; want 1", len(d.Items))
		}
		equal(t, d.Items[0], batch("a-1", n))
		if err := d.Ack(); err != nil {
			t.Fatalf("acknowledge: %v", err)
		}
	}
}

func batchesByWorker(t *testing.T, f Fixture) {
	for _, worker := range []string{"w1", "w2", "w3"} {
		publish(t, f, worker, batches(worker, 0, 10)...)
	}
	for _, worker := range []string{"w3", "w1"} {
		s := open(t, f.Worker(worker).Consume)
		for n, b := range s.take(t, 10) {
			equal(t, b, batch(worker, n))
		}
		publish(t, f, worker, batch("last", 0)) // nothing else waits before it
		equal(t, s.take(t, 1)[0], batch("last", 0))
	}
}

func bigBatches(t *testing.T, f Fixture) {
	s := open(t, f.Worker("w1").Consume)
	publish(t, f, "w1", bigBatch(), bigBatch())
	for range 2 {
		b := s.take(t, 1)[0]
		for len(b.Attempts) < len(bigBatch().Attempts) {
			part := s.take(t, 1)[0]
			equal(t, part.Recipe, b.Recipe)
			b.Attempts = append(b.Attempts, part.Attempts...)
		}
		equal(t, b, bigBatch())
	}
}

func concurrentPublishers(t *testing.T, f Fixture) {
	const publishers, each = 8, 40
	var all sync.WaitGroup
	for p := range publishers {
		all.Go(func() {
			for n := range each {
				for _, worker := range []string{"w1", "w2"} {
					if err := f.Master.Publish(t.Context(), worker,
						batch(fmt.Sprint("p-", p), n)); err != nil {
						t.Errorf("publish: %v", err)
					}
				}
			}
		})
	}
	for _, worker := range []string{"w1", "w2"} {
		got := open(t, f.Worker(worker).Consume).take(t, publishers*each)
		checkOrder(t, got, each, false, ofBatch)
	}
	all.Wait()
}

func batchesAgain(t *testing.T, f Fixture) {
	publish(t, f, "w1", batches("a-1", 0, 8)...)
	first := open(t, f.Worker("w1").Consume)
	var late queue.Delivery[task.Batch]
	for n := range 6 {
		d := first.next(t)
		equal(t, d.Items[0], batch("a-1", n))
		switch n {
		case 1, 4: // not in order
			if err := d.Ack(); err != nil {
				t.Fatalf("acknowledge: %v", err)
			}
		case 3:
			late = d
		}
	}
	publish(t, f, "w1", batch("a-1", 8))
	first.end(t)
	away(t, "acknowledge after the end of the stream", late.Ack())

	var got []int64
	for _, b := range open(t, f.Worker("w1").Consume).take(t, 7) {
		got = append(got, b.Attempts[0].Index)
	}
	equal(t, got, []int64{0, 2, 3, 5, 6, 7, 8})
}

// sharedBatches has three consumers at a time. Each acknowledges some deliveries and ends holding
// one.
func sharedBatches(t *testing.T, f Fixture) {
	const all = 120
	var mu sync.Mutex
	acknowledged := map[int64]int{}
	finished := func() bool {
		mu.Lock()
		defer mu.Unlock()
		return len(acknowledged) == all
	}

	publish(t, f, "w1", batches("a-1", 0, all)...)
	done := make(chan struct{})
	var consumers sync.WaitGroup
	for range 3 {
		consumers.Go(func() {
			for !finished() {
				someDeliveries(f.Worker("w1"), done,
					func(n int, d queue.Delivery[task.Batch]) bool {
						if n < 4 && d.Ack() == nil {
							mu.Lock()
							defer mu.Unlock()
							acknowledged[d.Items[0].Attempts[0].Index]++
							if len(acknowledged) == all {
								close(done)
							}
						}
						return n < 4
					})
			}
		})
	}
	wait(t, &consumers)
	for n := range int64(all) {
		if acknowledged[n] != 1 {
			t.Errorf("batch %d was acknowledged %d times", n, acknowledged[n])
		}
	}
	publish(t, f, "w1", batch("last", 0)) // nothing is left before it
	equal(t, open(t, f.Worker("w1").Consume).take(t, 1)[0], batch("last", 0))
}

func removed(t *testing.T, f Fixture) {
	publish(t, f, "w1", batches("a-1", 0, 5)...)
	publish(t, f, "w2", batch("a-1", 0))
	remove(t, f, "w1")
	publish(t, f, "w1", batch("a-1", 5))
	equal(t, open(t, f.Worker("w1").Consume).take(t, 1), batches("a-1", 5, 6))
	equal(t, open(t, f.Worker("w2").Consume).take(t, 1), batches("a-1", 0, 1))
}

func removeNobody(t *testing.T, f Fixture) {
	remove(t, f, "nobody")
	remove(t, f, "nobody")
}

func remove(t *testing.T, f Fixture, worker string) {
	t.Helper()
	if err := f.Master.RemoveWorker(t.Context(), worker); err != nil {
		t.Fatalf("remove: %v", err)
	}
}
