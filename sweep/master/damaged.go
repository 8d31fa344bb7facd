// What cannot be read in the store is refused, and the rest goes on.

package master

import "mlframework/sweep/store"

// damage notes that a sweep cannot go on.
func (m *Master) damage(d *store.DamagedSweep) {
	if m.notices.damage(d.ID, d) {
		m.o.Log.Error("a sweep is damaged; the others run", "sweep", d.ID, "error", d)
	}
}

// damageTask notes that a task cannot be read that has ended. Its sweep goes on.
func (m *Master) damageTask(d *store.DamagedTask) {
	if m.notices.damage(d.Task.String(), d) {
		m.o.Log.Error("a task is damaged; its sweep goes on", "task", d.Task, "error", d)
	}
}
