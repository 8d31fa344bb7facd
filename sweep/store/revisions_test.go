package store_test

import (
	"context"
	"errors"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// beforeOutlines makes of a store's schema the one that had no outlines: all that came since goes.
const beforeOutlines = `ALTER TABLE sweeps DROP COLUMN outline;
DROP INDEX audit_keys;
ALTER TABLE audit DROP COLUMN client_key;
DROP TABLE dead_letters;
ALTER TABLE workers DROP COLUMN drained_for;`

// beforeCodes makes of a store's schema the one that had a code for each revision, whatever the
// sweep: all that came since goes.
const beforeCodes = beforeOutlines + `
ALTER TABLE sweeps DROP COLUMN ran;
ALTER TABLE workers DROP COLUMN image;
ALTER TABLE workers DROP COLUMN environment;
DROP TABLE codes;
CREATE TABLE revisions (revision TEXT PRIMARY KEY, code TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO revisions VALUES ('r1', 'c1'), ('0123456789abcdef', 'c2'), ('never', 'c3');
PRAGMA user_version = 3;`

// TestCodesOfAnOlderStore are read as they are, and kept when a writer brings the store up to date.
func TestCodesOfAnOlderStore(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	r := newRecord()
	r.Recipe.Revision = "r1"
	sw, err := s.Add(context.Background(), store.NewSweep{Record: r, Total: 9, Code: "lost below"})
	if err != nil {
		t.Fatal(err)
	}
	// of revision 0123456789abcdef
	commit(t, s, sw, core.Changes{Tasks: []core.Task{endedTask(0), endedTask(1)}})
	if err := errors.Join(s.Exec(beforeCodes), s.Close()); err != nil {
		t.Fatal(err)
	}
	codes := func(r *store.Reader) map[string]string {
		t.Helper()
		codes, err := r.Codes(context.Background(), sw)
		if err != nil {
			t.Fatal(err)
		}
		return codes
	}
	if old, err := reader(t, folder).Sweep(context.Background(), sw.Head.ID); err != nil ||
		old.Head.Ran != 0 {
		t.Errorf("the sweep of an older store ran for %v, %v; want 0", old.Head.Ran, err)
	}
	differs(t, "before", map[string]string{"r1": "c1", "0123456789abcdef": "c2", "never": "c3"},
		codes(reader(t, folder)))
	if s, err = store.Open(context.Background(), folder, "test"); err != nil {
		t.Fatal(err)
	}
	differs(t, "after", map[string]string{"r1": "c1", "0123456789abcdef": "c2"}, codes(&s.Reader))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
}
