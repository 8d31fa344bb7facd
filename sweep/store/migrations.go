package store

import (
	"context"
	"database/sql"
	"fmt"
)

// migrations bring a store from one version of the schema to the next; a store's version is how
// many of them ran. A migration that was released never changes.
//
// What stands in tasks is the newest attempt of each task; attempts holds those it left behind. So
// the usual task, which needs one attempt, costs one row. The partial indexes keep that row cheap
// to write: a task that succeeds passes through tasks_open only, and every page or export is a
// range of an index at a million tasks.
var migrations = []string{`
CREATE TABLE sweeps (
	seq        INTEGER PRIMARY KEY,          -- order of submission
	id         TEXT    NOT NULL UNIQUE,
	definition TEXT    NOT NULL,
	number     INTEGER NOT NULL,
	client_key TEXT    UNIQUE,               -- a submission that is repeated under the same key makes one sweep
	record     TEXT    NOT NULL,             -- sweep.Record as JSON
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
	UNIQUE (definition, number)
);
CREATE TABLE revisions (
	revision TEXT PRIMARY KEY,
	code     TEXT NOT NULL                   -- the revision without what describes the sweep
) WITHOUT ROWID;
CREATE TABLE tasks (
	sweep      INTEGER NOT NULL,
	idx        INTEGER NOT NULL,
	state      INTEGER NOT NULL,             -- task.State
	cancelling INTEGER NOT NULL,
	charged    TEXT,                         -- sweep.Retry as JSON; NULL when nothing was charged
	not_before INTEGER,
	tries      INTEGER NOT NULL,
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
	metrics    TEXT,                         -- JSON object, result.Final.AppendStored
	output     TEXT,                         -- JSON, NULL when nothing was printed
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
	drained     INTEGER NOT NULL,            -- a person asked it to take nothing new
	slots       INTEGER NOT NULL             -- what a person asked for; 0: as started
) WITHOUT ROWID;
CREATE TABLE samples (
	seq     INTEGER PRIMARY KEY,             -- order in which the samples came
	sweep   INTEGER NOT NULL,
	idx     INTEGER NOT NULL,
	attempt INTEGER NOT NULL,
	hash    INTEGER NOT NULL,                -- of points: samples that are reported again are left out
	points  TEXT    NOT NULL,                -- JSON array of result.Sample
	UNIQUE (sweep, idx, attempt, hash)
);
`,
	// A record may hold extensions, without which a program would take their tasks for points of
	// the space. The tables are as they were: only the version tells older programs to leave the
	// store alone.
	`/* sweep.Record: extensions, priority */`,
	// What people did. Nothing takes a row out or changes it.
	`
CREATE TABLE audit (
	seq     INTEGER PRIMARY KEY,
	time    INTEGER NOT NULL,
	uid     INTEGER,                         -- NULL: not known
	user    TEXT    NOT NULL,
	action  TEXT    NOT NULL,
	kind    TEXT    NOT NULL,
	object  TEXT    NOT NULL,
	detail  TEXT    NOT NULL,
	outcome TEXT    NOT NULL,
	reason  TEXT
);
CREATE INDEX audit_object ON audit (object);
CREATE TRIGGER audit_stays   BEFORE DELETE ON audit BEGIN SELECT RAISE(ABORT, 'the record of actions is only added to'); END;
CREATE TRIGGER audit_is_told BEFORE UPDATE ON audit BEGIN SELECT RAISE(ABORT, 'the record of actions is only added to'); END;
`,
	// What is code depends on the definition, too: at one revision two sweeps may have two codes.
	`
CREATE TABLE codes (
	sweep    INTEGER NOT NULL,
	revision TEXT    NOT NULL,
	code     TEXT    NOT NULL,               -- the revision without what is not code to the sweep's definition
	PRIMARY KEY (sweep, revision)
) WITHOUT ROWID;
INSERT INTO codes SELECT used.sweep, revision, code FROM revisions JOIN (
	SELECT sweep, revision FROM tasks UNION SELECT seq, json_extract(record, '$.recipe.revision') FROM sweeps
) AS used USING (revision);
DROP TABLE revisions;
`,
	// What the containers of workers are.
	`
ALTER TABLE workers ADD COLUMN image       TEXT NOT NULL DEFAULT '';
ALTER TABLE workers ADD COLUMN environment TEXT NOT NULL DEFAULT '';
`,
	// For how long a sweep ran, without its pauses and waiting.
	`
ALTER TABLE sweeps ADD COLUMN ran INTEGER NOT NULL DEFAULT 0; -- microseconds
`,
	// What is infinite is 1e999 among metrics, which earlier programs cannot read.
	`/* result.Final.AppendStored */`,
	// Spans stand behind metrics, which earlier programs cannot read, and a record's metrics are
	// more than patterns.
	`/* result.Spans, result.Rule */`,
	// What lists show of a record stands beside it, and the record is the last column: SQLite reads
	// a long one to come to what follows it.
	`
CREATE TABLE listed (
	seq        INTEGER PRIMARY KEY,
	id         TEXT    NOT NULL UNIQUE,
	definition TEXT    NOT NULL,
	number     INTEGER NOT NULL,
	client_key TEXT    UNIQUE,
	state      TEXT    NOT NULL,
	reason     TEXT    NOT NULL,
	stopping   INTEGER NOT NULL DEFAULT 0,
	forgiven   INTEGER NOT NULL DEFAULT 0,
	submitted  INTEGER NOT NULL,
	ended      INTEGER,
	total      INTEGER NOT NULL,
	issued     INTEGER NOT NULL,
	cut        INTEGER NOT NULL,
	counts     TEXT    NOT NULL,
	ran        INTEGER NOT NULL DEFAULT 0,
	outline    TEXT    NOT NULL,             -- core.Outline as JSON, or where the record cannot be read
	record     TEXT    NOT NULL,
	UNIQUE (definition, number)
);
INSERT INTO listed SELECT seq, id, definition, number, client_key, state, reason, stopping, forgiven,
	submitted, ended, total, issued, cut, counts, ran, ` + outlined + `, record FROM sweeps;
DROP TABLE sweeps;
ALTER TABLE listed RENAME TO sweeps;
`,
	// What was done under the key of a client is done once.
	`
ALTER TABLE audit ADD COLUMN client_key TEXT;
CREATE INDEX audit_keys ON audit (client_key) WHERE client_key IS NOT NULL;
`,
	// Dead letters, which the broker kept before.
	`
CREATE TABLE dead_letters (
	seq    INTEGER PRIMARY KEY,              -- order in which they came
	id     TEXT    NOT NULL UNIQUE,          -- one that is delivered again is one row
	queue  TEXT    NOT NULL,
	reason TEXT    NOT NULL,
	time   INTEGER,                          -- NULL: not known
	worker TEXT    NOT NULL,                 -- whose dead letters are bounded; '': nobody's
	user   TEXT    NOT NULL,                 -- task.Sender
	key    TEXT    NOT NULL,
	size   INTEGER NOT NULL,                 -- of the message; body may be its beginning only
	body   BLOB    NOT NULL
);
CREATE INDEX dead_letters_worker ON dead_letters (worker) WHERE worker <> '';
`,
	// Why a worker was drained.
	`
ALTER TABLE workers ADD COLUMN drained_for TEXT NOT NULL DEFAULT ''; -- core.WorkerRecord
`,
}

