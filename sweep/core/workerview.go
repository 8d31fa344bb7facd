package core

import (
	"cmp"
	"fmt"
	"time"

	"mlframework/sweep/task"
)

// The states of a worker.
const (
	WorkerReady       = "ready"
	WorkerDraining    = "draining"    // it was asked to take nothing new
	WorkerRestarting  = "restarting"  // it finishes what runs, takes nothing new, and restarts
	WorkerStopping    = "stopping"    // it ends, and stops what runs, with its grace
	WorkerAway        = "away"        // its lease has ended; what it had was given to others
	WorkerQuarantined = "quarantined" // it failed at once whatever it got; it is tried again later
	WorkerRefused     = "refused"     // its program and the master's do not understand each other
)

// WorkerStates are all of them.
var WorkerStates = []string{WorkerReady, WorkerDraining, WorkerRestarting, WorkerStopping,
	WorkerAway, WorkerQuarantined, WorkerRefused}

// Worker is a worker as people and programs are shown it. Its JSON names are a contract.
type Worker struct {
	Name    string `json:"name"`
	Host    string `json:"host"`
	Program string `json:"program"` // version
	// Image is that of its container, with the digest; null: it runs in none, or does not say.
	Image *string `json:"image"`
	// Made is what its container was made of, in the words of its maker; null: it does not say.
	Made *string `json:"environment"`
	// Unconfined is why tasks can reach what the worker has, though it was to confine them; null:
	// they cannot, or it was not to.
	Unconfined *string `json:"unconfined"`
	State      string  `json:"state"`
	Reason     *string `json:"reason"` // of the state
	// DrainedFor is why the worker was drained: ForReplacement; null: a person asked, or it is not
	// drained.
	DrainedFor *string `json:"drained_for"`
	Slots      int     `json:"slots"`
	// Wanted is the slots that were asked for; null: those that the worker was started with.
	Wanted *int `json:"wanted_slots"`
	// SlotsChosen says that a person chose the slots; otherwise they are the cores of the host.
	SlotsChosen bool `json:"slots_chosen"`
	// CPUs, Memory (bytes) and Labels are those of its host; 0 and null: not known.
	CPUs   int               `json:"cpus"`
	Memory int64             `json:"memory"`
	Labels map[string]string `json:"labels"`
	// GPUs are those that its attempts may get, as of its last heartbeat; [] if there are none,
	// null if nothing was heard of it or its program speaks another version.
	GPUs []task.GPU `json:"gpus"`
	// Lacks lists revisions whose files are not on its host: it gets no tasks of them.
	Lacks []string `json:"lacks,omitempty"`
	// GPUFault is why its GPUs cannot be listed, or are not yet, as of its last heartbeat; null:
	// GPUs has all.
	GPUFault *string     `json:"gpu_fault"`
	Running  []task.Busy `json:"running"`
	Waiting  int         `json:"waiting"` // tasks that it has and has not started
	// Held is how many tasks it has, or are on their way to it; unlike Running and Waiting as of
	// now, not of its last heartbeat.
	Held int        `json:"held"`
	Load *task.Load `json:"load"`
	Seen *time.Time `json:"seen"` // its last heartbeat, UTC; null: none since the master started
}

// Workers lists the workers by name.
func (c *Core) Workers() (all []Worker) {
	for _, w := range c.ordered {
		all = append(all, c.view(w))
	}
	return all
}

// Worker returns how a worker is; the zero value when it is not known.
func (c *Core) Worker(name string) (is Worker) {
	if w := c.workers[name]; w != nil {
		is = c.view(w)
	}
	return is
}

// WorkerNames lists the names of the workers in order.
func (c *Core) WorkerNames() (names []string) {
	for _, w := range c.ordered {
		names = append(names, w.record.Name)
	}
	return names
}

