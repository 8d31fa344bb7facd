package core

import (
	"cmp"
	"errors"
	"fmt"
	"strings"

	"mlframework/sweep/task"
)

// WrongState says that a sweep, task or worker cannot do now what was asked.
type WrongState struct {
	ID     string
	Verb   string // "": is
	Is     string // "finished", "running"
	Remedy string
}

// TaskInState says that a task cannot do what was asked in its state.
func TaskInState(id task.ID, s task.State, remedy string) *WrongState {
	verb, is, _ := strings.Cut(s.Predicate(), " ")
	return &WrongState{id.String(), verb, is, remedy}
}

// Cause is the error without its remedy.
func (e *WrongState) Cause() string { return e.ID + " " + cmp.Or(e.Verb, "is") + " " + e.Is }

func (e *WrongState) Error() string {
	text := e.Cause()
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

// UnknownWorker says that there is no such worker.
type UnknownWorker struct{ Name string }

func (e *UnknownWorker) Error() string { return "there is no worker " + e.Name }

// NoWorker says that a sweep has to run on every worker, and there is none, or none that has what
// its tasks need.
type NoWorker struct {
	Definition string
	Needs      task.Needs
}

func (e *NoWorker) Error() string {
	with := ""
	if !e.Needs.None() {
		with = " with " + NeedsText(e.Needs)
	}
	return e.Definition + " runs once on every worker" + with +
		", and there is none: start workers first"
}

// WorkerUnreachable says that what a task printed cannot be read now, as its worker is not there.
type WorkerUnreachable struct {
	Worker, Why string
	// Expected says that the worker is known and has not been heard of since the core was loaded:
	// its next heartbeat may be on its way.
	Expected bool
}

func (e *WorkerUnreachable) Error() string {
	return fmt.Sprintf("the output is on worker %s, which is away: %s", e.Worker, e.Why)
}

// NoSecrets says that a sweep cannot start or resume because values of its secrets are missing, or
// other values came.
type NoSecrets struct {
	Sweep string // or definition
	Names []string
	Why   string
	Gone  bool // they were here: they go when a sweep ends, or is paused for long
}

func (e *NoSecrets) Error() string {
	if len(e.Names) == 0 {
		return e.Sweep + " names no secrets: " + e.Why
	}
	return fmt.Sprintf("%s names secrets (%s): %s", e.Sweep, strings.Join(e.Names, ", "), e.Why)
}

// ErrNotifyCommand is that a sweep's Notify is a command, where the master has no programs.
var ErrNotifyCommand = errors.New("notify: a master of workers runs no command; use url")

// ErrEnviron is that an environment came with a sweep, and its workers are not of this process.
var ErrEnviron = errors.New("tasks inherit the environment of their workers")

func (a *activeSweep) unknown(index int64) error {
	return &UnknownTask{Sweep: a.id(), Index: fmt.Sprint(index), Total: a.ledger.head.Total}
}

func finished(h Head) error {
	e := &WrongState{ID: h.ID, Is: "finished"}
	if c := h.Counts(); c[task.Succeeded] < h.Total {
		e.Remedy = "`run-tasks retry " + h.ID + "` runs again what did not succeed"
	}
	return e
}

// resumeHint tells how a sweep that is paused goes on; "" for others.
func resumeHint(h Head) string {
	if h.State != Paused {
		return ""
	}
	return "`run-tasks resume " + h.ID + "` runs those that did not end"
}
