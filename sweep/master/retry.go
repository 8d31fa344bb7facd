package master

import (
	"context"
	"slices"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// Retry makes tasks pending again that ended other than well: those of indexes, or all. Updated moves the sweep to
// another revision. It returns how many tasks it took.
func (m *Master) Retry(ctx context.Context, id string, indexes []int64, updated Code) (taken int64, err error) {
	_, err = m.alter(ctx, id, func(a *active) error {
		all := len(indexes) == 0
		ended, err := m.ended(ctx, a, indexes)
		if err != nil {
			return err
		}
		if len(ended) == 0 && !(all && a.cut()) {
			return &WrongState{ID: a.stored.Head.ID, Is: "without a task to retry: only tasks that failed or were cancelled run again"}
		}
		if err := m.supply(a, updated.Secrets); err != nil {
			return err
		}
		if err := m.revise(ctx, a, updated); err != nil {
			return err
		}
		m.queueUp(a)
		taken = a.ledger.Reopen(ended, all)
		return nil
	})
	return taken, err
}

// cut tells whether tasks were cancelled with the sweep before they were ever handed out.
func (a *active) cut() bool {
	h := a.ledger.Head()
	return h.Counts()[task.Cancelled] > h.Rows[task.Cancelled]
}

// ended reads the rows of tasks that could run again.
func (m *Master) ended(ctx context.Context, a *active, indexes []int64) (ended []core.Task, err error) {
	for _, i := range indexes {
		t, err := m.endedTask(ctx, a, i)
		if err != nil {
			return nil, err
		}
		ended = append(ended, t)
	}
	if len(indexes) > 0 {
		return ended, nil
	}
	bad := slices.DeleteFunc(slices.Clone(task.States), func(s task.State) bool { return !again(s) })
	for t, err := range m.o.Store.Tasks(ctx, a.stored, store.Query{States: bad}) {
		if err != nil {
			return nil, err
		}
		ended = append(ended, t)
	}
	return ended, nil
}

func again(s task.State) bool { return s.Terminal() && s != task.Succeeded }

func (m *Master) endedTask(ctx context.Context, a *active, index int64) (core.Task, error) {
	if !a.has(index) {
		return core.Task{}, a.unknown(index)
	}
	t, ok, err := m.task(ctx, a, index)
	if err != nil || ok && again(t.State) {
		return t, err
	}
	wrong := &WrongState{ID: task.ID{Sweep: a.stored.Head.ID, Index: index}.String(), Is: t.State.String()}
	if again(t.State) {
		wrong.Is, wrong.Remedy = "cancelled with its sweep", "`run-tasks retry "+a.stored.Head.ID+"` runs all that was"
	}
	return t, wrong
}