// outlined makes the outline of a record in SQL, as a migration did: it does not change.
const outlined = `CASE WHEN json_valid(record) THEN json_object(
	'revision', CAST(coalesce(json_extract(record, '$.recipe.revision'), '') AS TEXT),
	'project', CAST(coalesce(json_extract(record, '$.project'), '') AS TEXT),
	'priority', CAST(coalesce(json_extract(record, '$.priority'), 0) AS INTEGER),
	'images', json((SELECT json_group_array(key) FROM (
		SELECT key FROM json_each(record, '$.images') ORDER BY key))))
	ELSE json_object('unread', json_error_position(record)) END`

// migrate brings the schema up to date. A store that a newer program wrote is refused.
func migrate(ctx context.Context, db *sql.DB) error {
	have, err := version(ctx, db)
	if err != nil {
		return err
	}
	for n := have; n < len(migrations); n++ {
		step := fmt.Sprintf("BEGIN IMMEDIATE; %s; PRAGMA user_version = %d; COMMIT", migrations[n],
			n+1)
		if _, err := db.ExecContext(ctx, step); err != nil {
			_, _ = db.ExecContext(ctx, "ROLLBACK")
			return fmt.Errorf("bring the store to version %d: %w", n+1, err)
		}
	}
	return nil
}

// version reads the schema's version and refuses one from the future.
func version(ctx context.Context, db *sql.DB) (have int, err error) {
	if err := db.QueryRowContext(ctx, "PRAGMA user_version").Scan(&have); err != nil {
		return 0, err
	}
	if have > len(migrations) {
		return 0,
			fmt.Errorf("the store has version %d and this program knows %d: use the newer program",
				have, len(migrations))
	}
	return have, nil
}
