package task

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"mlframework/sweep/space"
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

// Key says what a task computes: the first 16 bytes of a SHA-256 over its argv, image, environment,
// code, working directory and links. Two tasks of one key are the same work, in whatever sweep.
type Key [16]byte

// KeyOf is the key of a command line. Argv has all Placeholders as written, since where a task runs
// is not what it computes; parameters count where a recipe has them beside the command line; code
// is the project's revision without the files that describe the sweep. What recipes did not have
// from the beginning counts where it is set.
func KeyOf(argv []string, image string, r Recipe, code string, of []space.Assignment) Key {
	h := make([]byte, 0, 512)
	add := func(s string) { // with its length, so that ["ab"] and ["a", "b"] differ
		h = binary.AppendUvarint(h, uint64(len(s)))
		h = append(h, s...)
	}
	h = binary.AppendUvarint(h, uint64(len(argv)))
	for _, a := range argv {
		add(a)
	}
	add(image)
	add(code)
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		add(name)
		add(r.Env[name])
	}
	if r.Workdir != "" || len(r.Links) > 0 {
		add("\x00folder") // no name of a variable
		add(r.Workdir)
		for _, path := range slices.Sorted(maps.Keys(r.Links)) {
			add(path)
			add(r.Links[path])
		}
	}
	if r.Hidden() {
		add("\x00parameters")
		for _, p := range of {
			add(p.Name)
			add(p.Value)
			add(string(p.Kind))
		}
	}
	if r.File != nil {
		add("\x00file")
		add(r.File.From)
		add(r.File.To)
	}
	sum := sha256.Sum256(h)
	return Key(sum[:16])
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
