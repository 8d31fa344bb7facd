package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// recordSuffix is the suffix of records.
const recordSuffix = ".json"

// record says what was made in the folder of a task, for the worker that follows on a killed one.
// It is written before the copy gets there.
type record struct {
	Dir  string `json:"dir"`
	Made []made `json:"made"`
}

// place is where one attempt's copy is made, and the file of its record beside it. Attempts use it
// one after another: writing to an open file costs less than making one.
type place struct {
	path   string
	record *os.File
}

// takePlace returns a place that no attempt uses.
func (s *Store) takePlace() (*place, error) {
	for {
		p, isNew := s.nextPlace()
		if !isNew {
			return p, nil
		}
		const flags = os.O_RDWR | os.O_CREATE | os.O_EXCL // a record may have been kept
		var err error
		p.record, err = os.OpenFile(p.path+recordSuffix, flags, 0o600)
		if errors.Is(err, fs.ErrNotExist) { // somebody removed the outputs
			if err = os.MkdirAll(s.o.Home, copyMode); err == nil {
				p.record, err = os.OpenFile(p.path+recordSuffix, flags, 0o600)
			}
		}
		if !errors.Is(err, fs.ErrExist) {
			return p, err
		}
	}
}

// nextPlace returns a free place, or the path of a new one.
func (s *Store) nextPlace() (p *place, isNew bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.places); n > 0 {
		p = s.places[n-1]
		s.places = s.places[:n-1]
		return p, false
	}
	s.placesMade++
	return &place{path: filepath.Join(s.o.Home, strconv.Itoa(s.placesMade))}, true
}

// returnPlace makes a place free for another attempt.
func (s *Store) returnPlace(p *place) error {
	if _, err := p.record.WriteAt([]byte{'\n'}, 0); err != nil {
		return errors.Join(err, p.record.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = append(s.places, p)
	return nil
}

// write writes a record: its first line.
func (p *place) write(r record) error {
	text, err := json.Marshal(r)
	if err == nil {
		_, err = p.record.WriteAt(append(text, '\n'), 0)
	}
	return err
}

// readRecord reads a record. Its Dir is "" if there is none, or if it was not written to its end,
// and so before the copy reached the task's folder.
func readRecord(path string) (r record, err error) {
	text, err := os.ReadFile(path)
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	if err == nil && json.Unmarshal(line, &r) != nil {
		r = record{}
	}
	return r, err
}

// Recover takes copies out of the folders of tasks in which a killed worker left them. Call it
// before attempts start.
func (s *Store) Recover() {
	entries, err := os.ReadDir(s.o.Home)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	for _, e := range entries {
		path := filepath.Join(s.o.Home, e.Name())
		if strings.HasSuffix(path, recordSuffix) {
			r, failed := readRecord(path)
			if r.Dir != "" {
				failed = removeUntouched(r.Dir, r.Made)
			}
			if failed != nil { // the record stays for the next start
				s.o.Log.Warn("what a task left unchanged is still in its folder", "folder", r.Dir,
					"error", failed)
				continue
			}
		}
		err = errors.Join(err, removeAll(path))
	}
	if err != nil {
		s.o.Log.Warn("cannot remove copies of projects that a killed worker made", "error", err)
	}
}
