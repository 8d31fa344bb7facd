package core_test

import (
	"flag"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
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

// ends is how every task of a history ended.
func (s *sim) ends() map[string]string {
	all := map[string]string{}
	for _, w := range s.store.sweeps {
		for index, row := range w.model.rows {
			all[fmt.Sprintf("%s/%d", w.model.head.ID,
				index)] = fmt.Sprintf("%v, %d attempts, the newest %d, charged %+v",
				row.State, row.Attempts, row.Attempt.Number, row.Charged)
		}
	}
	return all
}

// TestRestartsLeaveNoTrace: a master that is killed between any two steps, again and again, ends
// sweeps with the same rows as one that is not.
func TestRestartsLeaveNoTrace(t *testing.T) {
	t.Parallel()
	for seed := range histories() / 20 {
		var rows [2]map[string]string
		for n, kills := range []bool{false, true} {
			s := newPlainSim(seed, kills)
			if err := s.run(); err != nil {
				t.Fatalf("seed %d, kills %v: %v", seed, kills, err)
			}
			rows[n] = s.ends()
		}
		if diff := cmp.Diff(rows[0], rows[1]); diff != "" {
			t.Fatalf("seed %d (-without restarts +with):\n%s", seed, diff)
		}
	}
}

// TestSameSeedSameHistory: a seed repeats a history to the last event.
func TestSameSeedSameHistory(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		var traces [2][]string
		for n := range traces {
			s := newSim(seed, nil)
			s.trace = func(format string, args ...any) {
				traces[n] = append(traces[n], fmt.Sprintf(format, args...))
			}
			if err := s.run(); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
		}
		if diff := cmp.Diff(traces[0], traces[1]); diff != "" {
			t.Fatalf("seed %d (-first +second):\n%s", seed, diff)
		}
	}
}
