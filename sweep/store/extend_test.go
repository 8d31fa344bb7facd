package store_test

import (
	"context"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/store"
)

// A sweep's record and the number of its tasks change together with the rest of a group.
func TestRewrite(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	sw, err := s.Add(context.Background(), store.NewSweep{Record: newRecord(), Total: 9})
	if err != nil {
		t.Fatal(err)
	}
	more, _, err := space.Read("parameters.yml", []byte("x: [1, 2]"))
	if err != nil {
		t.Fatal(err)
	}
	sw.Record.Priority, sw.Record.Extensions = 5, []*space.Space{more}
	h := sw.Head
	h.Total, h.State = 11, core.Paused
	rows := rowsOf(sw, core.Changes{Head: h})
	rows.Sweeps[0].Rewrite = true
	if err := s.Commit(context.Background(), rows); err != nil {
		t.Fatal(err)
	}
	got, err := s.Sweep(context.Background(), sw.Head.ID)
	if err != nil {
		t.Fatal(err)
	}
	if got.Head.Total != 11 || got.Head.State != core.Paused || got.Record.Priority != 5 ||
		len(got.Record.Extensions) != 1 || got.Record.Extensions[0].Len() != 2 {
		t.Errorf("%+v", got)
	}
}
