package master_test

import (
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

func TestSweepsShareSlotsInTurn(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name          string
		first, second time.Duration // running time of a task
		most          int           // attempts of one for each of the other
		steps         int
	}{
		{"alike", 100 * time.Millisecond, 100 * time.Millisecond, 2, 100},
		{"short beside long", time.Millisecond, 10 * time.Second, 500, 1500},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t)
			h := s.newHand("w1", 2)
			a, b := s.submit(20000), ""
			took := func(g given) time.Duration {
				if g.sweep == a {
					return c.first
				}
				return c.second
			}
			done := 0
			step := func() { // the oldest attempt ends
				g := h.has(done + 1)[done]
				done++
				h.emit(h.event(task.StartedEvent, g),
					h.ending(g, &task.Outcome{Class: task.Success, Duration: took(g)}))
			}
			for range 20 {
				step()
			}
			b = s.submit(1000)
			from := len(h.has(done))
			for range c.steps {
				step()
			}
			counts := map[string]int{}
			for _, g := range h.has(done)[from:] {
				counts[g.sweep]++
			}
			if counts[b] == 0 || counts[a] > c.most*counts[b] || counts[b] > c.most*counts[a] {
				t.Errorf("%v", counts)
			}
		})
	}
}

func TestEverySlotIsFilledBeforeAnythingWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := s.newHand("w1", 2), s.newHand("w2", 2)
	s.stands("w1", core.WorkerReady)
	s.stands("w2", core.WorkerReady)
	id := s.submit(5)
	one.has(2)
	two.has(2)
	s.becomes(id, core.Open, "1 pending, 4 queued")
	for _, h := range []*hand{one, two} { // now it is known that they are short
		g := h.has(2)[0]
		h.report(task.StartedEvent, g)
	}
	two.end(task.Success, two.has(2)[0])
	s.becomes(id, core.Open, "3 queued, 1 running, 1 succeeded")
}

func TestADrainedWorkerGetsNothing(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newHandThat(task.Heartbeat{Worker: "w1", Slots: 1, Draining: true}, nil)
	other := s.newHand("w2", 1)
	id := s.submit(2)
	other.has(2)
	if got := s.counts(id); got != "2 queued" {
		t.Error(got)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.got) > 0 {
		t.Errorf("it got %v", h.got)
	}
}

func TestShortTasksTravelTogether(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	h := s.newRunner("w1", 2, time.Millisecond)
	id := s.submit(1500)
	s.becomes(id, core.Finished, "1500 succeeded")
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.batches > 200 {
		t.Errorf("%d batches", h.batches)
	}
}
