package api

import (
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// attempts lists what is known of a task's attempts, one entry for each number: those that the task left behind, and its
// newest. Of one that was lost and told its end too late, the end is shown, with the reason why it does not count.
func attempts(old []core.Try, newest core.Try) (all []core.Try) {
	if newest.Outcome != nil || !newest.Started.IsZero() {
		old = append(slices.Clone(old), newest)
	}
	for _, t := range old {
		i := slices.IndexFunc(all, func(have core.Try) bool { return have.Number == t.Number })
		if i < 0 {
			all = append(all, t)
		} else {
			all[i] = merged(all[i], t)
		}
	}
	return all
}

// merged is one attempt of which there are two records.
func merged(a, b core.Try) core.Try {
	if a.Superseded {
		a, b = b, a
	}
	stopped := b.Outcome != nil && b.Outcome.Class == task.Stopped && a.Started.IsZero() // it never began
	if !b.Superseded || stopped || a.Outcome == nil || b.Outcome == nil || a.Outcome.Class != task.Loss {
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
