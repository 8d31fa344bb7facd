package listing

import (
	"context"
	"errors"
	"time"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/failure"
	"mlframework/sweep/store"
	"mlframework/sweep/table"
	"mlframework/sweep/task"
)

// maxFailures is how many failed tasks of all sweeps are looked at; one sweep may have more.
const maxFailures = 200_000

// AllFailures groups the tasks of all sweeps that failed since a time, or with the zero time at any,
// by how their newest attempts ended. It looks at the newest sweeps until these have very many
// failed tasks together.
func (a *Archive) AllFailures(ctx context.Context, since time.Time) (api.AllFailures, error) {
	found, unsearched, err := a.failedSweeps(ctx, since)
	if err != nil {
		return api.AllFailures{}, err
	}
	f, err := api.GroupAllFailures(func(yield func(failure.Failure)) error {
		for _, s := range found {
			if err := a.scanFailures(ctx, s, since, yield); err != nil {
				return err
			}
		}
		return nil
	})
	f.Unsearched = unsearched
	return f, err
}

// failedSweeps returns the newest sweeps that may have tasks that failed since a time, and how many
// more there are, among them those that cannot be read.
func (a *Archive) failedSweeps(ctx context.Context, since time.Time) (found []store.Sweep,
	more int64, err error) {
	looked := int64(0)
	for l, err := range a.Store.NewestFirst(ctx, "") {
		if err == nil && a.Stands != nil {
			err = a.Stands(ctx, &l.Head)
		}
		if err != nil {
			return nil, 0, err
		}
		counts, failed := l.Head.Counts(), int64(0)
		for _, state := range api.FailedStates {
			failed += counts[state]
		}
		switch {
		case failed == 0:
		case l.Damage != "":
			more++
		case !l.Head.Ended.IsZero() && l.Head.Ended.Before(since):
		case looked > 0 && failed > maxFailures-looked:
			more++
		default:
			s, err := a.Stored(ctx, l.Head.ID)
			if _, damaged := errors.AsType[*store.DamagedSweep](err); damaged {
				more++
				continue
			}
			if err != nil {
				return nil, 0, err
			}
			found, looked = append(found, s), looked+failed
		}
	}
	return found, more, nil
}

// scanFailures yields the tasks of a sweep that failed since a time. When a task ended is told by
// the clock of its host.
func (a *Archive) scanFailures(ctx context.Context, s store.Sweep, since time.Time,
	yield func(failure.Failure)) error {
	q := store.TaskQuery{States: api.FailedStates, Fields: failureFields | table.FieldStarted |
		table.FieldDuration}
	return a.Store.Scan(ctx, s, q, func(t *core.Task) bool {
		f := failureOf(t)
		f.Sweep = s.Head.ID
		if f.Time.Before(since) {
			return true
		}
		yield(f)
		return true
	})
}

// failureFields are what failureOf needs, but for the time. The store keeps these columns in memory.
const failureFields = table.FieldState | table.FieldHost | table.FieldReason

// failedClasses are how the newest attempts of tasks in these states ended.
var failedClasses = map[task.State]task.Class{task.Failed: task.Error, task.Timeout: task.TimedOut,
	task.OOM: task.OutOfMemory, task.Lost: task.Loss}

// failureOf returns how the newest attempt of a task ended.
func failureOf(t *core.Task) failure.Failure {
	f := failure.Failure{Class: string(failedClasses[t.State]), Index: t.Index,
		Host: t.Attempt.Start.Host}
	if o := t.Attempt.Outcome; o != nil {
		f.Reason, f.Frame = o.Reason, o.Frame
		if !t.Attempt.Started.IsZero() {
			f.Time = t.Attempt.Started.Add(o.Duration)
		}
	}
	return f
}
