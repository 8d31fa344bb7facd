package listing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/listing"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// largeSpace has a parameter with so many values, some 30 bytes of a record each.
const largeSpace = 4000

// BenchmarkSweepList lists sweeps whose records are some 100 kB each.
func BenchmarkSweepList(b *testing.B) {
	for _, sweeps := range []int{10, 1000} {
		a := listed(b, sweeps)
		b.Run(fmt.Sprintf("all/sweeps=%d", sweeps), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if all, err := a.Sweeps(b.Context(), "", 0); err != nil || len(all) != sweeps {
					b.Fatal(len(all), err)
				}
			}
		})
		b.Run(fmt.Sprintf("page/sweeps=%d", sweeps), func(b *testing.B) {
			for b.Loop() {
				if _, err := a.Sweeps(b.Context(), "train-5", 5); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("unknown/sweeps=%d", sweeps), func(b *testing.B) {
			for b.Loop() {
				_, err := a.Sweep(b.Context(), "trian-7", false)
				if _, ok := errors.AsType[*store.UnknownSweep](err); !ok {
					b.Fatal(err)
				}
			}
		})
	}
}

func listed(b *testing.B, sweeps int) *listing.Archive {
	b.Helper()
	s := opened(b)
	r := record(b, largeSpace)
	for range sweeps {
		if _, err := s.Add(b.Context(), store.NewSweep{Record: r, Total: largeSpace}); err != nil {
			b.Fatal(err)
		}
	}
	return &listing.Archive{Store: &s.Reader}
}

