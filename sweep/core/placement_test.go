package core_test

import (
	"testing"
	"testing/quick"
	"time"

	"mlframework/sweep/core"
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
		if got := core.Window(c.slots, c.mean, false); got != c.window {
			t.Errorf("window(%d, %v) = %d; want %d", c.slots, c.mean, got, c.window)
		}
		if got := core.Chunk(c.slots, c.mean); got != c.chunk {
			t.Errorf("chunk(%d, %v) = %d; want %d", c.slots, c.mean, got, c.chunk)
		}
	}
}

func TestPlacementIsBounded(t *testing.T) {
	t.Parallel()
	bounded := func(slots int, mean int64, taken float64) bool {
		w, c := core.Window(slots, time.Duration(mean), false), core.Chunk(slots, time.Duration(mean))
		r := core.Room(w, max(0, taken))
		return w >= 0 && w <= core.MostAhead && c >= 1 && c <= core.MostBatch && r >= 0 && r <= w
	}
	if err := quick.Check(bounded, &quick.Config{MaxCount: 100000}); err != nil {
		t.Error(err)
	}
	for w := range 500 { // what is taken one by one fits exactly
		n, taken := 0, 0.0
		for core.Room(w, taken) > 0 {
			n, taken = n+1, taken+1/float64(w)
		}
		if n != w {
			t.Errorf("%d fit into a window of %d", n, w)
		}
	}
}

// Beside others no worker hoards what may be long.
func TestWindowBesideOthers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		mean   time.Duration
		window int
	}{{0, 2}, {time.Hour, 2}, {5 * time.Second, 2}, {4 * time.Second, 3}, {100 * time.Millisecond, 8}} {
		if got := core.Window(2, c.mean, true); got != c.window {
			t.Errorf("window(2, %v) = %d; want %d", c.mean, got, c.window)
		}
	}
}
