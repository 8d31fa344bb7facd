package store_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

func TestAdd(t *testing.T) {
	t.Parallel()
	s, err := store.Open(context.Background(), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r := newRecord()
	if r.Space, _, err = space.Read("parameters.yml",
		[]byte("lr: [1e-3, 0.10]\nepoch: \"[1,1000000000000)\"\naugment: [true, "+
			"false]\n")); err != nil {
		t.Fatal(err)
	}
	r.Ranges, r.Retry, r.MaxFailures = core.Ranges{{From: 1, To: 3}}, task.Retry{Lost: 3}, 9
	r.Style, r.EachWorker, r.Project = space.Style{Space: true}, true, "/home/anna/p"
	r.Recipe = task.Recipe{Definition: "train", Command: []string{"a", "{host}"},
		Env: map[string]string{"A": "b"}, Secrets: []string{"S"},
		Revision: "r1", Outputs: []string{"o"}, Timeout: time.Hour, Grace: time.Second,
		Metrics: []metric.Rule{{Name: "m", Pattern: "x(.)"}}, Needs: task.Needs{GPUs: task.GPUs{Count: 0.5}}}
	submit := func(key string, least int64) store.Sweep {
		t.Helper()
		added, err := s.Add(context.Background(),
			store.NewSweep{Record: r, Total: 2, Submitted: at(0.5), IdempotencyKey: key,
				MinNumber: least,
				Code:      "c1"})
		if err != nil {
			t.Fatal(err)
		}
		return added
	}
	first := submit("k", 0)
	differs(t, "again", first, submit("k", 0))
	for i, want := range []string{"train-2", "train-9", "train-10"} {
		if got := submit("", []int64{0, 9, 3}[i]).Head.ID; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	got, err := s.Sweep(context.Background(), "train-1")
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "read", first, got)
	if a, b := r.Space.Point(12345), got.Record.Space.Point(12345); cmp.Diff(a, b) != "" {
		t.Errorf("another space: %v, %v", a, b)
	}
	h := core.Head{ID: "train-1", State: core.Paused, Reason: "wait", Stopping: true,
		IgnoredFailures: 5,
		Submitted:       at(0.5), Ended: at(3.25), Total: 2, Issued: 1, UnissuedCancelled: true,
		Rows: core.Counts{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}}
	commit(t, s, first, core.Changes{Head: h})
	first.Head, first.Record.Recipe.Revision = h, "r2"
	rows := rowsOf(first, core.Changes{})
	rows.Sweeps[0].Rewrite, rows.Sweeps[0].Code = true, "c2"
	if err := s.Commit(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	if got, err = s.Sweep(context.Background(), "train-1"); err != nil {
		t.Fatal(err)
	}
	differs(t, "changed", first, got)
	codes, err := s.Codes(context.Background(), first)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "codes", map[string]string{"r1": "c1", "r2": "c2"}, codes)
	other, err := s.Add(context.Background(),
		store.NewSweep{Record: r, Total: 2, Submitted: at(1), Code: "another"})
	if err != nil {
		t.Fatal(err)
	}
	if codes, err = s.Codes(context.Background(), other); err != nil {
		t.Fatal(err)
	}
	differs(t, "codes of another definition", map[string]string{"r1": "another"}, codes)
	unended, damaged, err := s.ActiveSweeps(context.Background())
	if err != nil || len(damaged) > 0 || len(unended) != 4 || unended[0].Head.ID != "train-2" {
		t.Errorf("%d have not ended, %v", len(unended), err)
	}
	if newest, err := s.Sweep(context.Background(), ""); err != nil ||
		newest.Head.ID != "train-11" {
		t.Errorf("the newest is %s, %v", newest.Head.ID, err)
	}
	_, err = s.Sweep(context.Background(), "trian-1")
	if unknown, ok := errors.AsType[*store.UnknownSweep](err); !ok || unknown.Nearest != "train-1" {
		t.Errorf("got %v", err)
	}
}

// TestRevisions of a sweep that was moved, and of its superseded attempts.
func TestRevisions(t *testing.T) {
	t.Parallel()
	s, sw := begin(t, newRecord())
	a, b, c := endedTask(0), endedTask(1), queuedTask(2)
	b.Attempt.Revision, c.Attempt.Revision = "r2", "r3"
	commit(t, s, sw, core.Changes{Tasks: []core.Task{a, b, c}})
	got, err := s.Revisions(context.Background(), sw)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "revisions", map[string]int64{"0123456789abcdef": 1, "r2": 1}, got)
}
