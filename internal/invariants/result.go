package invariants

import (
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// ends is which ends of an attempt lead to which state.
var ends = map[task.State]task.Class{
	task.Succeeded: task.Success, task.Failed: task.Error, task.Timeout: task.TimedOut,
	task.OOM: task.OutOfMemory, task.Lost: task.Loss,
}

// result checks the one result that counts, and that no other does.
func (c *checker) result(id task.ID, row core.Task, attempts []core.Attempt) {
	o := row.Attempt.Outcome
	if want, decided := ends[row.State]; decided {
		switch {
		case o == nil:
			c.report(2, id.String(), "is %v without a result", row.State)
		case o.Class != want:
			c.report(2, id.String(), "is %v, and its result is %q", row.State, o.Class)
		}
	}
	if row.Attempt.Superseded {
		c.report(2, id.String(), "has a superseded attempt in its row")
	}
	for _, t := range attempts {
		// What was cancelled while it waited for another attempt has its last one in both places.
		again := t.Number == row.Attempt.Number && !t.Superseded && row.State != task.Cancelled &&
			row.State.Terminal()
		switch {
		case t.Number > row.Attempt.Number:
			c.report(2, id.String(), "counts attempt %d, and has a result of attempt %d",
				row.Attempt.Number, t.Number)
		case again:
			c.report(2, id.String(), "counts attempt %d, which it has left behind", t.Number)
		case t.Outcome == nil:
			c.report(2, id.String(), "left attempt %d behind, which has not ended", t.Number)
		case t.Outcome.Class == task.Success && !t.Superseded && !c.wasCancelled(id):
			c.report(2, id.String(), "went on after attempt %d, which succeeded", t.Number)
		}
	}
}

// begun checks that the store has every attempt that began, as far as it knows.
func (c *checker) begun(id task.ID, row core.Task, counted []core.Attempt) {
	numbers := map[int]bool{}
	for _, t := range append(counted, row.Attempt) {
		if !t.Started.IsZero() || t.Outcome != nil {
			numbers[t.Number] = true
		}
	}
	if len(numbers) != row.Attempts {
		c.report(2, id.String(), "has %d attempts by its row, and the store lists %d", row.Attempts,
			len(numbers))
	}
}

// output compares what attempts printed with what is kept of it. What its worker did not end,
// nobody could complete.
func (c *checker) output(id task.ID, row core.Task, counted []core.Attempt) {
	if c.e.Output == nil {
		return
	}
	seen := map[int]bool{}
	for _, t := range append(counted, row.Attempt) {
		if t.Started.IsZero() || t.Outcome == nil || t.Outcome.Class == task.Loss ||
			seen[t.Number] {
			continue
		}
		seen[t.Number] = true
		stdout, stderr, err := c.e.Output(id, t)
		if err != nil {
			c.report(6, id.String(), "has no output of attempt %d: %v", t.Number, err)
			continue
		}
		c.kept(id, t.Number, "stdout", t.Outcome.Stdout, stdout)
		c.kept(id, t.Number, "stderr", t.Outcome.Stderr, stderr)
	}
}

func (c *checker) kept(id task.ID, attempt int, stream string, told task.Output, kept int64) {
	switch {
	case kept < told.Bytes, kept > told.Bytes && !told.Truncated:
		// what was cut has a mark behind it
		c.report(6, id.String(), "has %d bytes of %s of attempt %d, it is told, and %d are kept",
			told.Bytes, stream, attempt, kept)
	case told.Printed > told.Bytes && !told.Truncated:
		c.report(6, id.String(),
			"printed %d bytes on %s in attempt %d, and %d are kept, without a mark", told.Printed,
			stream, attempt, kept)
	}
}

// cancelled checks a task of what was cancelled: only what had ended by then has another state.
func (c *checker) cancelled(id task.ID, row core.Task, cancel Cancel) {
	if !cancel.Until.IsZero() {
		return
	}
	if row.State != task.Cancelled {
		ended := row.Attempt.Started
		if o := row.Attempt.Outcome; o != nil {
			ended = ended.Add(o.Duration)
		}
		if cancel.Index != Whole || ended.After(cancel.At) {
			c.report(7, id.String(), "was cancelled and is %v: attempt %d ended %v after that",
				row.State, row.Attempt.Number, ended.Sub(cancel.At))
		}
	}
	for _, s := range c.starts[id] {
		if !cancel.Quiet.IsZero() && s.Time.After(cancel.Quiet) {
			c.report(7, id.String(), "was cancelled and began attempt %d on %s %v after that",
				s.Attempt, s.Worker, s.Time.Sub(cancel.At))
		}
	}
}

func (c *checker) wasCancelled(id task.ID) bool {
	for _, cancel := range c.e.Cancelled {
		if cancel.Sweep == id.Sweep && (cancel.Index == Whole || cancel.Index == id.Index) {
			return true
		}
	}
	return false
}
