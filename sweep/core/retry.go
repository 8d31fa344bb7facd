package core

import (
	"fmt"
	"time"

	"mlframework/sweep/task"
)

// terminalState returns the state that an outcome leads to which is not retried.
func terminalState(c task.Class) task.State {
	switch c {
	case task.Success:
		return task.Succeeded
	case task.TimedOut:
		return task.Timeout
	case task.OutOfMemory:
		return task.OOM
	case task.Loss:
		return task.Lost
	default:
		return task.Failed
	}
}

// charge charges an end of class c to its rule and reports whether the rule allows a retry.
func (t *Task) charge(c task.Class, rules task.Retry) (retry bool) {
	var used *int
	var allowed int
	switch c {
	case task.Error:
		used, allowed = &t.Charged.Error, rules.Error
	case task.TimedOut:
		used, allowed = &t.Charged.Timeout, rules.Timeout
	case task.OutOfMemory:
		used, allowed = &t.Charged.OOM, rules.OOM
	case task.Loss:
		used, allowed = &t.Charged.Lost, rules.Lost
	default:
		return false
	}
	if *used >= allowed {
		return false
	}
	*used++
	return true
}

// maxUncharged bounds the uncharged attempts of a task that its workers can cause: those that they
// stop without a request, as when they are ended themselves, and those that they claim and do not
// start. A worker that always does so would keep a task forever.
const maxUncharged = 32

// uncharged returns how many of its attempts are charged to no retry rule.
func (t *Task) uncharged() int {
	return t.Attempts - (t.Charged.Error + t.Charged.Timeout + t.Charged.OOM + t.Charged.Lost)
}

// asLost is the outcome of an attempt that its worker stopped once too often.
func (t *Task) asLost(o *task.Outcome) *task.Outcome {
	lost := *o
	lost.Class = task.Loss
	lost.Reason = fmt.Sprintf("its worker %s stopped it, which nobody had asked for, and "+
		"%d attempts of this task were not charged before", t.Attempt.Worker, t.uncharged()-1)
	return &lost
}

// backoff returns how long a task waits before its next attempt: 1, 2, 4 ... 60 seconds with the
// charges so far, so that a program which fails at once does not fill a machine with attempts.
func (t *Task) backoff() time.Duration {
	n := t.Charged.Error + t.Charged.Timeout + t.Charged.OOM + t.Charged.Lost
	return min(time.Second<<min(max(n-1, 0), 6), time.Minute)
}
