package store

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"syscall"
	"time"
)

// Removed says that the database of an open store was removed or replaced: what is written goes
// where nobody finds it.
type Removed struct{ Path string }

func (e *Removed) Error() string {
	return fmt.Sprintf("%s was deleted or replaced while in use; its data is lost", e.Path)
}

// watchEvery is how often the files of an open store are looked for.
const watchEvery = 2 * time.Second

// Watch looks for the store's files until ctx ends: nil then. It ends with *Removed, and with
// *InUse when another process has taken the store. A lock that was removed is made again, and that
// is logged. It may be called while the store is used; it must return before Close.
func (s *Store) Watch(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	said := "" // of a lock that cannot be made again
	for {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return nil
		}
		if err := s.Check(); err != nil {
			return err
		}
		renewed, err := s.lock.renew()
		if used := (*InUse)(nil); errors.As(err, &used) {
			return fmt.Errorf("the lock was removed, and %w", err)
		} else if err != nil && err.Error() != said {
			said = err.Error()
			log.Warn("the store's lock was removed, and cannot be made again", "path", s.lock.path,
				"error", err)
		} else if renewed {
			said = ""
			log.Warn("the store's lock was removed; it was made again", "path", s.lock.path)
		}
	}
}

// Check returns *Removed when the database is not the one that was opened. It is safe for
// concurrent use.
func (s *Store) Check() error {
	now, err := os.Stat(s.path)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) || err == nil &&
		!os.SameFile(s.opened, now) {
		return &Removed{s.path}
	}
	return nil // that it cannot be looked at now says nothing
}
