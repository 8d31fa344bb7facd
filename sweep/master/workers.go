package master

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// The states of a worker.
const (
	WorkerReady       = "ready"
	WorkerDraining    = "draining"    // a person asked it to take nothing new
	WorkerRestarting  = "restarting"  // a person asked it to start again: it finishes what runs, and takes nothing new
	WorkerAway        = "away"        // its lease has ended; what it had was given to others
	WorkerQuarantined = "quarantined" // it failed at once whatever it got; it is tried again later
	WorkerRefused     = "refused"     // its program and the master's do not understand each other
)

// Worker is a worker as people and programs are shown it. Its JSON names are a contract.
type Worker struct {
	Name    string  `json:"name"`
	Host    string  `json:"host"`
	Program string  `json:"program"`     // version
	Image   *string `json:"image"`       // of its container, with the digest; null: it runs in none, or does not say
	Made    *string `json:"environment"` // what its container was made of, in the words of who made it; null: it does not say
	// Unconfined is why tasks can reach what the worker has, though it was to confine them; null: they cannot, or nobody asked for it.
	Unconfined *string     `json:"unconfined"`
	State      string      `json:"state"`
	Reason     *string     `json:"reason"` // of the state
	Slots      int         `json:"slots"`
	Wanted     *int        `json:"wanted_slots"` // what a person asked for; null: what the worker was started with
	Running    []task.Busy `json:"running"`
	Waiting    int         `json:"waiting"` // tasks that it has and has not begun
	Held       int         `json:"held"`    // tasks that it has, or that are on their way to it; unlike the two before as of now, not of its last heartbeat
	Load       *task.Load  `json:"load"`
	Seen       *time.Time  `json:"seen"` // its last heartbeat, UTC; null: none since the master started
}

// UnknownWorker says that there is no such worker.
type UnknownWorker struct{ Name string }

func (e *UnknownWorker) Error() string { return "there is no worker " + e.Name }

// Workers lists the workers by name.
func (m *Master) Workers(ctx context.Context) (all []Worker, err error) {
	err = m.do(ctx, func(context.Context) error {
		for _, name := range m.names() {
			all = append(all, m.shown(m.workers[name]))
		}
		return nil
	})
	return all, err
}

// Drain lets a worker finish what runs and take nothing new; off undoes it. It outlives master and worker.
func (m *Master) Drain(ctx context.Context, worker string, off bool) (Worker, error) {
	return m.change(ctx, worker, func(w *member) error {
		w.kept.Drained, w.beat.Draining = !off, !off // its next heartbeat says how it is
		m.drain(w)
		return nil
	})
}

// Resize changes how many attempts a worker runs at a time; 0 is what it was started with. It outlives master and worker.
func (m *Master) Resize(ctx context.Context, worker string, slots int) (Worker, error) {
	return m.change(ctx, worker, func(w *member) error {
		w.kept.Slots = max(0, slots)
		m.post.tell(worker, task.Control{Kind: task.SlotsControl, Slots: w.kept.Slots})
		return nil
	})
}

func (m *Master) change(ctx context.Context, worker string, f func(*member) error) (shown Worker, err error) {
	err = m.act(ctx, func(context.Context) error {
		w := m.workers[worker]
		if w == nil {
			return &UnknownWorker{worker}
		}
		if err := f(w); err != nil {
			return err
		}
		w.changed = true
		shown = m.shown(w)
		return nil
	})
	return shown, err
}

// Forget drops a worker that is away, and its queue. What it had goes to others.
func (m *Master) Forget(ctx context.Context, worker string) error {
	err := m.act(ctx, func(ctx context.Context) error {
		w := m.workers[worker]
		if w == nil {
			return &UnknownWorker{worker}
		}
		if w.away == "" && !w.seen.IsZero() {
			return &WrongState{ID: worker, Is: m.shown(w).State, Remedy: "stop it first; one that was stopped is away"}
		}
		fate := core.Unknown
		if w.left != "" && w.left == w.kept.Incarnation {
			fate = core.Told
		}
		m.lose(w, "it was forgotten", "its worker "+worker+" was forgotten", fate)
		for _, a := range m.sweeps {
			a.ledger.CancelPinned(worker, m.o.Now())
		}
		delete(m.workers, worker)
		m.senders.forget(worker)
		return m.o.Store.Forget(ctx, worker)
	})
	if err != nil {
		return err
	}
	return m.o.Queue.Remove(ctx, worker)
}

// shown is a worker in words.
func (m *Master) shown(w *member) Worker {
	s := Worker{Name: w.kept.Name, Host: cmp.Or(w.beat.Host, w.kept.Host), Program: cmp.Or(w.beat.Program, w.kept.Program), State: WorkerReady,
		Slots: w.kept.Started, Running: w.beat.Running, Waiting: w.beat.Waiting, Load: w.beat.Load}
	if w.kept.Slots > 0 {
		s.Wanted = new(w.kept.Slots) // a copy: the master goes on changing its own
	}
	if w.registered() {
		s.Slots = w.beat.Slots
	}
	if w.kept.Image != "" {
		s.Image = new(w.kept.Image)
	}
	if w.kept.Environment != "" {
		s.Made = new(w.kept.Environment)
	}
	if w.beat.Unconfined != "" {
		s.Unconfined = new(w.beat.Unconfined)
	}
	if !w.seen.IsZero() {
		seen := w.seen.UTC()
		s.Seen = &seen
	}
	because := func(state, reason string) { s.State, s.Reason = state, &reason }
	switch {
	case w.away != "":
		because(WorkerAway, w.away)
		s.Running, s.Waiting, s.Load = nil, 0, nil
	case w.seen.IsZero():
		because(WorkerAway, "not heard of since the master started")
	case w.refused() != "":
		because(WorkerRefused, w.refused())
	case w.restarting():
		s.State = WorkerRestarting
	case !w.trial.until.IsZero():
		because(WorkerQuarantined, fmt.Sprintf("%d attempts in a row could not run there (%s); it is tried again at %s", task.MostHostFaults, w.trial.reason, w.trial.until.UTC().Format(time.TimeOnly)+" UTC"))
	case w.kept.Drained || w.beat.Draining:
		s.State = WorkerDraining
	}
	if s.Running == nil {
		s.Running = []task.Busy{}
	}
	for _, a := range m.sweeps {
		s.Held += len(a.ledger.Held(w.kept.Name))
	}
	return s
}
