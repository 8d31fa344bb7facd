package store

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"mlframework/sweep/task"
)

// heldFolder is where, beside the database, a file for each damaged sweep has the events that its
// workers reported, one a line. They are not in the database, which is what is replaced when the
// sweep is repaired.
const heldFolder = "held"

// MaxHeldBytes is how long the file of one sweep becomes.
const MaxHeldBytes = 64 << 20

// HoldEvents keeps what workers report of damaged sweeps, in order. When it returns nil it is on
// disk. Dropped are those for which there was no room; they are in no file.
func (s *Store) HoldEvents(events []task.Event) (dropped []task.Event, err error) {
	lines := map[string]*bytes.Buffer{}
	for i := range events {
		e := &events[i]
		line, err := json.Marshal(e)
		if err != nil {
			return nil, err
		}
		if lines[e.Sweep] == nil {
			lines[e.Sweep] = &bytes.Buffer{}
		}
		lines[e.Sweep].Write(append(line, '\n'))
	}
	for sweep, text := range lines {
		fits, err := s.appendHeld(sweep, text.Bytes())
		if err != nil {
			return nil, withPath(filepath.Dir(s.path), err)
		}
		for _, e := range events {
			if !fits && e.Sweep == sweep {
				dropped = append(dropped, e)
			}
		}
	}
	return dropped, nil
}

// appendHeld adds lines to the file of a sweep; false: they would make it too long.
func (s *Store) appendHeld(sweep string, lines []byte) (fits bool, err error) {
	path := s.HeldFile(sweep)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, err
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return false, err
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return false, err
	}
	if size+int64(len(lines)) > MaxHeldBytes {
		return false, nil
	}
	last := []byte{'\n'}
	if size > 0 {
		if _, err := f.ReadAt(last, size-1); err != nil {
			return false, err
		}
	}
	if last[0] != '\n' { // the last write was cut off: what it had comes again
		lines = append([]byte{'\n'}, lines...)
	}
	if _, err := f.Write(lines); err != nil {
		return false, err
	}
	return true, f.Sync()
}

// Held lists the sweeps of which events are held, by name.
func (s *Store) Held() (sweeps []string, err error) {
	entries, err := os.ReadDir(filepath.Join(filepath.Dir(s.path), heldFolder))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		sweeps = append(sweeps, e.Name())
	}
	return sweeps, err
}

// HeldEvents iterates over the events of a sweep that are held, in order. Lines that were cut off
// are left out. After an error nothing more comes.
func (s *Store) HeldEvents(sweep string) iter.Seq2[task.Event, error] {
	return func(yield func(task.Event, error) bool) {
		f, err := os.Open(s.HeldFile(sweep))
		if err != nil {
			yield(task.Event{}, err)
			return
		}
		defer f.Close()
		in := bufio.NewReader(f)
		for {
			line, err := in.ReadBytes('\n')
			var e task.Event
			switch {
			case err == io.EOF:
				return
			case err != nil:
				yield(e, err)
				return
			case json.Unmarshal(line, &e) == nil && !yield(e, nil):
				return
			}
		}
	}
}

// DropHeld removes the events of a sweep that are held.
func (s *Store) DropHeld(sweep string) error { return os.Remove(s.HeldFile(sweep)) }

// isHeld reports whether events of a sweep are held.
func (s *Store) isHeld(sweep string) (bool, error) {
	_, err := os.Stat(s.HeldFile(sweep))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// HeldFile is the path of the file that holds the events of a sweep, or would.
func (s *Store) HeldFile(sweep string) string {
	return filepath.Join(filepath.Dir(s.path), heldFolder, sweep)
}
