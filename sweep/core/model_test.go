package core_test

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/google/go-cmp/cmp"

	"mlframework/sweep/core"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// model is a store in memory: what the changes of a ledger leave behind, by the rules of package
// store.
type model struct {
	record core.Record
	head   core.Head
	rows   map[int64]core.Task
	tries  map[tryKey]core.Attempt
}

type tryKey struct {
	index      int64
	number     int
	superseded bool
}

// newModel has a sweep of total tasks. Tests of transitions do not care about points: they give no
// space.
func newModel(r core.Record, total int64) *model {
	if r.Space == nil {
		r.Space = new(space.Space)
	}
	return &model{
		record: r, head: core.Head{ID: "train-1", State: core.Open, Total: total},
		rows: map[int64]core.Task{}, tries: map[tryKey]core.Attempt{},
	}
}

// keep writes changes as the store does.
func (m *model) keep(c core.Changes) {
	for _, t := range c.Tasks {
		m.rows[t.Index] = t
	}
	for _, t := range c.OldAttempts {
		key := tryKey{t.Index, t.Attempt.Number, t.Attempt.Superseded}
		_, have := m.tries[key]
		if !have && (!t.Attempt.Superseded || m.listed(t) && !m.counted(t)) {
			m.tries[key] = t.Attempt
		}
	}
	for _, t := range c.LateStarts {
		key := tryKey{t.Index, t.Attempt.Number, false}
		if have, ok := m.tries[key]; ok && have.Worker == t.Attempt.Worker &&
			have.Started.IsZero() {
			have.Start, have.Started = t.Attempt.Start, t.Attempt.Started
			m.tries[key] = have
		}
	}
	if c.Head.ID != "" {
		m.head = c.Head
	}
}

// listed reports whether an attempt is one that its task lists, and that was placed on that worker.
func (m *model) listed(old core.OldAttempt) bool {
	left := m.tries[tryKey{old.Index, old.Attempt.Number, false}]
	newest := m.rows[old.Index].Attempt
	if left.Number > 0 && left.Worker == old.Attempt.Worker {
		return true
	}
	return newest.Number == old.Attempt.Number && newest.Worker == old.Attempt.Worker &&
		(newest.Outcome != nil || !newest.Started.IsZero())
}

// counted tells whether a superseded end is the one that counted, reported again.
func (m *model) counted(old core.OldAttempt) bool {
	same := func(t core.Attempt) bool {
		return t.Outcome != nil && t.Number == old.Attempt.Number &&
			t.Worker == old.Attempt.Worker &&
			t.Outcome.Class == old.Attempt.Outcome.Class &&
			t.Outcome.Duration == old.Attempt.Outcome.Duration
	}
	return same(m.rows[old.Index].Attempt) ||
		same(m.tries[tryKey{old.Index, old.Attempt.Number, false}])
}

// unfinished reads what a ledger needs to go on: the rows that have not ended, and the indexes of
// those beyond the cursor.
func (m *model) unfinished() (open []core.Task, ahead []int64) {
	cursor := m.record.Ranges.At(m.head.Issued)
	for _, i := range slices.Sorted(maps.Keys(m.rows)) {
		if !m.rows[i].State.Terminal() {
			open = append(open, m.rows[i])
		}
		if i >= cursor {
			ahead = append(ahead, i)
		}
	}
	return open, ahead
}

// ledger is what a master that starts now makes of the store.
func (m *model) ledger() *core.Ledger {
	open, ahead := m.unfinished()
	return core.NewLedger(m.record, m.head, open, ahead)
}

// counts says what is wrong with the numbers in the head.
func (m *model) counts() error {
	var rows core.Counts
	for _, t := range m.rows {
		rows[t.State]++
	}
	if rows != m.head.Rows {
		return fmt.Errorf("head counts %v rows, there are %v", m.head.Rows, rows)
	}
	var all int64
	for _, n := range m.head.Counts() {
		all += n
	}
	if all != m.head.Total {
		return fmt.Errorf("counts %v are not %d in all", m.head.Counts(), m.head.Total)
	}
	return nil
}

// check says what is wrong between the store and a ledger that has nothing left to be kept.
func (m *model) check(l *core.Ledger) error {
	if err := m.counts(); err != nil {
		return err
	}
	// cmp.Equal takes ten times as long.
	if running, anew := l.Dump(), m.ledger().Dump(); !reflect.DeepEqual(running, anew) {
		return fmt.Errorf("a ledger made anew from the store differs (-running +anew):\n%s",
			cmp.Diff(running, anew))
	}
	return nil
}

// at is a moment, in seconds after the submission.
func at(seconds float64) time.Time {
	submitted := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	return submitted.Add(time.Duration(seconds * float64(time.Second)))
}

// bed holds one ledger with its store, for tests that go step by step.
type bed struct {
	*core.Ledger
	store *model
	last  core.Changes
}

func newBed(r core.Record, total int64) *bed {
	b := &bed{store: newModel(r, total)}
	b.Ledger = b.store.ledger()
	return b
}

// keep commits what the last steps changed.
func (b *bed) keep() core.Changes {
	b.last = b.TakeChanges()
	b.store.keep(b.last)
	return b.last
}

// event reports something about the newest attempt of a task.
func (b *bed) event(kind task.EventKind, index int64, outcome *task.Outcome) {
	b.keep()
	try := b.store.rows[index].Attempt
	worker := try.Worker
	if worker == "" {
		worker = "w"
	}
	b.Event(&task.Event{Kind: kind, Worker: worker, Index: index, Attempt: try.Number, Time: at(1),
		Outcome: outcome}, at(1))
	b.keep()
}

func (b *bed) end(index int64, class task.Class) {
	b.event(task.EndedEvent, index, &task.Outcome{Class: class, Duration: time.Second})
}

// Place returns copies of what the ledger placed.
func (b *bed) Place(o core.Offer, now time.Time) (placed []core.Task) {
	for _, t := range b.Ledger.Place(o, now) {
		placed = append(placed, *t)
	}
	return placed
}

func (b *bed) place(n int, worker string) []core.Task {
	placed := b.Place(core.Offer{Worker: worker, Tasks: n, Empty: true,
		Fitting: n}, at(0))
	b.keep()
	return placed
}

// bring takes task 0 of a new bed to a state, with one attempt that worker w had.
func (b *bed) bring(to task.State) {
	b.place(1, "w")
	steps := []func(){
		func() { b.event(task.ClaimedEvent, 0, nil) },
		func() { b.event(task.StartedEvent, 0, nil) },
	}
	classes := map[task.State]task.Class{task.Succeeded: task.Success, task.Failed: task.Error,
		task.Timeout: task.TimedOut, task.OOM: task.OutOfMemory, task.Lost: task.Loss}
	switch {
	case to == task.Pending:
		b.event(task.ReturnedEvent, 0, nil)
		return
	case to == task.Cancelled:
		b.CancelTask(0, "", at(0))
		b.event(task.ReturnedEvent, 0, nil)
		return
	case to.Active():
		steps = steps[:to-task.Queued]
	}
	for _, step := range steps {
		step()
	}
	if class, ended := classes[to]; ended {
		b.end(0, class)
	}
}
