package listing_test

import (
	"fmt"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/store"
)

// BenchmarkPlots asks for what the plots of a sweep's page are drawn of.
func BenchmarkPlots(b *testing.B) {
	for _, tasks := range []int64{5_000, 100_000} {
		s := opened(b)
		r := record(b, 8)
		r.Objective.Metric = "accuracy"
		sw, err := s.Add(b.Context(), store.NewSweep{Record: r, Total: tasks})
		if err != nil {
			b.Fatal(err)
		}
		fill(b, s, sw, tasks)
		measure(b, s, sw, min(tasks, 5_000), 50)
		a := &listing.Archive{Store: &s.Reader}
		for name, ask := range map[string]func() error{
			"effects": func() error {
				_, err := a.Effects(b.Context(), "train-1", api.PlotQuery{})
				return err
			},
			"progress": func() error {
				_, err := a.Progress(b.Context(), "train-1", api.PlotQuery{})
				return err
			},
			"points": func() error {
				_, err := a.Points(b.Context(), "train-1", api.PlotQuery{})
				return err
			},
			"curves": func() error {
				c, err := a.Curves(b.Context(), "train-1", api.PlotQuery{})
				if len(c.Bands) == 0 {
					b.Fatal("no bands")
				}
				return err
			},
		} {
			b.Run(fmt.Sprintf("%s/tasks=%d", name, tasks), func(b *testing.B) {
				for b.Loop() {
					if err := ask(); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// measure gives tasks samples of a metric, and a time when they began.
func measure(b *testing.B, s *store.Store, sw store.Sweep, tasks int64, samples int) {
	b.Helper()
	const group = 1000
	for from := int64(0); from < tasks; from += group {
		changes := core.Changes{Head: sw.Head}
		for i := from; i < min(from+group, tasks); i++ {
			one := core.Samples{Index: i, Attempt: 1}
			for n := range samples {
				step := int64(n)
				one.Points = append(one.Points, metric.Sample{Name: "accuracy", Step: &step,
					Value: float64(i%97) / float64(n+1), Line: step, Stream: "stdout",
					Time: time.Unix(1e9, step)})
			}
			changes.Samples = append(changes.Samples, one)
		}
		rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record, Changes: changes}
		if err := s.Commit(b.Context(), &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
			b.Fatal(err)
		}
	}
}
