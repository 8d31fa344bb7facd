package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Reader reads a store, also while another process writes it. It is safe for concurrent use.
type Reader struct {
	db      *sql.DB
	columns *columnCache // nil: of a store that another process writes
	names   *metricNames // likewise
}

var readerPragmas = []string{"busy_timeout(10000)", "query_only(1)"}

// OpenReader opens the store of a folder for reading: ErrNone when there is none.
func OpenReader(ctx context.Context, folder string) (*Reader, error) {
	if _, err := os.Stat(filepath.Join(folder, File)); errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w in %s", ErrNone, folder)
	}
	r, err := openReader(ctx, folder, url.Values{"mode": {"ro"}})
	if cannotShare(err) && closed(folder) {
		r, err = openReader(ctx, folder, url.Values{"mode": {"ro"}, "immutable": {"1"}})
	}
	return r, err
}

func openReader(ctx context.Context, folder string, settings url.Values) (*Reader, error) {
	db, err := connect(folder, readerPragmas, settings)
	if err != nil {
		return nil, err
	}
	have, err := version(ctx, db, folder)
	if err == nil && have == 0 {
		err = fmt.Errorf("%w in %s", ErrNone, folder)
	}
	if err != nil {
		return nil, errors.Join(withPath(folder, err), db.Close())
	}
	return &Reader{db: db}, nil
}

// cannotShare reports whether the files could not be made which readers share with a writer: the
// folder is read-only, or its disk is full.
func cannotShare(err error) bool {
	if _, full := errors.AsType[*Full](err); full {
		return true
	}
	e, ok := errors.AsType[*sqlite.Error](err)
	return ok && (e.Code()&0xff == sqlite3.SQLITE_CANTOPEN ||
		e.Code()&0xff == sqlite3.SQLITE_READONLY)
}

// closed reports whether the last writer left nothing in the log or the rollback journal, so that the
// database alone is the store.
func closed(folder string) bool {
	for _, name := range []string{File + "-wal", File + "-journal"} {
		log, err := os.Stat(filepath.Join(folder, name))
		if !errors.Is(err, fs.ErrNotExist) && (err != nil || log.Size() > 0) {
			return false
		}
	}
	return true
}

// Close ends the reader.
func (r *Reader) Close() error { return r.db.Close() }
