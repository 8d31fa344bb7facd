package queuetest

import (
	"sync"
	"testing"
	"time"

	"mlframework/sweep/task"
)

var faultTests = []contractTest{
	{"in an outage everything that is asked fails with ErrUnreachable", needsOutage, awayInOutage},
	{"the status tells an outage, since when and why", needsOutage, statusOfOutage},
	{"after an outage the same streams go on with what was not acknowledged", needsOutage,
		streamsOutliveOutage},
	{"streams that were opened in an outage begin after it", needsOutage, openedInOutage},
	{"nothing is lost in outages that come while all work", needsOutage, workThroughOutages},
	{"what is durable outlives a restart", needsRestart, durableOverRestart},
	{"after a purge only new batches come", needsPurge, purged},
}

func awayInOutage(t *testing.T, f Fixture) {
	p, ctx := f.Worker("w1"), t.Context()
	fill(t, f)
	batch1, event1 := open(t, p.Consume).next(t), open(t, f.Master.Events).next(t)
	f.Outage(true)
	defer f.Outage(false)
	away(t, "publish", f.Master.Publish(ctx, "w1", batch("a-1", 2)))
	away(t, "emit", p.Emit(ctx, event("w1", "a-1", 2)))
	away(t, "control", f.Master.SendControl(ctx, "w1", stopOf("a-1", 2)))
	away(t, "beat", p.SendHeartbeat(ctx, task.Heartbeat{Worker: "w1"}))
	away(t, "send", p.SendPiece(ctx, task.Piece{Worker: "w1"}))
	away(t, "remove", f.Master.RemoveWorker(ctx, "w1"))
	_, err := f.Master.Depths(ctx, "w1")
	away(t, "ask for depths", err)
	away(t, "acknowledge a batch", batch1.Ack())
	away(t, "acknowledge an event", event1.Ack())
	p.OfferLine(line(2)) // does not block
}

func statusOfOutage(t *testing.T, f Fixture) {
	before := f.Master.Status()
	if before.Unreachable || before.Reason != "" || before.Blocked != "" {
		t.Errorf("the status of a queue that can be reached is %+v", before)
	}
	begin := time.Now()
	f.Outage(true)
	during := f.Master.Status()
	if !during.Unreachable || during.Reason == "" || during.Since.Before(begin) {
		t.Errorf("the status in an outage that began at %v is %+v", begin, during)
	}
	f.Outage(false)
	after := f.Master.Status()
	if after.Unreachable || after.Reason != "" || after.Since.Before(during.Since) ||
		after.Program != before.Program {
		t.Errorf("the status after an outage is %+v; before it was %+v", after, before)
	}
}

func streamsOutliveOutage(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	tasks, reports := open(t, p.Consume), open(t, f.Master.Events)
	publish(t, f, "w1", batches("a-1", 0, 4)...)
	tasks.take(t, 1)
	held := []func() error{tasks.next(t).Ack, tasks.next(t).Ack}
	emit(t, p, event("w1", "a-1", 0))
	reports.take(t, 1)
	emit(t, p, event("w1", "a-1", 1))
	held = append(held, reports.next(t).Ack)

	f.Outage(true)
	f.Outage(false)
	for _, ack := range held {
		away(t, "acknowledge what came before an outage", ack())
	}
	retry(t, func() error { return f.Master.Publish(t.Context(), "w1", batch("a-1", 4)) })
	retry(t, func() error { return p.Emit(t.Context(), event("w1", "a-1", 2)) })
	came := takeThrough(t, tasks, 4, ofBatch)
	if came[0].Attempts[0].Index == 3 {
		came = came[1:] // it was on its way in the outage
	}
	checkOrder(t, append(batches("a-1", 0, 1), came...), 5, true, ofBatch)
	checkOrder(t, append(events("w1", "a-1", 0, 1), takeThrough(t, reports, 2, ofEvent)...), 3,
		true, ofEvent)
}

func openedInOutage(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	publish(t, f, "w1", batch("a-1", 0))
	emit(t, p, event("w1", "a-1", 0))
	f.Outage(true)
	tasks, reports := open(t, p.Consume), open(t, f.Master.Events)
	f.Outage(false)
	equal(t, takeThrough(t, tasks, 0, ofBatch), batches("a-1", 0, 1))
	equal(t, takeThrough(t, reports, 0, ofEvent), events("w1", "a-1", 0, 1))
}

// workThroughOutages lets a master publish and a worker emit while outages come, and reads both ends
// until all is there.
func workThroughOutages(t *testing.T, f Fixture) {
	const all, steps, faults = 300, 10, 3
	p := f.Worker("w1")
	tasks, reports := open(t, p.Consume), open(t, f.Master.Events)
	var senders sync.WaitGroup
	// a step of both senders after each fault, the rest when the faults are over
	pace := make(chan struct{})
	for _, send := range []func(from, to int) error{
		func(from, to int) error {
			return f.Master.Publish(t.Context(), "w1",
				batches("a-1", from, to)...)
		},
		func(from, to int) error { return p.Emit(t.Context(), events("w1", "a-1", from, to)...) },
	} {
		senders.Go(func() {
			for n := 0; n < all; n += steps {
				<-pace
				retry(t, func() error { return send(n, n+steps) })
			}
		})
	}
	senders.Go(func() {
		for range faults {
			pace <- struct{}{}
			pace <- struct{}{}
			f.Outage(true)
			f.Outage(false)
		}
		close(pace)
	})
	t.Run("both", func(t *testing.T) { // returns when the two that run at once have ended
		t.Run("batches", func(t *testing.T) {
			t.Parallel()
			checkOrder(t, takeThrough(t, tasks, all-1, ofBatch), all, true, ofBatch)
		})
		t.Run("events", func(t *testing.T) {
			t.Parallel()
			checkOrder(t, takeThrough(t, reports, all-1, ofEvent), all, true, ofEvent)
		})
	})
	wait(t, &senders)
}

// takeThrough reads through faults, acknowledging what it can, until the item with the last number
// is acknowledged. It returns the items in the order in which they came.
func takeThrough[T any](t *testing.T, s stream[T], last int64,
	of func(T) (string, int64)) (items []T) {
	t.Helper()
	for {
		d := s.next(t)
		items = append(items, d.Items...)
		err := d.Ack()
		if err != nil {
			away(t, "acknowledge", err)
			continue
		}
		if _, n := of(d.Items[len(d.Items)-1]); n == last {
			return items
		}
	}
}

func durableOverRestart(t *testing.T, f Fixture) {
	p := f.Worker("w1")
	publish(t, f, "w1", batches("a-1", 0, 5)...)
	emit(t, p, events("w1", "a-1", 0, 5)...)
	f.Restart()
	checkOrder(t, takeThrough(t, open(t, p.Consume), 4, ofBatch), 5, true, ofBatch)
	checkOrder(t, takeThrough(t, open(t, f.Master.Events), 4, ofEvent), 5, true, ofEvent)
}

func purged(t *testing.T, f Fixture) {
	publish(t, f, "w1", batches("a-1", 0, 5)...)
	publish(t, f, "w2", batch("a-1", 0))
	f.Purge("w1")
	publish(t, f, "w1", batch("a-1", 5))
	equal(t, open(t, f.Worker("w1").Consume).take(t, 1), batches("a-1", 5, 6))
	equal(t, open(t, f.Worker("w2").Consume).take(t, 1), batches("a-1", 0, 1))
}
