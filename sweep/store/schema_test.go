package store_test

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"testing"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
)

// Those who may not link the store know the version of its schema.
func TestTheVersionOfTheSchema(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	s, err := store.Open(context.Background(), folder, "test")
	if err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", filepath.Join(folder, store.File))
	version := 0
	if err == nil {
		err = db.QueryRow("PRAGMA user_version").Scan(&version)
	}
	if err := errors.Join(err, db.Close(), s.Close()); err != nil || version != core.Schema {
		t.Errorf("a new store has version %d, and core.Schema is %d: %v", version, core.Schema, err)
	}
}
