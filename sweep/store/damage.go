package store

import (
	"errors"
	"fmt"

	"mlframework/sweep/task"
)

// DamagedSweep is a sweep that cannot go on: its record, its counts or the row of one of its tasks
// that have not ended cannot be read.
type DamagedSweep struct {
	ID  string
	Err error
}

func (e *DamagedSweep) Error() string {
	return fmt.Sprintf("%s is damaged in %s and cannot go on: %v; "+
		"restore the file from a backup, and start the master again", e.ID, File, e.Err)
}

func (e *DamagedSweep) Unwrap() error { return e.Err }

// DamagedTask is a task whose row, or that of one of its earlier attempts, cannot be read.
type DamagedTask struct {
	Task task.ID
	Err  error
}

func (e *DamagedTask) Error() string {
	return fmt.Sprintf("task %s cannot be read in %s: %v; restore the file from a backup",
		e.Task, File, e.Err)
}

func (e *DamagedTask) Unwrap() error { return e.Err }

// damagedTask says of which task of a sweep a row could not be decoded; nil for nil.
func (s *Sweep) damagedTask(index int64, err error) error {
	if err == nil {
		return nil
	}
	return &DamagedTask{task.ID{Sweep: s.Head.ID, Index: index}, err}
}

// damagedSweep says that a sweep cannot go on for a task that cannot be read.
func (s *Sweep) damagedSweep(err error) error {
	if d, damaged := errors.AsType[*DamagedTask](err); damaged {
		return &DamagedSweep{s.Head.ID,
			fmt.Errorf("task %d cannot be read: %w", d.Task.Index, d.Err)}
	}
	return err
}
