package store_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
)

// TestMetricNames holds the names that the writer has in memory to those of all tasks, while tasks
// get new attempts with other metrics.
func TestMetricNames(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	beside := reader(t, s.Folder())
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 60 {
		var tasks []core.Task
		for range random.IntN(6) {
			one := endedTask(random.Int64N(20))
			one.Attempt.Outcome.Metrics = nil
			for _, n := range random.Perm(8)[:random.IntN(4)] {
				name := fmt.Sprintf("m\"%d", n+round/20)
				one.Attempt.Outcome.Metrics = append(one.Attempt.Outcome.Metrics,
					metric.FinalValue{Name: name, Value: float64(n)})
			}
			tasks = append(tasks, one)
		}
		commit(t, s, sw, core.Changes{Tasks: tasks})
		want, err := beside.MetricNames(t.Context(), sw) // reads every task
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.MetricNames(t.Context(), sw)
		if err != nil {
			t.Fatal(err)
		}
		differs(t, fmt.Sprint("round ", round), want, got)
		for n := range 12 {
			name := fmt.Sprintf("m\"%d", n)
			printed := slices.Contains(want, name)
			a, read, err := beside.HasMetric(t.Context(), sw, name) // reads every task, too
			if err != nil || a != printed || !a && !slices.Equal(read, want) {
				t.Fatalf("%s printed: %v, %v, %v; want %v", name, a, read, err, printed)
			}
			if b, _, err := s.HasMetric(t.Context(), sw, name); err != nil || b != printed {
				t.Fatalf("%s printed: %v, %v; want %v", name, b, err, printed)
			}
		}
	}
}

// TestMetricNamesWhileCommitting finds every name that was committed before it asked.
func TestMetricNamesWhileCommitting(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	named := func(n int) core.Task {
		one := endedTask(int64(100 - n))
		one.Attempt.Outcome.Metrics = metric.Final{{Name: fmt.Sprint("m", n), Value: 1}}
		return one
	}
	var group sync.WaitGroup
	group.Go(func() {
		for range 50 {
			if _, err := s.MetricNames(t.Context(), sw); err != nil {
				t.Error(err)
			}
		}
	})
	for n := range 50 {
		commit(t, s, sw, core.Changes{Tasks: []core.Task{named(n)}})
	}
	group.Wait()
	names, err := s.MetricNames(t.Context(), sw)
	if err != nil || len(names) != 50 || names[0] != "m49" || names[49] != "m0" {
		t.Errorf("%v, %v", names, err)
	}
	differs(t, "of another sweep", 0, len(must(s.MetricNames(t.Context(), store.Sweep{Seq: 99}))))
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
