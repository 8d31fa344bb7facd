package master

import (
	"context"

	"mlframework/sweep/task"
)

// restart is what a person asked of one process of a worker: to end, so that its supervisor starts another. It does not
// outlive the master; a worker that has heard it goes on by itself.
type restart struct {
	incarnation string // of the process; "": nothing was asked
	now         bool   // it stops what runs
}

// Restart lets a worker's process end, so that what supervises it starts it again: it gives back what has not begun, and
// finishes what runs; with now that is stopped, too, and goes back to pending, uncharged. The process that comes takes
// tasks, unless a person drained the worker.
func (m *Master) Restart(ctx context.Context, worker string, now bool) (Worker, error) {
	return m.change(ctx, worker, func(w *member) error {
		if err := m.restartable(w); err != nil {
			return err
		}
		if w.restart.incarnation != w.beat.Incarnation {
			w.restart = restart{incarnation: w.beat.Incarnation}
		}
		w.restart.now = w.restart.now || now
		m.tellRestart(w)
		return nil
	})
}

// restartable refuses workers without a process that could be asked.
func (m *Master) restartable(w *member) error {
	switch shown := m.shown(w); {
	case m.o.Alone:
		return &WrongState{ID: w.kept.Name, Is: "the worker of a run on this machine, and ends with it", Remedy: "`run-tasks pause --stop` ends the run, `run-tasks resume` goes on"}
	case shown.State == WorkerAway || shown.State == WorkerRefused:
		return &WrongState{ID: w.kept.Name, Is: shown.State, Remedy: "only a worker that is there can be asked to start again: start it on its host"}
	}
	return nil
}

// restarting tells whether the process that speaks was asked to end.
func (w *member) restarting() bool {
	return w.beat.Leaving || w.restart.incarnation != "" && w.restart.incarnation == w.beat.Incarnation
}

func (m *Master) tellRestart(w *member) {
	m.post.tell(w.kept.Name, task.Control{Kind: task.RestartControl, Incarnation: w.restart.incarnation, Now: w.restart.now})
}
