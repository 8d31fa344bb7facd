package core_test

import (
	"fmt"
	"maps"
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// history is what really happened in a world, written down beside the ledger, and the checker of what is promised: the
// numbers in its messages are those of failure.md.
type history struct {
	rules   core.Retry
	starts  map[int64]int
	excuses map[int64]int            // reasons to start a task again
	ends    map[ended][]task.Outcome // more than one when a worker died, came back and got a delivery again
	holder  map[attempt]string       // who was handed an attempt, as committed
	handed  map[attempt]string       // in the step that is not committed yet
	gone    map[int64]bool           // tasks that a person cancelled
	asked   map[int64]bool           // the same, not committed yet; false: retried
	wrong   error

	maxFails int64
}

type ended struct {
	worker string
	attempt
}

func newHistory(r core.Record) history {
	return history{rules: r.Retry, starts: map[int64]int{}, excuses: map[int64]int{}, ends: map[ended][]task.Outcome{},
		holder: map[attempt]string{}, handed: map[attempt]string{}, gone: map[int64]bool{}, asked: map[int64]bool{}}
}

func (h *history) started(index int64) { h.starts[index]++ }
func (h *history) excuse(index int64)  { h.excuses[index]++ }

func (h *history) ended(worker string, a attempt, o *task.Outcome) {
	h.ends[ended{worker, a}] = append(h.ends[ended{worker, a}], *o)
	if o.Class != task.Success && o.Class != task.Stopped {
		h.excuse(a.index)
	}
}

func (h *history) cancelled(index int64) { h.asked[index] = true }
func (h *history) retried(index int64)   { h.asked[index] = false; h.excuse(index) }

// placed notes whom the master hands attempts. No attempt is handed out twice.
func (h *history) placed(worker string, tasks []core.Task) {
	for _, t := range tasks {
		a := attempt{t.Index, t.Try.Number}
		if other, have := h.holder[a]; have {
			h.wrong = fmt.Errorf("2: attempt %d of task %d goes to %s, which %s had", a.number, a.index, worker, other)
		}
		cancelled := h.gone[a.index]
		if asked, fresh := h.asked[a.index]; fresh {
			cancelled = asked
		}
		if cancelled {
			h.wrong = fmt.Errorf("7: task %d was cancelled and is handed out", a.index)
		}
		h.handed[a] = worker
	}
}

// failing checks that what is handed out cannot take a sweep far beyond its max-failures.
func (h *history) failing(head core.Head, slots int64) {
	failed := head.Counts().Failures() - head.Forgiven
	out := head.Rows[task.Queued] + head.Rows[task.Claimed] + head.Rows[task.Running]
	if h.maxFails > 0 && out > slots && failed+out > h.maxFails {
		h.wrong = fmt.Errorf("max-failures: %d failed and %d are handed out, with %d slots and %d allowed", failed, out, slots, h.maxFails)
	}
}

// commit notes that what the master did in this step is on disk; abort, that nothing of it is.
func (h *history) commit() {
	maps.Copy(h.holder, h.handed)
	maps.Copy(h.gone, h.asked)
	h.abort()
}

func (h *history) abort() {
	clear(h.handed)
	clear(h.asked)
}

// check compares the end of a sweep with what happened.
func (h *history) check(m *model) error {
	if h.wrong != nil {
		return h.wrong
	}
	for n := range m.head.Total {
		index := m.record.Ranges.At(n)
		row, have := m.rows[index]
		switch {
		case !have && !m.head.Cut, have && !row.State.Terminal():
			return fmt.Errorf("1: task %d has not ended: %+v", index, row)
		case h.gone[index] && have && row.State != task.Cancelled:
			return fmt.Errorf("7: task %d was cancelled and is %v", index, row.State)
		case row.Charged.Error > h.rules.Error || row.Charged.Timeout > h.rules.Timeout || row.Charged.OOM > h.rules.OOM || row.Charged.Lost > h.rules.Lost:
			return fmt.Errorf("3: task %d was forgiven %+v, and the rules are %+v", index, row.Charged, h.rules)
		case h.starts[index] > 1+h.excuses[index]:
			return fmt.Errorf("3: task %d started %d times with %d reasons for another", index, h.starts[index], h.excuses[index])
		}
		if have {
			if err := h.counted(m, row); err != nil {
				return err
			}
		}
	}
	return nil
}

// counted checks the one result of a task that counts: it is of the newest attempt, and what its worker reported.
func (h *history) counted(m *model, t core.Task) error {
	numbers, listed := []int{t.Try.Number}, map[int]bool{}
	if t.Try.Outcome != nil || !t.Try.Started.IsZero() {
		listed[t.Try.Number] = true
	}
	for key, old := range m.tries {
		if key.index == t.Index {
			listed[key.number] = true
		}
		if key.index == t.Index && !key.superseded {
			numbers = append(numbers, key.number)
			if err := h.reported(t.Index, old); err != nil {
				return err
			}
		}
	}
	if len(listed) != t.Tries {
		return fmt.Errorf("2: task %d has %d attempts, and %d are listed", t.Index, t.Tries, len(listed))
	}
	if slices.Max(numbers) != t.Try.Number {
		return fmt.Errorf("2: the result of task %d is of attempt %d, and there was attempt %d", t.Index, t.Try.Number, slices.Max(numbers))
	}
	if t.State != task.Cancelled && t.State != task.Pending && t.Try.Outcome == nil {
		return fmt.Errorf("2: task %d is %v without a result", t.Index, t.State)
	}
	return h.reported(t.Index, t.Try)
}

// reported checks that an outcome is what the worker of the attempt reported. Lost ones the master may declare.
func (h *history) reported(index int64, t core.Try) error {
	if t.Outcome == nil || t.Outcome.Class == task.Loss {
		return nil
	}
	same := func(o task.Outcome) bool { return o.Class == t.Outcome.Class && o.Duration == t.Outcome.Duration }
	if !slices.ContainsFunc(h.ends[ended{t.Worker, attempt{index, t.Number}}], same) {
		return fmt.Errorf("2: task %d has a result of attempt %d that %s did not report: %+v", index, t.Number, t.Worker, *t.Outcome)
	}
	return nil
}
