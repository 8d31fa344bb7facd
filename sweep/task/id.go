package task

import (
	"fmt"
	"strconv"
	"strings"
)

// ID names one task: a point of a sweep. Its text is "run_training-7/42".
type ID struct {
	Sweep string
	Index int64 // from 0, the point's index in the sweep's space
}

func (id ID) String() string { return id.Sweep + "/" + strconv.FormatInt(id.Index, 10) }

// ParseID reads the text form of an ID, and no other way to write one, such as run_training-7/042.
func ParseID(s string) (ID, error) {
	sweep, index, _ := strings.Cut(s, "/")
	n, err := strconv.ParseInt(index, 10, 64)
	id := ID{sweep, n}
	if sweep == "" || err != nil || n < 0 || id.String() != s {
		return ID{}, fmt.Errorf("%q is not a task: write SWEEP/INDEX, such as run_training-7/42", s)
	}
	return id, nil
}

// SweepID is the name of the n-th sweep of a definition, "run_training-7".
func SweepID(definition string, n int64) string {
	return definition + "-" +
		strconv.FormatInt(n, 10)
}
