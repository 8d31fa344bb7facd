package monitor

import (
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// outcome is how a sweep stands in words, and the state whose colour it has.
type outcome struct{ Text, Tone string }

// outcomeOf returns how a sweep stands: a sweep that has finished with failures does not look like
// one that has finished well.
func outcomeOf(s core.Summary) outcome {
	o := outcome{string(s.State), string(s.State)}
	if s.State == core.Open && s.Waits != nil && s.Counts[task.Running.String()] == 0 {
		o = outcome{"waiting", "waiting"}
	}
	if n := failedTasks(s); n > 0 {
		o = outcome{o.Text + ", " + count(n) + " failed", task.Failed.String()}
	}
	return o
}

// failedTasks counts the tasks of a sweep that failed, in whatever way.
func failedTasks(s core.Summary) (n int64) {
	for _, state := range task.States {
		if state.Failure() {
			n += s.Counts[state.String()]
		}
	}
	return n
}
