package core

import (
	"slices"

	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Changes is what steps of a ledger ask of the world, in the order in which it must happen: the
// store keeps the rows, and then the workers get Controls.
type Changes struct {
	Head        Head
	Tasks       []Task
	OldAttempts []OldAttempt // attempts that are no longer the newest of their task
	LateStarts  []OldAttempt // Start and Started of attempts that were lost before they were known
	Samples     []Samples
	Controls    []Order
}

// OldAttempt is an attempt that its task has left behind.
type OldAttempt struct {
	Index   int64
	Attempt Attempt
}

// Samples is metrics seen of one attempt.
type Samples struct {
	Index   int64
	Attempt int
	Points  []metric.Sample
}

// Order is a control message for one worker.
type Order struct {
	Worker  string
	Control task.Control
}

// Empty reports whether nothing has to be done.
func (c *Changes) Empty() bool {
	n := len(c.Tasks) + len(c.OldAttempts) + len(c.LateStarts) + len(c.Samples) + len(c.Controls)
	return n == 0 && c.Head.ID == ""
}

// TakeChanges returns what has to be done since the last call, and forgets it: of each row only its
// newest form. Head is zero when it did not change.
func (l *Ledger) TakeChanges() Changes {
	c := l.changes
	c.Tasks = newest(l.touched)
	if l.changed {
		c.Head = l.head
	}
	clear(l.touched)
	l.changes, l.changed, l.touched = Changes{}, false, l.touched[:0]
	return c
}

// newest returns the rows that were touched, each once, in the order in which they last were.
func newest(touched []*Task) []Task {
	if len(touched) == 0 {
		return nil
	}
	rows := make([]Task, 0, len(touched))
	seen := make(map[int64]struct{}, len(touched))
	for _, t := range slices.Backward(touched) {
		if _, again := seen[t.Index]; !again {
			seen[t.Index] = struct{}{}
			rows = append(rows, *t)
		}
	}
	slices.Reverse(rows)
	return rows
}

// touch notes that a row, and with it the head, must be kept.
func (l *Ledger) touch(t *Task) {
	l.touchRow(t)
	l.changed = true
}

// touchRow notes that a row must be kept.
func (l *Ledger) touchRow(t *Task) {
	if last := len(l.touched) - 1; last < 0 || l.touched[last] != t {
		l.touched = append(l.touched, t)
	}
}

// Measure keeps other metrics of a task that has ended.
func (l *Ledger) Measure(t Task) { l.touchRow(&t) }

func (l *Ledger) sendControl(worker string, c task.Control) {
	c.Version, c.Sweep = task.Version, l.head.ID
	l.changes.Controls = append(l.changes.Controls, Order{worker, c})
}
