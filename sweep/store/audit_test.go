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
	deeds := []store.Deed{
		{Time: at, UID: 1000, User: "ann", Action: "submit", Kind: "sweep", Object: "train-1", Outcome: "done"},
		{Time: at, UID: 0, Action: "cancel", Kind: "task", Object: "train-1/42", Outcome: "done"},
		{Time: at, UID: -1, User: "bo'b", Action: "retry", Kind: "sweep", Object: "train-10", Detail: "tasks=3", Outcome: "refused", Reason: "train-10 is finished"},
		{Time: at, UID: 1000, Action: "drain", Kind: "worker", Object: "w1", Outcome: "failed", Reason: "the master has stopped"},
	}
	if err := s.Commit(ctx, store.Group{Deeds: deeds}); err != nil {
		t.Fatal(err)
	}
	for n := range deeds {
		deeds[n].ID = int64(n + 1)
	}
	for _, c := range []struct {
		object string
		before int64
		limit  int
		want   []store.Deed
	}{
		{"", 0, 10, []store.Deed{deeds[3], deeds[2], deeds[1], deeds[0]}},
		{"", 0, 2, []store.Deed{deeds[3], deeds[2]}},
		{"", 3, 10, []store.Deed{deeds[1], deeds[0]}},
		{"train-1", 0, 10, []store.Deed{deeds[1], deeds[0]}},
		{"train-1/42", 0, 10, []store.Deed{deeds[1]}},
		{"train", 0, 10, nil},
		{"w1", 0, 10, []store.Deed{deeds[3]}},
	} {
		got, err := s.Audit(ctx, c.object, c.before, c.limit)
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil {
			t.Errorf("%q before %d: %v\n%s", c.object, c.before, err, diff)
		}
	}
	for _, change := range []string{"DELETE FROM audit WHERE seq = 1", "UPDATE audit SET user = 'me'"} {
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
	var deeds []store.Deed
	for n := range rows {
		deeds = append(deeds, store.Deed{Time: time.Now(), UID: 1000, User: "anna", Action: "retry", Kind: "sweep", Object: fmt.Sprintf("run_training-%d", n%100), Outcome: "done"})
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
	if err := s.Commit(ctx, store.Group{Deeds: deeds}); err != nil {
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
