package store

import (
	"context"
	"database/sql"
	"fmt"
	"path/filepath"

	"mlframework/sweep/core"
)

// schema makes the tables of a store.
//
// What stands in tasks is the newest attempt of each task; attempts holds those it left behind. So
// the usual task, which needs one attempt, costs one row. The partial indexes keep that row cheap
// to write: a task that succeeds passes through tasks_open only, and every page or export is a
// range of an index at a million tasks.
const schema = `
CREATE TABLE sweeps (
	seq        INTEGER PRIMARY KEY AUTOINCREMENT, -- order of submission; none is used twice
	id         TEXT    NOT NULL UNIQUE,
	definition TEXT    NOT NULL,
	number     INTEGER NOT NULL,
	client_key TEXT    UNIQUE,               -- a submission that is repeated under the same key makes one sweep
	state      TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	stopping   INTEGER NOT NULL DEFAULT 0,
	forgiven   INTEGER NOT NULL DEFAULT 0,
	submitted  INTEGER NOT NULL,             -- times are microseconds since 1970, UTC
	ended      INTEGER,
	total      INTEGER NOT NULL,
	issued     INTEGER NOT NULL,
	cut        INTEGER NOT NULL,
	counts     TEXT    NOT NULL,             -- JSON array, by the number of the state
	ran        INTEGER NOT NULL DEFAULT 0,   -- microseconds, without pauses and waiting
	bytes      INTEGER NOT NULL DEFAULT 0,   -- of outputs: the sum of that of its tasks
	outline    TEXT    NOT NULL,             -- core.Outline as JSON: what lists show of the record
	record     TEXT    NOT NULL,             -- core.Record as JSON; last, because SQLite reads all of it to come to what follows
	UNIQUE (definition, number)
);
-- Sweeps that were removed: their ids are not used again. What the other tables have of them goes
-- later, some rows at a time.
CREATE TABLE removed (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	definition TEXT    NOT NULL,
	number     INTEGER NOT NULL,
	cleared    INTEGER NOT NULL DEFAULT 0,   -- the other tables have nothing of it
	UNIQUE (definition, number)
);
-- Outputs that workers are still to remove.
CREATE TABLE removals (
	sweep  TEXT NOT NULL,                    -- its id
	worker TEXT NOT NULL,
	tasks  TEXT NOT NULL,                    -- task.Remove.Tasks as JSON; '': all of the sweep
	PRIMARY KEY (sweep, worker, tasks)
) WITHOUT ROWID;
CREATE TABLE codes (
	sweep    INTEGER NOT NULL,
	revision TEXT    NOT NULL,
	code     TEXT    NOT NULL,               -- the revision without what is not code to the sweep's definition
	PRIMARY KEY (sweep, revision)
) WITHOUT ROWID;
CREATE TABLE tasks (
	sweep      INTEGER NOT NULL,
	idx        INTEGER NOT NULL,
	state      INTEGER NOT NULL,             -- task.State
	cancelling INTEGER NOT NULL,
	charged    TEXT,                         -- task.Retry as JSON; NULL when nothing was charged
	not_before INTEGER,
	lapsed     INTEGER,                      -- core.Task.Lapsed; NULL where it is task.Pending
	tries      INTEGER NOT NULL,
	since      INTEGER,                      -- NULL: values of all attempts count
	failed     TEXT,                         -- core.Task.Failed; NULL: no such attempt
	fresh      INTEGER,                      -- NULL: an attempt continues in the folder of any earlier one
	attempt    INTEGER NOT NULL,
	revision   TEXT    NOT NULL,
	worker     TEXT    NOT NULL,
	host       TEXT,
	slot       INTEGER,
	gpus       TEXT,                         -- JSON array
	resumed    INTEGER,
	started    INTEGER,
	duration   INTEGER,                      -- microseconds
	class      TEXT,
	exit_code  INTEGER,
	reason     TEXT,
	objective  REAL,
	bytes      INTEGER,                      -- of its outputs; NULL: not known
	metrics    TEXT,                         -- JSON object, metric.Final.AppendStored
	output     TEXT,                         -- JSON of outputs; NULL when nothing was printed
	PRIMARY KEY (sweep, idx)
) WITHOUT ROWID;
CREATE INDEX tasks_open ON tasks (sweep, state, idx) WHERE state < 4;
CREATE INDEX tasks_bad  ON tasks (sweep, state, idx) WHERE state > 4;
CREATE INDEX tasks_best ON tasks (sweep, objective, idx) WHERE objective IS NOT NULL;
CREATE TABLE attempts (
	sweep      INTEGER NOT NULL,
	idx        INTEGER NOT NULL,
	attempt    INTEGER NOT NULL,
	superseded INTEGER NOT NULL,
	revision   TEXT    NOT NULL,
	worker     TEXT    NOT NULL,
	host       TEXT,
	slot       INTEGER,
	gpus       TEXT,
	resumed    INTEGER,
	started    INTEGER,
	duration   INTEGER,
	class      TEXT,
	exit_code  INTEGER,
	reason     TEXT,
	metrics    TEXT,
	output     TEXT,
	PRIMARY KEY (sweep, idx, attempt, superseded)
) WITHOUT ROWID;
CREATE TABLE workers (
	name        TEXT PRIMARY KEY,
	incarnation TEXT    NOT NULL,            -- of the process whose registration was processed last
	host        TEXT    NOT NULL,
	program     TEXT    NOT NULL,
	started     INTEGER NOT NULL,            -- slots it was started with
	drained     INTEGER NOT NULL,            -- it was asked to take nothing new
	drained_for TEXT    NOT NULL,            -- core.WorkerRecord
	slots       INTEGER NOT NULL,            -- what a person asked for; 0: as started
	image       TEXT    NOT NULL,            -- of its container
	environment TEXT    NOT NULL
) WITHOUT ROWID;
CREATE TABLE samples (
	seq     INTEGER PRIMARY KEY,             -- order in which the samples came
	sweep   INTEGER NOT NULL,
	idx     INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	hash    INTEGER NOT NULL,                -- of points: samples that are reported again are left out
	points  TEXT    NOT NULL,                -- JSON array of metric.Sample
	UNIQUE (sweep, idx, attempt, hash)
);
-- What people did. Nothing takes a row out or changes it.
CREATE TABLE audit (
	seq        INTEGER PRIMARY KEY,
	time       INTEGER NOT NULL,
	uid        INTEGER,                      -- NULL: not known
	user       TEXT    NOT NULL,
	action     TEXT    NOT NULL,
	kind       TEXT    NOT NULL,
	object     TEXT    NOT NULL,
	detail     TEXT    NOT NULL,
	outcome    TEXT    NOT NULL,
	reason     TEXT,
	client_key TEXT                          -- what was done under the key of a client is done once
);
CREATE INDEX audit_object ON audit (object);
CREATE INDEX audit_keys ON audit (client_key) WHERE client_key IS NOT NULL;
CREATE TRIGGER audit_stays   BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the record of actions is only added to'); END;
CREATE TRIGGER audit_is_told BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the record of actions is only added to'); END;
`

// createTables makes the tables of a new store.
func createTables(ctx context.Context, db *sql.DB, folder string) error {
	have, err := version(ctx, db, folder)
	if err != nil || have == core.Schema {
		return err
	}
	_, err = db.ExecContext(ctx, fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT",
		schema, core.Schema))
	if err != nil {
		_, _ = db.ExecContext(ctx, "ROLLBACK")
		return fmt.Errorf("make the tables of the store: %w", err)
	}
	return nil
}

// version reads the version of a store, 0 for one without tables, and refuses other versions than
// this program's.
func version(ctx context.Context, db *sql.DB, folder string) (have int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return 0, err
	}
	path := filepath.Join(folder, File)
	switch {
	case have > core.Schema:
		return 0, fmt.Errorf("%s has version %d and this program knows %d: use the newer program",
			path, have, core.Schema)
	case have != 0 && have != core.Schema:
		return 0, fmt.Errorf("%s has version %d, of a program before 0.1.0, and this one knows %d: "+
			"export its results with that program (run-tasks results --csv SWEEP), and move %s away",
			path, have, core.Schema, folder)
	}
	return have, nil
}