// BenchmarkColumnNames asks for the first page of tasks that a filter picks, by a metric that the
// sweep declares, by one that only its tasks name, from the first or the last on, and by one that
// none has.
func BenchmarkColumnNames(b *testing.B) {
	for _, tasks := range []int64{20_000, 1_000_000} {
		s := opened(b)
		sw, err := s.Add(b.Context(), store.NewSweep{Record: record(b, 1), Total: tasks})
		if err != nil {
			b.Fatal(err)
		}
		fill(b, s, sw, tasks)
		b.Run(fmt.Sprintf("unknown, of the writer/tasks=%d", tasks), func(b *testing.B) {
			a := &listing.Archive{Store: &s.Reader}
			q := api.Query{Where: "unknown>=0", Limit: 50}
			for b.Loop() {
				if _, err := a.Tasks(b.Context(), "train-1", q); err == nil {
					b.Fatal("there is such a column")
				}
			}
		})
		for _, column := range []string{"accuracy", "printed", "rare", "unknown"} {
			b.Run(fmt.Sprintf("%s/tasks=%d", column, tasks), func(b *testing.B) {
				reader, err := store.OpenReader(b.Context(), folders[s])
				if err != nil {
					b.Fatal(err)
				}
				defer reader.Close()
				a := &listing.Archive{Store: reader}
				for b.Loop() {
					q := api.Query{Where: column + ">=0", Limit: 50}
					_, err := a.Tasks(b.Context(), "train-1", q)
					if (err != nil) != (column == "unknown") {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// BenchmarkAllTasks asks for a page of the tasks of 1,000 sweeps: as they come, of a host that all
// have, by a filter that no task passes, in an order, and of a state in which none is.
func BenchmarkAllTasks(b *testing.B) {
	const sweeps, tasks = 1000, 20
	s := opened(b)
	for range sweeps {
		sw, err := s.Add(b.Context(), store.NewSweep{Record: record(b, 1), Total: tasks})
		if err != nil {
			b.Fatal(err)
		}
		fill(b, s, sw, tasks)
	}
	a := &listing.Archive{Store: &s.Reader}
	for name, q := range map[string]api.Query{
		"any":       {},
		"metric":    {Where: "accuracy>=0"},
		"none":      {Where: "host=gpu9"},
		"by metric": {Sort: "-accuracy"},
		"by time":   {Sort: "duration"},
		"failed":    {States: []task.State{task.Failed}},
	} {
		q.Limit = 100
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.AllTasks(b.Context(), q); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

var folders = map[*store.Store]string{} // of benchmarks, which run one after the other

// BenchmarkFailures groups the failures of a sweep of which every tenth task failed, and finds what
// they have in common.
func BenchmarkFailures(b *testing.B) {
	const tasks = 100_000
	s := opened(b)
	sw, err := s.Add(b.Context(), store.NewSweep{Record: record(b, 3), Total: tasks})
	if err != nil {
		b.Fatal(err)
	}
	fill(b, s, sw, tasks)
	var failed []core.Task
	for i := int64(0); i < tasks; i += 10 {
		t := succeeded(i, false)
		t.State, t.Attempt.Outcome = task.Failed, &task.Outcome{Class: task.Error, Frame: "train.py:41",
			Reason: fmt.Sprintf("exit code 1: no file /data/%d of %d", i, i%7)}
		failed = append(failed, t)
	}
	h := sw.Head
	h.Issued, h.Rows[task.Failed] = tasks, int64(len(failed))
	h.Rows[task.Succeeded] = tasks - int64(len(failed))
	rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record,
		Changes: core.Changes{Head: h, Tasks: failed}}
	if err := s.Commit(b.Context(), &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
		b.Fatal(err)
	}
	a := &listing.Archive{Store: &s.Reader}
	for b.Loop() {
		if f, err := a.Failures(b.Context(), ""); err != nil || len(f.Groups) == 0 {
			b.Fatal(f, err)
		}
	}
}

func opened(b *testing.B) *store.Store {
	b.Helper()
	folder := b.TempDir()
	s, err := store.Open(b.Context(), folder, "test")
	if err != nil {
		b.Fatal(err)
	}
	folders[s] = folder
	b.Cleanup(func() { _ = s.Close() })
	return s
}

func record(tb testing.TB, values int) core.Record {
	tb.Helper()
	var text strings.Builder
	text.WriteString("lr: [")
	for i := range values {
		fmt.Fprintf(&text, "0.%06d1,", i)
	}
	text.WriteString("1]\nepoch: \"[0,1000000)\"\n")
	points, _, err := space.Read("parameters.yml", []byte(text.String()))
	if err != nil {
		tb.Fatal(err)
	}
	return core.Record{Version: task.Version, Space: points, Project: "/home/anna/project",
		Recipe: task.Recipe{Definition: "train", Revision: "0123456789abcdef",
			Metrics: []metric.Rule{{Name: "accuracy", Pattern: "accuracy (.*)"}}}}
}

// fill ends tasks with a metric that is declared and one that is not; the last has a third.
func fill(b *testing.B, s *store.Store, sw store.Sweep, tasks int64) {
	b.Helper()
	const group = 5000
	for from := int64(0); from < tasks; from += group {
		var ended []core.Task
		for i := from; i < min(from+group, tasks); i++ {
			ended = append(ended, succeeded(i, i == tasks-1))
		}
		h := sw.Head
		h.Issued = from + int64(len(ended))
		h.Rows[task.Succeeded] = h.Issued
		changes := core.Changes{Head: h, Tasks: ended}
		rows := core.SweepRows{Seq: sw.Seq, Record: &sw.Record, Changes: changes}
		if err := s.Commit(b.Context(), &core.Rows{Sweeps: []core.SweepRows{rows}}); err != nil {
			b.Fatal(err)
		}
	}
}

func succeeded(index int64, rare bool) core.Task {
	metrics := metric.Final{{Name: "accuracy", Value: float64(index % 97)},
		{Name: "printed", Value: float64(index % 89)}}
	if rare {
		metrics = append(metrics, metric.FinalValue{Name: "rare", Value: 1})
	}
	outcome := &task.Outcome{Class: task.Success, Duration: time.Second, Metrics: metrics}
	return core.Task{Index: index, State: task.Succeeded, Attempts: 1,
		Attempt: core.Attempt{Number: 1, Worker: "w", Revision: "0123456789abcdef",
			Outcome: outcome}}
}
