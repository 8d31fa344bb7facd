package master_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

// two is a site where one of two workers, honest, runs the task of a sweep, and the other, foreign,
// has none.
func (s *site) two(change ...func(*master.Submission)) (honest, foreign *hand, g given) {
	s.t.Helper()
	says := task.Heartbeat{Worker: "w2", Slots: 1, Incarnation: "1", Host: "gpu2"}
	honest = s.newHandThat(says, nil)
	id := s.submit(1, change...)
	g = given{id, honest.has(1)[0].Attempt}
	says.Worker, says.Host = "w1", "gpu1"
	foreign = s.newHandThat(says, nil)
	s.stands("w1", core.WorkerReady)
	return honest, foreign, g
}

func (s *site) tries(id string, index int64) []core.Attempt {
	s.t.Helper()
	sw, err := s.store.Sweep(context.Background(), id)
	s.must(err)
	all, err := s.store.EarlierAttempts(context.Background(), sw, index)
	s.must(err)
	return all
}

// processed waits until what a worker sent was processed.
func (h *hand) processed() {
	h.s.t.Helper()
	mark := given{sweep: fmt.Sprintf("mark-%d", time.Now().UnixNano())}
	h.report(task.ReturnedEvent, mark)
	h.s.poll("the events of "+h.name+" are processed", func() bool {
		return slices.ContainsFunc(h.s.master.Missing(), func(m core.Missing) bool {
			return m.Sweep == mark.sweep
		})
	}, h.s.log.String)
}

// What a worker says of an attempt that was placed on another changes nothing, whatever it says and
// whatever became of the attempt: no result, image, start or metric of it is kept, and its output
// is read where it ran.
func TestAWorkerSpeaksOfItsOwnAttemptsOnly(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	honest, foreign, g := s.two()
	kinds := []task.EventKind{task.ClaimedEvent, task.StartedEvent, task.SamplesEvent,
		task.EndedEvent,
		task.ReturnedEvent}
	start := &task.Start{Host: "gpu1", Slot: 7, Image: "foreign@sha256:00"}
	say := func(g given) {
		t.Helper()
		for _, kind := range kinds {
			e := foreign.event(kind, g)
			if kind == task.StartedEvent || kind == task.EndedEvent {
				e.Start = start
			}
			if kind == task.EndedEvent {
				e.Outcome = &task.Outcome{Class: task.Success, Duration: 24 * time.Hour}
				e.Leftovers = true
			}
			foreign.emit(e)
		}
		foreign.processed()
	}
	never := g
	never.Number = 2
	for _, c := range []struct {
		state string
		bring func()
	}{
		{"queued", func() {}},
		{"claimed", func() { honest.report(task.ClaimedEvent, g) }},
		{"running", func() { honest.report(task.StartedEvent, g) }},
		{"failed", func() { honest.end(task.Error, g) }},
	} {
		c.bring()
		now := func() string { return s.counts(g.sweep) }
		s.poll("it is "+c.state, func() bool { return now() == "1 "+c.state }, now)
		before := s.task(g.sweep, 0)
		say(g)
		say(never)
		if diff := cmp.Diff(before, s.task(g.sweep, 0)); diff != "" {
			t.Errorf("%s: -before +after:\n%s", c.state, diff)
		}
		if tries := s.tries(g.sweep, 0); len(tries) > 0 {
			t.Errorf("%s: %+v is kept", c.state, tries)
		}
		sw, err := s.store.Sweep(t.Context(), g.sweep)
		s.must(err)
		if len(sw.Record.Images) > 0 {
			t.Errorf("%s: %v is recorded", c.state, sw.Record.Images)
		}
	}
	foreign.toldStop(g) // should it run there all the same
	s.asksFor(honest, g, 1)
	all, err := s.master.Stats(t.Context())
	s.must(err)
	if want := int64(4 * 2 * 5); all.Refused != want {
		t.Errorf("%d messages were refused; want %d", all.Refused, want)
	}
}

// asksFor holds that an attempt's output is asked of one worker.
func (s *site) asksFor(h *hand, g given, attempt int) {
	s.t.Helper()
	ctx, cancel := context.WithCancel(s.t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() {
		id := task.ID{Sweep: g.sweep, Index: g.Index}
		_, err := s.master.Output(ctx, id, attempt, task.Read{Length: 10})
		done <- err
	}()
	h.told("a read", func(c task.Control) bool {
		return c.Kind == task.ReadControl && c.Attempt == attempt
	})
	cancel()
	<-done
}

// A result that comes late is kept once, from the worker whose attempt it was, however often and
// from whom it comes.
func TestALateResultIsKeptOnce(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	honest, foreign, g := s.two()
	honest.report(task.ClaimedEvent, g)
	honest.report(task.StartedEvent, g)
	s.becomes(g.sweep, core.Open, "1 running")
	honest.beat(task.Heartbeat{Slots: 1, Incarnation: "2"})
	honest.emit(task.Event{Version: task.Version, Kind: task.JoinedEvent, Worker: "w2",
		Time: time.Now(), Heartbeat: &task.Heartbeat{Worker: "w2", Incarnation: "2", Slots: 1}})
	s.poll("it was lost", func() bool { return len(s.tries(g.sweep, 0)) == 1 }, s.log.String)
	for n := range 3 {
		took := time.Duration(n+1) * time.Minute
		theirs := &task.Outcome{Class: task.Success, Duration: time.Hour + took}
		foreign.emit(foreign.ending(g, theirs))
		foreign.processed()
		honest.emit(honest.ending(g, &task.Outcome{Class: task.Success, Duration: took}))
		honest.processed()
	}
	tries := s.tries(g.sweep, 0)
	if len(tries) != 2 {
		t.Fatalf("kept is %+v", tries)
	}
	late := tries[1]
	if !late.Superseded || late.Worker != "w2" || late.Outcome.Duration != time.Minute {
		t.Errorf("kept is %+v", late)
	}
	s.asksFor(honest, g, g.Number)
}
