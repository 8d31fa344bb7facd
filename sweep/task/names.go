package task

import "regexp"

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
