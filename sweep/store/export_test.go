package store

import (
	"context"
	"fmt"
	"path/filepath"
)

// Plan returns how SQLite would run a query, one line for each step.
func (r *Reader) Plan(ctx context.Context, s Sweep, q TaskQuery) (steps []string, err error) {
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

// Limit lets the store have at most so many pages more than it has now, as if the disk were full
// then; 0: no limit.
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

// KeepAtMost sets the room of columns in memory, and how many tasks a question reads from the store
// before.
func (s *Store) KeepAtMost(bytes int64, tasks int) {
	s.columns.maxBytes, s.columns.minTasks = bytes, tasks
}

// Kept returns how many bytes of columns are in memory.
func (s *Store) Kept() (bytes int64) {
	s.columns.mu.Lock()
	defer s.columns.mu.Unlock()
	for _, c := range s.columns.sweeps {
		bytes += c.bytes.Load()
	}
	return bytes
}

// ForgetColumns forgets the columns in memory, as a lack of room does.
func (s *Store) ForgetColumns() {
	s.columns.mu.Lock()
	defer s.columns.mu.Unlock()
	s.columns.sweeps = nil
}

// Newest returns the sweep whose columns were used last; 0: none is kept.
func (s *Store) Newest() int64 {
	s.columns.mu.Lock()
	defer s.columns.mu.Unlock()
	if n := len(s.columns.sweeps); n > 0 {
		return s.columns.sweeps[n-1].seq
	}
	return 0
}

// Folder returns where the store is.
func (s *Store) Folder() string { return filepath.Dir(s.path) }
