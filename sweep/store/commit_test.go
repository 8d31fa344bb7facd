package store_test

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// TestAStepIsOneTransaction has the last of a step's rows refused: nothing of the step is written,
// the record of its sweep, the code and the worker that goes included.
func TestAStepIsOneTransaction(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(t.Context(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	sw, err := s.Add(t.Context(), store.NewSweep{Record: newRecord(), Total: 1, Code: "c1"})
	if err != nil {
		t.Fatal(err)
	}
	worker := core.WorkerRecord{Name: "w1", Incarnation: "1"}
	if err := s.Commit(t.Context(), &core.Rows{Workers: []core.WorkerRecord{worker}}); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, store.File))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	const refuse = `CREATE TRIGGER refuse BEFORE INSERT ON audit
		BEGIN SELECT RAISE(ABORT, 'refused'); END`
	if _, err := db.ExecContext(t.Context(), refuse); err != nil {
		t.Fatal(err)
	}
	before := sw.Record
	changed := sw
	changed.Record.Recipe.Revision = "r2"
	rows := rowsOf(changed, core.Changes{})
	rows.Sweeps[0].Rewrite, rows.Sweeps[0].Code = true, "c2"
	rows.Gone = []string{"w1"}
	rows.Audit = []core.AuditEntry{{Action: "resume", Outcome: core.AuditDone}}
	if err := s.Commit(context.Background(), rows); err == nil {
		t.Fatal("the step was committed")
	}
	got, err := s.Sweep(t.Context(), sw.Head.ID)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "the record", before, got.Record)
	codes, err := s.Codes(t.Context(), sw)
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "codes", map[string]string{before.Recipe.Revision: "c1"}, codes)
	workers, err := s.Workers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	differs(t, "workers", []core.WorkerRecord{worker}, workers)
}
