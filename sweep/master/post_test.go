package master_test

import (
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

func TestWhatCouldNotBePublishedIsSentWhenTheQueueIsBack(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHand("w1", 2)
	first := s.submit(1)
	h.has(1)
	s.queue.Outage(true)
	id := s.submit(10)
	s.becomes(id, core.Open, "7 pending, 3 queued")
	if err := s.master.Cancel(t.Context(), first, "x"); err != nil {
		t.Fatal(err)
	}
	s.poll("a try to send", func() bool { return len(s.log.String()) > 0 }, s.log.String)
	s.queue.Outage(false)
	for _, g := range h.has(4)[1:] {
		if g.sweep != id || g.Number != 1 { // the same attempt
			t.Errorf("%+v", g)
		}
	}
	h.toldStop(given{first, task.Attempt{Number: 1}})
	h.automatic(well(time.Millisecond))
	h.report(task.ReturnedEvent, h.has(1)...)
	for _, g := range h.has(4)[1:] {
		h.report(task.StartedEvent, g)
		h.end(task.Success, g)
	}
	s.becomes(first, core.Cancelled, "1 cancelled")
	s.becomes(id, core.Finished, "10 succeeded")
}

func TestFollowersAreToldToWorkersThatComeLater(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	id := s.submit(1)
	first := s.newHand("w1", 1)
	_, stop1, err := s.master.Watch(t.Context(), id, api.DetailOutput)
	s.must(err)
	_, stop2, err := s.master.Watch(t.Context(), id, api.DetailOutput)
	s.must(err)
	_, quiet, err := s.master.Watch(t.Context(), id, api.DetailTasks)
	s.must(err)
	defer quiet()
	on := func(off bool) func(task.Control) bool {
		return func(c task.Control) bool {
			return c.Kind == task.FollowControl && c.Sweep == id &&
				c.Off == off
		}
	}
	first.told("follow", on(false))
	second := s.newHand("w2", 1)
	second.told("follow", on(false))
	second.beat(task.Heartbeat{Slots: 1, Incarnation: "2"}) // it has forgotten
	second.told("follow again", func(task.Control) bool {
		// a greeting begins with nothing followed; a heartbeat may remind, too
		greetings, follows := 0, false
		for _, c := range second.controls { // told holds the lock
			if c.Kind == task.FollowControl && c.Sweep == "" && c.Off {
				greetings, follows = greetings+1, false
			}
			follows = follows || on(false)(c)
		}
		return greetings == 2 && follows
	})
	stop1()
	if err := s.master.Pause(t.Context(), id, "", false); err != nil { // a round of the loop
		t.Fatal(err)
	}
	first.mu.Lock()
	for _, c := range first.controls {
		if on(true)(c) {
			t.Error("output was turned off while somebody follows")
		}
	}
	first.mu.Unlock()
	stop2()
	first.told("follow off", on(true))
}

func TestTheFirstTasksOfASweepThatWillBeFollowedSaySo(t *testing.T) {
	timed(t, func(t *testing.T) {
		s := newSite(t)
		h := s.newHand("w1", 1)
		id, _, stop, err := s.master.SubmitWatched(t.Context(), submissionOf(t, 2), api.DetailOutput)
		s.must(err)
		s.submit(1)
		h.has(2)
		if !h.follow[id] {
			t.Errorf("the worker is not told: %v", h.follow)
		}
		stop()
		h.told("follow off", func(c task.Control) bool {
			return c.Kind == task.FollowControl &&
				c.Sweep == id && c.Off
		})
	})
}
