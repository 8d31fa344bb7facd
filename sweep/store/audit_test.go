package store_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	folder := t.TempDir()
	s, err := store.Open(ctx, folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	uid, root, finished, stopped := 1000, 0, "train-10 is finished", "the master has stopped"
	entries := []core.AuditEntry{
		{Time: at, UID: &uid, User: "ann", Action: "submit", Kind: "sweep", Object: "train-1",
			Outcome: "done"},
		{Time: at, UID: &root, Action: "cancel", Kind: "task", Object: "train-1/42",
			Outcome: "done"},
		{Time: at, User: "bo'b", Action: "retry", Kind: "sweep", Object: "train-10",
			Detail: "tasks=3", Outcome: "refused", Reason: &finished},
		{Time: at, UID: &uid, Action: "drain", Kind: "worker", Object: "w1", Outcome: "failed",
			Reason: &stopped},
	}
	if err := s.Commit(ctx, &core.Rows{Audit: entries}); err != nil {
		t.Fatal(err)
	}
	for n := range entries {
		entries[n].ID = int64(n + 1)
	}
	for _, c := range []struct {
		object string
		before int64
		limit  int
		want   []core.AuditEntry
	}{
		{"", 0, 10, []core.AuditEntry{entries[3], entries[2], entries[1], entries[0]}},
		{"", 0, 2, []core.AuditEntry{entries[3], entries[2]}},
		{"", 3, 10, []core.AuditEntry{entries[1], entries[0]}},
		{"train-1", 0, 10, []core.AuditEntry{entries[1], entries[0]}},
		{"train-1/42", 0, 10, []core.AuditEntry{entries[1]}},
		{"train", 0, 10, nil},
		{"w1", 0, 10, []core.AuditEntry{entries[3]}},
	} {
		got, err := s.Audit(ctx, c.object, c.before, c.limit)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q before %d: %v\n%s", c.object, c.before, err, diff)
		}
	}
	for _, change := range []string{"DELETE FROM audit WHERE seq = 1",
		"UPDATE audit SET user = 'me'"} {
		if err := s.Exec(change); err == nil || !strings.Contains(err.Error(), "only added to") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// TestAuditRow measures what its doc comment promises.
func TestAuditRow(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	folder := t.TempDir()
	s, err := store.Open(ctx, folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	const rows = 10000
	uid := 1000
	var entries []core.AuditEntry
	for n := range rows {
		entries = append(entries, core.AuditEntry{Time: time.Now(), UID: &uid, User: "anna",
			Action: "retry", Kind: "sweep", Object: fmt.Sprintf("run_training-%d", n%100),
			Outcome: "done"})
	}
	size := func() int64 {
		info, err := os.Stat(filepath.Join(folder, store.File))
		if err != nil {
			t.Fatal(err)
		}
		return info.Size()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := size()
	if s, err = store.Open(ctx, folder, "test"); err != nil {
		t.Fatal(err)
	}
	if err := s.Commit(ctx, &core.Rows{Audit: entries}); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if each := (size() - before) / rows; each > 150 {
		t.Errorf("a row takes %d bytes", each)
	} else {
		t.Logf("a row takes %d bytes", each)
	}
}

// What was done under an idempotency key is found by it.
func TestDoneUnderAKey(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, _ := begin(t, newRecord())
	why := "train-1 is open"
	entries := []core.AuditEntry{
		{Action: "retry", Object: "train-1", IdempotencyKey: "k", Outcome: core.AuditRefused,
			Reason: &why},
		{Action: "retry", Object: "train-1", IdempotencyKey: "k", Outcome: core.AuditDone},
		{Action: "pause", Object: "train-1", Outcome: core.AuditDone},
	}
	if err := s.Commit(ctx, &core.Rows{Audit: entries}); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]int64{"k": 2, "none": 0, "": 0} {
		got, err := s.Done(ctx, key)
		if err != nil || (got == nil) != (want == 0) || got != nil && got.ID != want {
			t.Errorf("under %q: %+v, %v; want %d", key, got, err, want)
		}
	}
}
