// What cannot be read in the store is left alone, and the rest goes on.

package master

import (
	"context"
	"errors"
	"fmt"

	"mlframework/sweep/core"
	"mlframework/sweep/store"
	"mlframework/sweep/task"
)

// damage notes that a sweep cannot go on. It is left alone until the master is started again.
func (m *Master) damage(d *store.DamagedSweep) {
	if m.damaged[d.ID] != nil {
		return
	}
	m.damaged[d.ID] = d
	m.notices.damage(d.ID, d)
	m.o.Log.Error("a sweep is damaged; the others run", "sweep", d.ID, "error", d)
}

// damageTask notes that a task cannot be read that has ended. Its sweep goes on.
func (m *Master) damageTask(d *store.DamagedTask) {
	if m.notices.damage(d.Task.String(), d) {
		m.o.Log.Error("a task is damaged; its sweep goes on", "task", d.Task, "error", d)
	}
}

// hold keeps what workers told of damaged sweeps, before it is acknowledged.
func (m *Master) hold(events []task.Event) error {
	if len(events) == 0 {
		return nil
	}
	dropped, err := m.o.Store.HoldEvents(events)
	if err != nil {
		return fmt.Errorf("keep events of damaged sweeps: %w", err)
	}
	for _, e := range dropped {
		if !m.notHeld[e.Sweep] {
			m.notHeld[e.Sweep] = true
			m.o.Log.Error(
				"too many events of a damaged sweep: further ones are dropped, and their "+
					"tasks run again once it is repaired", "sweep", e.Sweep)
		}
	}
	return nil
}

// maxReplayed is how many held events are decided in one step.
const maxReplayed = 1000

// replayHeld decides what workers told of sweeps that were damaged then and are repaired now. What
// they told of a sweep that is not in the store is kept, as the store that has it may come back.
func (m *Master) replayHeld(ctx context.Context) error {
	sweeps, err := m.o.Store.Held()
	if err != nil {
		return err
	}
	for _, id := range sweeps {
		if stored, err := m.sweeps.HasSweep(ctx, id); err != nil {
			return err
		} else if !stored {
			m.o.Log.Warn("events of a sweep are kept that is not in this store: "+
				"if it does not come back, remove the file", "sweep", id,
				"file", m.o.Store.HeldFile(id))
			continue
		}
		if damaged, err := m.isDamaged(ctx, id); err != nil {
			return err
		} else if damaged {
			continue
		}
		in, n := core.Input{OnlyInput: true}, 0
		for e, err := range m.o.Store.HeldEvents(id) {
			if err != nil {
				return fmt.Errorf("read kept events of %s: %w", id, err)
			}
			in.Events, n = append(in.Events, core.Event{Event: e}), n+1
			if len(in.Events) < maxReplayed {
				continue
			}
			if _, err := m.step(ctx, in); err != nil {
				return err
			}
			in.Events = nil
		}
		if _, err := m.step(ctx, in); err != nil {
			return err
		}
		if err := m.o.Store.DropHeld(id); err != nil {
			return err
		}
		m.o.Log.Info("a sweep was repaired: the events that workers sent meanwhile are applied",
			"sweep", id, "events", n)
	}
	return nil
}

// isDamaged reports whether a sweep is to be left alone, also one that has ended.
func (m *Master) isDamaged(ctx context.Context, id string) (bool, error) {
	if m.damaged[id] != nil {
		return true, nil
	}
	_, err := m.add(ctx, id)
	if d, ok := errors.AsType[*store.DamagedSweep](err); ok {
		m.damage(d)
		m.core.Damage(id)
		return true, nil
	}
	return false, err
}
