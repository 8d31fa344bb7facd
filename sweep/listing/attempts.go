package listing

import (
	"slices"

	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// attempts lists what is known of a task's attempts, one entry for each number: those that the task
// left behind, and its newest. Of one that was lost and told its end too late, the end is shown,
// with the reason why it does not count.
func attempts(old []core.Attempt, newest core.Attempt) (all []core.Attempt) {
	if newest.Outcome != nil || !newest.Started.IsZero() {
		old = append(slices.Clone(old), newest)
	}
	for _, t := range old {
		i := slices.IndexFunc(all, func(have core.Attempt) bool { return have.Number == t.Number })
		if i < 0 {
			all = append(all, t)
		} else {
			all[i] = merged(all[i], t)
		}
	}
	return all
}

// merged is one attempt of which there are two records.
func merged(a, b core.Attempt) core.Attempt {
	if a.Superseded {
		a, b = b, a
	}
	// it never began
	stopped := b.Outcome != nil && b.Outcome.Class == task.Stopped && a.Started.IsZero()
	if !b.Superseded || stopped || a.Outcome == nil || b.Outcome == nil ||
		a.Outcome.Class != task.Loss {
		return a
	}
	late := *b.Outcome
	late.Reason = a.Outcome.Reason
	if b.Outcome.Reason != "" {
		late.Reason += "; " + b.Outcome.Reason
	}
	a.Outcome, a.Superseded = &late, true
	return a
}

func newAttempt(t core.Attempt) api.Attempt {
	a := api.Attempt{Attempt: t.Number, Worker: t.Worker, Revision: t.Revision,
		Superseded: t.Superseded}
	if !t.Started.IsZero() {
		a.Host, a.Slot, a.Started, a.Resumed = &t.Start.Host, &t.Start.Slot, &t.Started,
			t.Start.Resumed
		a.GPUs = t.Devices
	}
	if o := t.Outcome; o != nil {
		seconds := o.Duration.Seconds()
		a.Class, a.ExitCode, a.Duration, a.Metrics, a.Stdout, a.Stderr = &o.Class, o.ExitCode,
			&seconds, o.Metrics, &o.Stdout, &o.Stderr
		a.Unmeasured, a.Thinned = o.Unmeasured, o.Thinned
		a.Infinite, a.Steps, a.Positions = o.Metrics.Infinite(), o.Metrics.Steps(),
			o.Metrics.Positions()
		a.ValueAttempts = o.Metrics.Attempts()
		if o.Reason != "" {
			a.Reason = &o.Reason
		}
		if o.Frame != "" {
			a.Frame = &o.Frame
		}
	}
	return a
}
