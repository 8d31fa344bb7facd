package core

import (
	"mlframework/sweep/metric"
	"mlframework/sweep/task"
)

// Changes is what steps of a ledger ask of the world, in the order in which it must happen: the store keeps Head, Tasks
// and Tries, and then the workers are told.
type Changes struct {
	Head     Head
	Tasks    []Task
	Tries    []OldTry // attempts that are no longer the newest of their task
	Begun    []OldTry // attempts that were lost, and told too late that they had begun: Start and Started
	Samples  []Samples
	Controls []Order
}

// OldTry is an attempt that its task has left behind.
type OldTry struct {
	Index int64
	Try   Try
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

// Empty tells whether nothing has to be done.
func (c Changes) Empty() bool {
	return len(c.Tasks)+len(c.Tries)+len(c.Begun)+len(c.Samples)+len(c.Controls) == 0 && c.Head.ID == ""
}

// Take returns what has to be done since the last call, and forgets it: of each row only its newest form. Head is zero
// when it did not change.
func (l *Ledger) Take() Changes {
	c := l.changes
	if l.changed {
		c.Head = l.head
	}
	l.changes, l.changed = Changes{}, false
	if len(c.Tasks) < 2 {
		return c
	}
	last := make(map[int64]int, len(c.Tasks))
	for i, t := range c.Tasks {
		last[t.Index] = i
	}
	if len(last) < len(c.Tasks) {
		kept := c.Tasks[:0]
		for i, t := range c.Tasks {
			if last[t.Index] == i {
				kept = append(kept, t)
			}
		}
		c.Tasks = kept
	}
	return c
}

// touch notes that a row, and with it the head, must be kept.
func (l *Ledger) touch(t *Task) {
	l.changes.Tasks = append(l.changes.Tasks, *t)
	l.changed = true
}

// Measure keeps other metrics of a task that has ended.
func (l *Ledger) Measure(t Task) { l.changes.Tasks = append(l.changes.Tasks, t) }

func (l *Ledger) tell(worker string, c task.Control) {
	c.Version, c.Sweep = task.Version, l.head.ID
	l.changes.Controls = append(l.changes.Controls, Order{worker, c})
}
