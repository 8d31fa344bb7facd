package store

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
)

// Plan is how SQLite would run a query, one line for each step.
func (r *Reader) Plan(ctx context.Context, s Sweep, q Query) (steps []string, err error) {
	text, args := q.sql(s.Seq)
	rows, err := r.db.QueryContext(ctx, "EXPLAIN QUERY PLAN "+text, args...)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, rows.Err()
}

// Exec runs SQL on the connection that writes.
func (s *Store) Exec(text string, args ...any) error {
	_, err := s.db.ExecContext(context.Background(), text, args...)
	return err
}

// Limit lets the store have at most so many pages more than it has now, as if the disk were full then; 0: no limit.
func (s *Store) Limit(more int) error {
	limit := 1 << 30
	if more > 0 {
		if err := s.db.QueryRow("PRAGMA page_count").Scan(&limit); err != nil {
			return err
		}
		limit += more
	}
	return s.Exec(fmt.Sprintf("PRAGMA max_page_count = %d", limit))
}

// Versions is the number of migrations.
func Versions() int { return len(migrations) }

// KeepAtMost sets the room of columns in memory, and how many tasks a question reads from the store before.
func (s *Store) KeepAtMost(bytes int64, tasks int) { s.recent.most, s.recent.least = bytes, tasks }

// Kept is how many bytes of columns are in memory.
func (s *Store) Kept() (bytes int64) {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	for _, c := range s.recent.sweeps {
		bytes += c.bytes.Load()
	}
	return bytes
}

// ForgetColumns forgets the columns in memory, as a lack of room does.
func (s *Store) ForgetColumns() {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	s.recent.sweeps = nil
}

// Newest is the sweep whose columns were used last; 0: none is kept.
func (s *Store) Newest() int64 {
	s.recent.mu.Lock()
	defer s.recent.mu.Unlock()
	if n := len(s.recent.sweeps); n > 0 {
		return s.recent.sweeps[n-1].seq
	}
	return 0
}

// MakeOlder makes a store of an older version, and lets fill write it.
func MakeOlder(folder string, version int, fill func(exec func(string, ...any) error)) error {
	db, err := connect(folder, nil, url.Values{"mode": {"rwc"}})
	if err != nil {
		return err
	}
	for _, step := range migrations[:version] {
		if _, err := db.Exec(step); err != nil {
			return errors.Join(err, db.Close())
		}
	}
	_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
	fill(func(text string, args ...any) error {
		_, err := db.Exec(text, args...)
		return err
	})
	return errors.Join(err, db.Close())
}

// Folder is where the store is.
func (s *Store) Folder() string { return filepath.Dir(s.path) }
