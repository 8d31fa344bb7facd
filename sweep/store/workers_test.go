package store_test

import (
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

func TestWorkers(t *testing.T) {
	t.Parallel()
	s, err := store.Open(t.Context(), t.TempDir(), "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	first := core.WorkerRecord{Name: "gpu2", Incarnation: "1", Host: "h2", Program: "v1",
		Started: 4,
		Image:   "python:3.12@sha256:1", Environment: "as it was made"}
	second := core.WorkerRecord{Name: "gpu1", Host: "h1", Drained: true,
		DrainedFor: core.ForReplacement, Slots: 3}
	if err := s.Commit(t.Context(),
		&core.Rows{Workers: []core.WorkerRecord{first, second}}); err != nil {
		t.Fatal(err)
	}
	first.Incarnation = "2"
	if err := s.Commit(t.Context(), &core.Rows{Workers: []core.WorkerRecord{first}}); err != nil {
		t.Fatal(err)
	}
	got, err := s.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "the workers", []core.WorkerRecord{second, first}, got)
	for range 2 {
		if err := s.Commit(t.Context(), &core.Rows{Gone: []string{"gpu1"}}); err != nil {
			t.Fatal(err)
		}
	}
	got, err = s.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "the workers", []core.WorkerRecord{first}, got)
}
