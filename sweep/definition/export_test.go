package definition

import (
	"errors"
	"regexp"

	"mlframework/sweep/fault"
)

// Read reads the text of a tasks.yml, whose project is not known.
func Read(file string, data []byte, reserved []string) (*File, fault.List, error) {
	return read(file, data, "", reserved)
}

// Keys returns the keys that the reader knows, by the path of the mapping they stand in.
func Keys() map[string][]string {
	return map[string][]string{
		"":          names(fileKeys()),
		"container": names(containerKeys()),
		"task":      names(taskKeys()),
		"retry":     names(retryKeys()),
		"gpus":      names(gpusKeys()),
		"idle":      names(idleKeys()),
		"notify":    names(notifyKeys()),
	}
}

// OwnVariables returns the names that the worker sets.
func OwnVariables() []string { return ownVariables }

// CommandExample returns the list that is suggested for a command written as text.
func CommandExample(line string) string { return commandExample(line) }

// CompilePattern returns a compiled pattern and the index of the group that holds the number.
func CompilePattern(pattern string) (*regexp.Regexp, int, error) {
	expression, group, wrong := compilePattern(pattern)
	if wrong != nil {
		return nil, 0, errors.New(wrong.problem + "; " + wrong.remedy)
	}
	return expression, group, nil
}
