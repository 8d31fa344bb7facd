package queuetest

import (
	"fmt"
	"sync"
	"testing"

	"mlframework/sweep/task"
)

var eventTests = []contractTest{
	{"events come as they were sent, in order for each worker", nil, eventsInOrder},
	{"events wait for the master", nil, eventsWait},
	{"events of concurrent emitters come in each one's order", nil, concurrentEmitters},
	{"many events at once come in order", nil, manyEvents},
	{"events that were not acknowledged come again, first and in order", nil, eventsAgain},
}

func eventsInOrder(t *testing.T, f Fixture) {
	s := open(t, f.Master.Events)
	p1, p2 := f.Worker("w1"), f.Worker("w2")
	emit(t, p1)
	for n := range 50 {
		emit(t, p1, event("w1", "a-1", n))
		emit(t, p2, event("w2", "a-1", n))
	}
	checkOrder(t, s.take(t, 100), 50, false, ofEvent)
	emit(t, p1, fullEvent())
	equal(t, s.take(t, 1), []task.Event{fullEvent()})
}

func eventsWait(t *testing.T, f Fixture) {
	emit(t, f.Worker("w1"), events("w1", "a-1", 0, 3)...)
	emit(t, f.Worker("w1"), events("w1", "a-1", 3, 5)...)
	equal(t, open(t, f.Master.Events).take(t, 5), events("w1", "a-1", 0, 5))
}

func concurrentEmitters(t *testing.T, f Fixture) {
	const emitters, each = 4, 40
	workers := []string{"w1", "w2"}
	var all sync.WaitGroup
	for _, worker := range workers {
		p := f.Worker(worker)
		for e := range emitters {
			all.Go(func() {
				for n := 0; n < each; n += 2 {
					if err := p.Emit(t.Context(),
						events(worker, fmt.Sprint("e-", e), n, n+2)...); err != nil {
						t.Errorf("emit: %v", err)
					}
				}
			})
		}
	}
	checkOrder(t, open(t, f.Master.Events).take(t, len(workers)*emitters*each), each, false,
		ofEvent)
	all.Wait()
}

func manyEvents(t *testing.T, f Fixture) {
	s := open(t, f.Master.Events)
	emit(t, f.Worker("w1"), events("w1", "a-1", 0, 5000)...)
	checkOrder(t, s.take(t, 5000), 5000, false, ofEvent)
}

func eventsAgain(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	first := open(t, f.Master.Events)
	emit(t, p, event("w1", "a-1", 0))
	equal(t, first.take(t, 1), events("w1", "a-1", 0, 1))
	emit(t, p, events("w1", "a-1", 1, 3)...)
	held := first.next(t)
	emit(t, p, events("w1", "a-1", 3, 5)...)
	first.end(t)
	away(t, "acknowledge after the end of the stream", held.Ack())
	emit(t, p, events("w1", "a-1", 5, 7)...)
	equal(t, open(t, f.Master.Events).take(t, 6), events("w1", "a-1", 1, 7))
}
