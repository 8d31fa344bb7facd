package task

import (
	"fmt"
	"regexp"
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

// MaxDefinitionName is how many characters the name of a definition has at most.
const MaxDefinitionName = 64

var (
	definitionName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.-]*$`)
	variableName   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)
	endOfSweepID   = regexp.MustCompile(`-[0-9]+$`)
)

// IsDefinitionName reports whether a definition may have a name, whatever its length and its end.
func IsDefinitionName(name string) bool { return definitionName.MatchString(name) }

// IsVariableName reports whether a variable of the environment may have a name.
func IsVariableName(name string) bool { return variableName.MatchString(name) }

// EndsLikeSweepID reports whether a name ends like the id of a sweep, "<definition>-<n>".
//
// An id alone could still be taken apart at its last dash, but where a definition and a sweep may
// both be named, train-1 could be either.
func EndsLikeSweepID(name string) bool { return endOfSweepID.MatchString(name) }
