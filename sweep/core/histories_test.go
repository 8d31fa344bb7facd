package core_test

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"
)

var oneSeed = flag.Int64("seed", -1,
	"the only seed that TestHistories runs, with all that happens in its log")

// histories is how many seeds TestHistories runs.
func histories() uint64 {
	switch {
	case testing.Short():
		return 200
	case raceDetector: // which takes ten times as long
		return 1000
	}
	return 10_000
}

// TestHistories runs seeded histories full of faults and judges each by what is promised. A failure
// names its seed, which repeats it.
func TestHistories(t *testing.T) {
	t.Parallel()
	if *oneSeed >= 0 {
		s := newSim(uint64(*oneSeed), nil)
		s.trace = t.Logf
		if err := s.run(); err != nil {
			t.Fatalf("seed %d: %v", *oneSeed, err)
		}
		return
	}
	var failed atomic.Int32
	const parts = 8
	for part := range uint64(parts) {
		t.Run(fmt.Sprint(part), func(t *testing.T) {
			t.Parallel()
			for seed := part; seed < histories() && failed.Load() < 5; seed += parts {
				if err := newSim(seed, nil).run(); err != nil {
					failed.Add(1)
					t.Errorf("seed %d: %v\nrepeat it: "+
						"go test ./sweep/core -run TestHistories -v -seed %d", seed, err, seed)
				}
			}
		})
	}
}
