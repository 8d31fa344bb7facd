package task

import (
	"errors"
	"slices"
	"strings"
)

// Ends of a sweep after which its OnEnd runs.
const (
	OnSuccess = "success" // all tasks have succeeded
	OnFailure = "failure" // a task has not
	OnAlways  = "always"
)

// OnEnds are all of them.
var OnEnds = []string{OnSuccess, OnFailure, OnAlways}

// OnEnd is a command that runs when a sweep has ended, as a sweep of one task.
type OnEnd struct {
	Run []string `json:"run"` // argv; names in braces not yet replaced
	On  string   `json:"on"`  // one of OnEnds
}

// Check returns what is wrong with it.
func (o OnEnd) Check() error {
	switch {
	case len(o.Run) == 0 || o.Run[0] == "":
		return errors.New("there is no command")
	case slices.ContainsFunc(o.Run, func(s string) bool { return strings.ContainsRune(s, 0) }):
		return errors.New("the command holds a zero byte")
	case !slices.Contains(OnEnds, o.On):
		return errors.New("on is not one of " + strings.Join(OnEnds, ", "))
	}
	return nil
}
