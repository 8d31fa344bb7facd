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

// record lists the entries created in the folder of a task, for the worker that is started after
// one was killed. It is written before the copy is moved to the folder.
type record struct {
	Dir  string `json:"dir"`
	Made []made `json:"made"`
}

// place is the path at which one attempt's copy is made, with the file of its record beside it.
// Attempts use a place one after another, because writing to an open file is cheaper than creating
// one.
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

// returnPlace makes a place available to another attempt.
func (s *Store) returnPlace(p *place) error {
	if _, err := p.record.WriteAt([]byte{'\n'}, 0); err != nil {
		return errors.Join(err, p.record.Close())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.places = append(s.places, p)
	return nil
}

// write writes a record as the first line of the file.
func (p *place) write(r record) error {
	text, err := json.Marshal(r)
	if err == nil {
		_, err = p.record.WriteAt(append(text, '\n'), 0)
	}
	return err
}

// readRecord reads a record. Its Dir is "" if there is none or if it is incomplete; then the copy
// was not moved to the task's folder yet.
func readRecord(path string) (r record, err error) {
	text, err := os.ReadFile(path)
	line, _, _ := bytes.Cut(text, []byte{'\n'})
	if err == nil && json.Unmarshal(line, &r) != nil {
		r = record{}
	}
	return r, err
}

// Recover removes the copies that a killed worker left in the folders of tasks. Call it before
// attempts start.
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
				s.o.Log.Warn("cannot remove untouched files from the folder of a task",
					"folder", r.Dir, "error", failed)
				continue
			}
		}
		err = errors.Join(err, removeAll(path))
	}
	if err != nil {
		s.o.Log.Warn("cannot remove copies of projects that a killed worker made", "error", err)
	}
}
