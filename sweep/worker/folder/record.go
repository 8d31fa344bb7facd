package folder

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"slices"
)

// recordSuffix ends the names of records, beside the copies that they are of.
const recordSuffix = ".task"

// A record is the file that says in which folder a copy is, and of what: a worker that was killed finds the copies that it
// left by it. It is overwritten in place: that is one call of the system for each attempt, and none for its metadata.
type record struct{ file *os.File }

// recordContent is the content of a record, on its first line; an empty line says that no folder has the copy.
type recordContent struct {
	Dir      string `json:"dir"`
	Revision string `json:"revision"`
	Rules    Rules  `json:"rules"`
}

// recordTailOf is the rest of a record's first line behind the folder, which is the same for every copy of a project.
func recordTailOf(revision string, rules Rules) ([]byte, error) {
	text, err := json.Marshal(recordContent{Revision: revision, Rules: rules})
	return append(bytes.TrimPrefix(text, []byte(`{"dir":""`)), '\n'), err
}

// unusedLine is the first line of a record whose copy no folder has.
var unusedLine = []byte("\n")

func newRecord(path string) (*record, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	return &record{f}, err
}

// set notes the folder that has the copy; "" is none.
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

// readRecord reads a record; false when no folder has the copy.
func readRecord(path string) (u recordContent, ok bool) {
	text, err := os.ReadFile(path)
	line, _, whole := bytes.Cut(text, []byte("\n"))
	return u, err == nil && whole && json.Unmarshal(line, &u) == nil && u.Dir != ""
}
