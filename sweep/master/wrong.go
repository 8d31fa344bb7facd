package master

import (
	"fmt"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// WrongState says that a sweep or task cannot do now what was asked.
type WrongState struct {
	ID     string
	Is     string // "finished", "succeeded"
	Remedy string
}

func (e *WrongState) Error() string {
	text := e.ID + " is " + e.Is
	if e.Remedy != "" {
		text += "; " + e.Remedy
	}
	return text
}

// UnknownTask says that a sweep has no such task.
type UnknownTask struct {
	Sweep string
	Index string // as it was asked for, not always a number
	Total int64  // tasks of the sweep; 0: not known
}

func (e *UnknownTask) Error() string {
	text := e.Sweep + " has no task " + e.Index
	if e.Total > 0 {
		text += fmt.Sprintf(": it has %d", e.Total)
	}
	return text
}

func (a *active) unknown(index int64) error {
	return &UnknownTask{Sweep: a.stored.Head.ID, Index: fmt.Sprint(index), Total: a.stored.Head.Total}
}

func finished(h core.Head) error {
	e := &WrongState{ID: h.ID, Is: "finished"}
	if c := h.Counts(); c[task.Succeeded] < h.Total {
		e.Remedy = "`run-tasks retry " + h.ID + "` runs again what did not succeed"
	}
	return e
}
