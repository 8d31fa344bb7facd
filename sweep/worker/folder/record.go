package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
)

// recordSuffix is the suffix of records, which lie beside their copies.
const recordSuffix = ".task"

// A record is the file that says in which folder a copy is, and of which project: a worker finds by
// it the copies that a killed predecessor left. It is overwritten in place, which is one system
// call per attempt and none for metadata.
type record struct{ file *os.File }

// recordContent is the first line of a record; an empty line says that no folder has the copy.
type recordContent struct {
	Dir      string `json:"dir"`
	Revision string `json:"revision"`
	Rules    Rules  `json:"rules"`
}

// recordTailOf returns the part of a record's first line after the folder, which is the same for
// every copy of a project.
func recordTailOf(revision string, rules Rules) ([]byte, error) {
	text, err := json.Marshal(recordContent{Revision: revision, Rules: rules})
	return append(bytes.TrimPrefix(text, []byte(`{"dir":""`)), '\n'), err
}

// unusedLine is the first line of a record whose copy is in no folder.
var unusedLine = []byte("\n")

func newRecord(path string) (*record, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	return &record{f}, err
}

// set records the folder that has the copy; "" is none.
func (r *record) set(dir string, p *Project) error {
	text := unusedLine
	if dir != "" {
		place, err := json.Marshal(dir)
		if err != nil {
			return err
		}
		text = slices.Concat([]byte(`{"dir":`), place, p.recordTail)
	}
	_, err := r.file.WriteAt(text, 0)
	return err
}

func (r *record) remove() error { return errors.Join(r.file.Close(), os.Remove(r.file.Name())) }

// readRecord reads a record; ok is false if no folder has the copy.
func readRecord(path string) (u recordContent, ok bool) {
	text, err := os.ReadFile(path)
	line, _, whole := bytes.Cut(text, []byte("\n"))
	return u, err == nil && whole && json.Unmarshal(line, &u) == nil && u.Dir != ""
}