// Beat returns the newest heartbeat of a worker; the zero value when there is none.
func (c *Core) Beat(name string) task.Heartbeat {
	if w := c.workers[name]; w != nil {
		return w.beat
	}
	return task.Heartbeat{}
}

// Reachable returns nil for a worker that was heard of and is not away; else *WorkerUnreachable.
func (c *Core) Reachable(name string) error {
	w := c.workers[name]
	if w == nil || w.awayReason == "" && w.seenAt.IsZero() {
		return &WorkerUnreachable{Worker: name, Why: "nothing was heard of it", Expected: w != nil}
	}
	if w.awayReason != "" {
		return &WorkerUnreachable{Worker: name, Why: w.awayReason}
	}
	return nil
}

// Present lists the workers on which a sweep that runs once on every worker has a task: those that
// are there, and may ever give it what it needs.
func (c *Core) Present(need task.Needs) (names []string) {
	n := newNeeds(need)
	for _, w := range c.ordered {
		if w.registered() && w.awayReason == "" && w.refusal() == "" && w.neverFits(&n) == "" {
			names = append(names, w.record.Name)
		}
	}
	return names
}

// view returns a worker as it is shown.
func (c *Core) view(w *worker) Worker {
	s := Worker{Name: w.record.Name, Host: cmp.Or(w.beat.Host, w.record.Host),
		Program: cmp.Or(w.beat.Program, w.record.Program), Slots: w.record.Started,
		SlotsChosen: w.beat.SlotsChosen, CPUs: w.beat.CPUs, Memory: w.beat.Memory,
		Labels: w.beat.Labels, GPUs: w.beat.GPUs, Running: w.beat.Running, Waiting: w.beat.Waiting, Load: w.beat.Load}
	if w.record.Slots > 0 {
		s.Wanted = new(w.record.Slots)
	}
	if w.registered() {
		s.Slots = w.beat.Slots
	}
	if w.record.DrainedFor != "" {
		s.DrainedFor = new(w.record.DrainedFor)
	}
	if w.record.Image != "" {
		s.Image = new(w.record.Image)
	}
	if w.record.Environment != "" {
		s.Made = new(w.record.Environment)
	}
	if w.beat.Unconfined != "" {
		s.Unconfined = new(w.beat.Unconfined)
	}
	s.Lacks = w.beat.Lacks
	if w.beat.GPUFault != "" {
		s.GPUFault = new(w.beat.GPUFault)
	}
	if !w.seenAt.IsZero() {
		s.Seen = new(w.seenAt.UTC())
	}
	var reason string
	if s.State, reason = w.state(); reason != "" {
		s.Reason = &reason
	}
	if w.awayReason != "" {
		s.Running, s.Waiting, s.Load = nil, 0, nil
	}
	if s.Running == nil {
		s.Running = []task.Busy{}
	}
	if s.GPUs == nil && w.beat.Incarnation != "" && w.otherVersion == 0 {
		s.GPUs = []task.GPU{}
	}
	for _, h := range w.assigned {
		s.Held += h.tasks
	}
	return s
}

// state returns the state of a worker and, if there is one, the reason.
func (w *worker) state() (state, reason string) {
	switch {
	case w.awayReason != "":
		return WorkerAway, w.awayReason
	case w.seenAt.IsZero():
		return WorkerAway, "not heard of since the master started"
	case w.refusal() != "":
		return WorkerRefused, w.refusal()
	case w.restarting():
		return WorkerRestarting, ""
	case w.beat.Closing:
		return WorkerStopping, "its process was asked to end"
	case !w.quarantine.until.IsZero():
		return WorkerQuarantined, fmt.Sprintf(
			"%d attempts in a row could not run there (%s); it is tried again at %s UTC",
			task.MaxHostFaults, w.quarantine.reason, w.quarantine.until.UTC().Format(time.TimeOnly))
	case w.record.Drained || w.beat.Draining:
		return WorkerDraining, ""
	}
	return WorkerReady, ""
}
