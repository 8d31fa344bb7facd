// Package store is the truth about every sweep: an SQLite database in one folder.
//
// One process writes (Open takes a lock that dies with it), any number read beside it (OpenReader).
// The writer commits steps: everything that a step of the master changed is one transaction, on
// disk when Commit returns. Only the master and the commands import it; it is the only package that
// knows SQL.
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
	"syscall"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// File is the name of the database in its folder.
const File = "store.db"

// ErrNone is returned by OpenReader for a folder that holds no store.
var ErrNone = errors.New("no store")

// Store is the writer. Its methods are for one goroutine, those of Reader for any number.
type Store struct {
	Reader
	db     *sql.DB
	lock   *lock
	path   string // of the database
	opened fs.FileInfo
	write  writer
	// Slow is why the store gave up its usual journal, for the user to read once; empty on a local
	// file system.
	Slow string
}

// Open makes the folder and the store as needed and takes the writer's lock: *InUse when another
// process has it. Name is what others see as its holder, such as "run-tasks run_training".
func Open(ctx context.Context, folder, name string) (*Store, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	lock, err := acquire(folder, name)
	if err != nil {
		return nil, err
	}
	s := &Store{lock: lock}
	if err := s.open(ctx, folder); err != nil {
		return nil, errors.Join(withPath(folder, err), s.Close())
	}
	return s, nil
}

func (s *Store) open(ctx context.Context, folder string) (err error) {
	// The log grows to 16 MB before it is taken over: four times the usual, and a tenth less work
	// for each row.
	pragmas := []string{"busy_timeout(10000)", "journal_mode(WAL)", "synchronous(FULL)",
		"wal_autocheckpoint(4000)"}
	network := networkFileSystem(folder)
	if network != "" {
		// a commit waits until no other command reads
		pragmas = []string{"busy_timeout(600000)", "journal_mode(TRUNCATE)", "synchronous(FULL)"}
		s.Slow = fmt.Sprintf("%s is on %s: the store uses a rollback journal there, which is slower",
			folder, network)
	}
	// SQLite would create the file readable by everybody
	f, err := os.OpenFile(filepath.Join(folder, File), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if s.db, err = connect(folder, pragmas,
		url.Values{"mode": {"rwc"}, "_txlock": {"immediate"}}); err != nil {
		return err
	}
	s.db.SetMaxOpenConns(1)
	if err := createTables(ctx, s.db, folder); err != nil {
		return err
	}
	s.path = filepath.Join(folder, File)
	if s.opened, err = os.Stat(s.path); err != nil {
		return err
	}
	s.columns = &columnCache{maxBytes: columnCacheBytes, minTasks: columnCacheMinTasks}
	s.names = &metricNames{}
	if network != "" {
		s.Reader.db = s.db
		return nil
	}
	s.Reader.db, err = connect(folder, readerPragmas, url.Values{"mode": {"ro"}})
	return err
}

// Close gives the lock back. It may be called on a store that failed to open, and twice.
func (s *Store) Close() error {
	var errs []error
	if s.Reader.db != nil && s.Reader.db != s.db {
		errs = append(errs, s.Reader.db.Close())
	}
	if s.db != nil {
		errs = append(errs, s.write.close(s.db), s.db.Close())
	}
	if s.lock != nil {
		errs = append(errs, s.lock.release())
	}
	s.db, s.Reader.db, s.lock = nil, nil, nil
	return errors.Join(errs...)
}

// connect makes connections with pragmas and other settings; none is opened yet.
func connect(folder string, pragmas []string, query url.Values) (*sql.DB, error) {
	path, err := filepath.Abs(filepath.Join(folder, File))
	if err != nil {
		return nil, err
	}
	query["_pragma"] = pragmas
	u := url.URL{Scheme: "file", Path: path, RawQuery: query.Encode()}
	return sql.Open("sqlite", u.String())
}

// readable gives errors of the database the words that a user can act on; errors.Is
// sees the same ones.
func readable(err error) error {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return err
	}
	if e.Code() == sqlite3.SQLITE_IOERR_SHMSIZE { // the memory shared with readers is a file too
		return &Full{err: err}
	}
	switch e.Code() & 0xff {
	case sqlite3.SQLITE_FULL:
		return &Full{err: err}
	case sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT:
		return fmt.Errorf(
			"%s is damaged or no store of this program: move it away, or restore it: %w", File, err)
	case sqlite3.SQLITE_CANTOPEN:
		return fmt.Errorf("cannot open %s: its folder and the files in it must exist, and you "+
			"need permission to read and write them: %w", File, err)
	case sqlite3.SQLITE_IOERR:
		return fmt.Errorf("cannot read or write %s: %w; see `dmesg` for errors of the disk", File,
			err)
	case sqlite3.SQLITE_BUSY:
		return fmt.Errorf("the store is held by another process, which does not share it: %w", err)
	}
	return err
}

// Full says that the disk of a store is full.
type Full struct {
	Folder string // of the store; "": it is not known
	err    error
}

func (e *Full) Error() string {
	if e.Folder == "" {
		return fmt.Sprintf("the disk of the store is full: %v", syscall.ENOSPC)
	}
	return fmt.Sprintf("the disk of the store is full (%s): %v", e.Folder, syscall.ENOSPC)
}

// Unwrap has what the database says, too.
func (e *Full) Unwrap() []error { return []error{syscall.ENOSPC, e.err} }

// withPath is readable, with the place of a store whose disk is full.
func withPath(folder string, err error) error {
	err = readable(err)
	if full, ok := errors.AsType[*Full](err); ok {
		if full.Folder = folder; !filepath.IsAbs(folder) {
			full.Folder, _ = filepath.Abs(folder) // "" where the current folder is gone
		}
	}
	return err
}
