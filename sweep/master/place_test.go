package master_test

import (
	"testing"
	"testing/quick"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/master"
	"mlframework/sweep/task"
)

func TestWindowAndChunk(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		slots  int
		mean   time.Duration
		window int
		chunk  int
	}{
		{2, 0, 4, 1},
		{2, time.Hour, 3, 1},
		{2, 250 * time.Millisecond, 5, 1},
		{2, 200 * time.Millisecond, 5, 1},
		{2, 100 * time.Millisecond, 8, 2},
		{2, 50 * time.Millisecond, 13, 4},
		{2, time.Millisecond, 503, 200},
		{2, time.Microsecond, 4096, 256},
		{2, 1, 4096, 256},
		{64, 10 * time.Second, 66, 1},
		{0, time.Millisecond, 0, 100},
		{-5, time.Hour, 0, 1},
		{1 << 62, time.Hour, 4096, 1},
		{64, 2 * time.Second, 73, 3},
		{1 << 62, 0, 4096, 1},
	} {
		if got := master.Window(c.slots, c.mean, false); got != c.window {
			t.Errorf("window(%d, %v) = %d; want %d", c.slots, c.mean, got, c.window)
		}
		if got := master.Chunk(c.slots, c.mean); got != c.chunk {
			t.Errorf("chunk(%d, %v) = %d; want %d", c.slots, c.mean, got, c.chunk)
		}
	}
}

func TestPlacementIsBounded(t *testing.T) {
	t.Parallel()
	bounded := func(slots int, mean int64, taken float64) bool {
		w, c := master.Window(slots, time.Duration(mean), false), master.Chunk(slots, time.Duration(mean))
		r := master.Room(w, max(0, taken))
		return w >= 0 && w <= master.MostAhead && c >= 1 && c <= master.MostTold && r >= 0 && r <= w
	}
	if err := quick.Check(bounded, &quick.Config{MaxCount: 100000}); err != nil {
		t.Error(err)
	}
	for w := range 500 { // what is taken one by one fits exactly
		n, taken := 0, 0.0
		for master.Room(w, taken) > 0 {
			n, taken = n+1, taken+1/float64(w)
		}
		if n != w {
			t.Errorf("%d fit into a window of %d", n, w)
		}
	}
}

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
				h.emit(h.event(task.StartedEvent, g), h.ending(g, &task.Outcome{Class: task.Success, Duration: took(g)}))
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

// Beside others no worker hoards what may be long.
func TestWindowBesideOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean   time.Duration
		window int
	}{{0, 2}, {time.Hour, 2}, {5 * time.Second, 2}, {4 * time.Second, 3}, {100 * time.Millisecond, 8}} {
		if got := master.Window(2, c.mean, true); got != c.window {
			t.Errorf("window(2, %v) = %d; want %d", c.mean, got, c.window)
		}
	}
}

func TestEverySlotIsFilledBeforeAnythingWaits(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	one, two := s.newHand("w1", 2), s.newHand("w2", 2)
	s.stands("w1", master.WorkerReady)
	s.stands("w2", master.WorkerReady)
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
