package store_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// groupSize is how many tasks a group of the benchmarks holds: about what a busy local master
// commits at once.
const groupSize = 50

// BenchmarkCommit writes tasks as the master does while a sweep of short programs runs: a row when
// a task is placed and one when it has ended, in groups. The metric rows/s counts both.
func BenchmarkCommit(b *testing.B) { benchmarkCommit(b, nil) }

// BenchmarkCommitWhileAsked has columns of the sweep in memory, which commits keep up to date.
func BenchmarkCommitWhileAsked(b *testing.B) {
	benchmarkCommit(b, func(s *store.Store, sw store.Sweep) {
		s.KeepAtMost(1<<30, 1)
		q := store.TaskQuery{Fields: table.FieldHost | table.FieldDuration | table.FieldMetrics,
			Metrics: []string{"accuracy"}}
		if err := s.Scan(context.Background(), sw, q, func(*core.Task) bool {
			return true
		}); err != nil || s.Kept() == 0 {
			b.Fatal(err, s.Kept())
		}
	})
}

// BenchmarkCommitLargeRecord commits tasks of a sweep whose record is some 500 kB.
func BenchmarkCommitLargeRecord(b *testing.B) {
	r := newRecord()
	r.ParametersFile = strings.Repeat("x", 500_000)
	s, sw := begin(b, r)
	h := sw.Head
	for b.Loop() {
		h.Issued++
		h.Rows[task.Succeeded]++
		changes := core.Changes{Head: h, Tasks: []core.Task{endedTask(h.Issued)}}
		if err := s.Commit(b.Context(), rowsOf(sw, changes)); err != nil {
			b.Fatal(err)
		}
	}
}

func benchmarkCommit(b *testing.B, ask func(*store.Store, store.Sweep)) {
	s, sw := begin(b, newRecord())
	rows := 0
	if ask != nil {
		fill(b, s, sw, groupSize)
		rows = 2 * groupSize
		ask(s, sw)
	}
	b.ReportAllocs()
	for b.Loop() {
		placed := make([]core.Task, groupSize)
		ended := make([]core.Task, groupSize)
		for i := range groupSize {
			index := int64(rows/2 + i)
			placed[i], ended[i] = queuedTask(index), endedTask(index)
		}
		for _, tasks := range [][]core.Task{placed, ended} {
			if err := s.Commit(context.Background(),
				rowsOf(sw, core.Changes{Head: sw.Head, Tasks: tasks})); err != nil {
				b.Fatal(err)
			}
			rows += len(tasks)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds(), "rows/s")
}

func queuedTask(index int64) core.Task {
	return core.Task{Index: index, State: task.Queued,
		Attempt: core.Attempt{Number: 1, Revision: "0123456789abcdef", Worker: "local"}}
}

// endedTask returns a task that succeeded; every tenth failed, and the objective of the others is
// their index modulo 997.
func endedTask(index int64) core.Task {
	t := queuedTask(index)
	code := 0
	t.State, t.Attempts = task.Succeeded, 1
	t.Attempt.Start = task.Start{Host: "laptop", Slot: int(index % 2)}
	t.Attempt.Started = at(float64(index))
	t.Attempt.Outcome = &task.Outcome{Class: task.Success, ExitCode: &code,
		Duration: time.Millisecond,
		Metrics:  metric.Final{{Name: "accuracy", Value: float64(index % 997)}},
		Stdout:   task.Output{Bytes: 20}}
	if index%10 == 9 {
		code = 1
		t.State, t.Attempt.Outcome.Class, t.Attempt.Outcome.Reason = task.Failed, task.Error,
			"exit code 1"
	}
	return t
}

// BenchmarkPages reads what pages show at 200,000 rows.
func BenchmarkPages(b *testing.B) {
	s, sw := begin(b, newRecord())
	fill(b, s, sw, 200_000)
	bad := []task.State{task.Failed, task.Timeout, task.OOM, task.Lost, task.Cancelled}
	for name, q := range map[string]store.TaskQuery{
		"first":           {Limit: 50},
		"middle":          {From: 100_000, Limit: 50},
		"best":            {Best: 1, Limit: 10},
		"succeeded":       {States: []task.State{task.Succeeded}, From: 100_000, Limit: 50},
		"failed":          {States: []task.State{task.Failed}, From: 100_000, Limit: 50},
		"failures":        {States: bad, Limit: 50},
		"rare":            {States: []task.State{task.Cancelled}, Limit: 50},
		"failed and open": {States: []task.State{task.Pending, task.Failed}, Limit: 50},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for _, err := range s.Tasks(context.Background(), sw, q) {
					if err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
	b.Run("unfinished", func(b *testing.B) {
		for b.Loop() {
			if _, _, err := s.Unfinished(context.Background(), sw, 200_000); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("revisions", func(b *testing.B) {
		for b.Loop() {
			if _, err := s.Revisions(context.Background(), sw); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func fill(b *testing.B, s *store.Store, sw store.Sweep, rows int64) {
	for from := int64(0); from < rows; from += 5000 {
		var tasks []core.Task
		for i := from; i < min(from+5000, rows); i++ {
			tasks = append(tasks, endedTask(i))
		}
		if err := s.Commit(context.Background(),
			rowsOf(sw, core.Changes{Head: sw.Head, Tasks: tasks})); err != nil {
			b.Fatal(err)
		}
	}
}

func begin(tb testing.TB, r core.Record) (*store.Store, store.Sweep) {
	tb.Helper()
	s, err := store.Open(context.Background(), tb.TempDir(), "test")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	sw, err := s.Add(context.Background(), store.NewSweep{Record: r, Total: 1 << 30,
		Submitted: at(0)})
	if err != nil {
		tb.Fatal(err)
	}
	return s, sw
}

func newRecord() core.Record {
	return core.Record{Version: task.Version, Space: new(space.Space),
		Recipe:    task.Recipe{Definition: "train", Revision: "0123456789abcdef"},
		Objective: metric.Objective{Metric: "accuracy", Maximize: true}}
}

// at returns a moment, in seconds after a day in 2026.
func at(seconds float64) time.Time {
	return time.Date(2026, 1, 2, 3, 4, 5, 0,
		time.UTC).Add(time.Duration(seconds * float64(time.Second)))
}
