package table_test

import (
	"fmt"
	"io"
	"testing"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/table"
)

func manyRows(n int) []table.Row {
	rows := make([]table.Row, n)
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for i := range rows {
		d := float64(i%977) / 7
		code := 0
		rows[i] = table.Row{
			ID: fmt.Sprintf("run_training-7/%d", i), Sweep: "run_training-7",
			Definition: "run_training", Index: int64(i),
			State: "succeeded", Argv: []string{"python3", "train.py", fmt.Sprintf("--lr=0.%d",
				i%10)},
			Parameters: table.Parameters{{"lr", fmt.Sprintf("0.%d", i%10)},
				{"unit", fmt.Sprint(i % 64)}, {"gpu", "-1"}},
			Metrics: metric.Final{{Name: "accuracy", Value: float64(i%1013) / 1013},
				{Name: "loss", Value: 1 / float64(i+1)}},
			Attempts: 1, Host: "gpu1", Started: &started, Duration: &d, ExitCode: &code,
			Revision: "abcdef",
		}
	}
	return rows
}

func BenchmarkWriters(b *testing.B) {
	rows := manyRows(100_000)
	s := table.Schema{}.With(rows)
	run := func(name string, f func() error) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := f(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(len(rows)*b.N)/b.Elapsed().Seconds(), "rows/s")
		})
	}
	run("Text", func() error { return table.WriteText(io.Discard, rows, table.TableOptions{}) })
	run("Text80", func() error {
		return table.WriteText(io.Discard, rows,
			table.TableOptions{Width: 80})
	})
	run("CSV", func() error { return table.WriteCSV(io.Discard, rows, s) })
	run("JSON", func() error { return table.WriteJSON(io.Discard, rows) })
	run("Rank", func() error {
		table.Rank(rows, metric.Objective{Maximize: true, Metric: "accuracy"})
		return nil
	})
	run("Sort", func() error { return table.Sort(rows, s, "-accuracy") })
	run("Where", func() error {
		_, err := table.Where(rows, s, "lr>=0.5 and accuracy>0.9 or unit=3")
		return err
	})
}
