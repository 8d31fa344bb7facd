package core

import (
	"slices"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// MaxPriority bounds the priority of a sweep, in both directions.
const MaxPriority = 1000

// StartSweep starts a sweep that was just kept and added. One that has started stays as it is.
type StartSweep struct {
	Sweep    string
	Edition  string   // which values of its secrets came with it; "": none
	Environ  []string // NAME=value that its tasks inherit in a local run; nil: what its worker has
	Followed bool     // its output is about to be followed, and wanted of the first tasks, too
}

func (s StartSweep) check(c *Core) error {
	if _, err := c.findSweep(s.Sweep); err != nil {
		return err
	}
	return c.checkEnviron(s.Environ)
}

func (s StartSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	if s.Followed {
		c.memory.Expected[s.Sweep] = c.now.Add(expectFor)
	}
	c.setEnviron(a, s.Environ)
	if s.Edition != "" {
		a.edition = s.Edition
	}
	c.pauseWithoutSecrets(a)
	return a.answer()
}

// CancelSweep ends a sweep. One that was cancelled before stays so.
type CancelSweep struct{ Sweep, Reason string }

func (s CancelSweep) check(c *Core) error {
	a, err := c.findSweep(s.Sweep)
	if err == nil && a.ledger.head.State == Finished {
		err = &WrongState{ID: s.Sweep, Is: "finished already"}
	}
	return err
}

func (s CancelSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	c.ledger(a).Cancel(s.Reason, c.now)
	return a.answer()
}

// CancelTask cancels one task. The error is *TaskEnded for one that has ended.
type CancelTask struct {
	Task   task.ID
	Reason string
}

// TaskEnded says that a task has ended: how, its row says.
type TaskEnded struct{ Task task.ID }

func (e *TaskEnded) Error() string { return e.Task.String() + " has ended already" }

func (t CancelTask) check(c *Core) error {
	a, err := c.findSweep(t.Task.Sweep)
	switch {
	case err != nil:
		return err
	case !a.hasTask(t.Task.Index):
		return a.unknown(t.Task.Index)
	case !a.ledger.cancellable(t.Task.Index):
		return &TaskEnded{t.Task}
	}
	return nil
}

func (t CancelTask) apply(c *Core) Answer {
	a := c.sweeps[t.Task.Sweep]
	c.ledger(a).CancelTask(t.Task.Index, t.Reason, c.now)
	return a.answer()
}

// PauseSweep hands out nothing more of a sweep; with Stop its attempts are stopped too, and go back
// to pending.
type PauseSweep struct {
	Sweep, Reason string
	Stop          bool
}

func (p PauseSweep) check(c *Core) error {
	a, err := c.findSweep(p.Sweep)
	if err != nil {
		return err
	}
	if h := a.ledger.Head(); h.State != Open && h.State != Paused {
		return &WrongState{ID: h.ID, Is: string(h.State)}
	}
	return nil
}

func (p PauseSweep) apply(c *Core) Answer {
	a := c.sweeps[p.Sweep]
	c.ledger(a).Pause(p.Reason, p.Stop)
	return a.answer()
}

// Revision is what a sweep continues with. The zero value keeps its own.
type Revision struct {
	Revision  string        // "": its own
	Code      string        // of Revision
	Settings  *Settings     // nil: its own
	Edition   string        // of new values of its secrets; "": as before
	Environ   []string      // as in StartSweep; nil: as before
	Overrides *space.Change // of the points by which it is extended; nil: those that it has
}

// apply gives attempts of a sweep from now on another revision or other settings.
func (r Revision) apply(c *Core, a *activeSweep) {
	if r.Edition != "" {
		a.edition, a.pausedSince = r.Edition, time.Time{}
	} else {
		c.notePaused(a, time.Time{}) // it goes on
	}
	c.setEnviron(a, r.Environ)
	was := *a.record
	revision, settings := was.Recipe.Revision, was.Settings()
	if r.Revision != "" {
		revision = r.Revision
	}
	if r.Settings != nil {
		settings = *r.Settings
	}
	now, changed := was.Revised(revision, settings, c.now)
	if !changed {
		return
	}
	c.rewrite(a, now)
	a.code, a.ranked = r.Code, a.ranked || was.Objective != now.Objective
	c.ledger(a).Revise(now)
	c.audit.addSettings(was.Settings().Changes(settings))
}

// ResumeSweep hands out the tasks of a paused sweep again.
type ResumeSweep struct {
	Sweep string
	With  Revision
}

func (r ResumeSweep) check(c *Core) error {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return err
	}
	switch h := a.ledger.Head(); h.State {
	case Cancelled:
		return &WrongState{h.ID, "cancelled",
			"`run-tasks retry " + h.ID + "` runs what was cancelled"}
	case Finished:
		return finished(h)
	}
	return c.checkEnviron(r.With.Environ)
}

func (r ResumeSweep) apply(c *Core) Answer {
	a := c.sweeps[r.Sweep]
	r.With.apply(c, a)
	c.queueBehind(a)
	c.ledger(a).Resume(c.now)
	return a.answer()
}

// ExtendSweep gives a sweep the points of a space that its parameters did not describe so far, as
// tasks behind those it has, and resumes it if it had ended or was paused. Where
// there is nothing to add the sweep stays as it is. The answer's Tasks is how many it added.
type ExtendSweep struct {
	Sweep string
	Space *space.Space
	With  Revision
}

func (s ExtendSweep) check(c *Core) error {
	a, err := c.findSweep(s.Sweep)
	if err != nil {
		return err
	}
	h := a.ledger.Head()
	switch {
	case a.record.EachWorker:
		return &WrongState{ID: h.ID, Is: "a sweep with a task for each worker, not for points",
			Remedy: "submit it again for the workers that there are now"}
	case h.State == Cancelled || a.ledger.hasCancelledUnissued():
		return &WrongState{ID: h.ID, Is: "cancelled, all of it or a part",
			Remedy: "`run-tasks retry " + h.ID +
				"` runs what was cancelled; then it can be extended"}
	}
	extended, n, err := a.record.Extended(s.Space)
	if err != nil {
		return &WrongState{ID: h.ID, Is: "not to be extended: " + err.Error(),
			Remedy: "submit what is new as a sweep of its own"}
	}
	if n > 0 {
		if _, err := extended.Stored(); err != nil {
			return err
		}
	}
	return c.checkEnviron(s.With.Environ)
}

func (s ExtendSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	extended, n, _ := a.record.Extended(s.Space) // check has seen its error
	if n == 0 {
		return a.answer()
	}
	s.With.apply(c, a)
	r := *a.record // as it was revised
	r.Extensions, r.Ranges = extended.Extensions, extended.Ranges
	r.Version = max(r.Version, extended.Version)
	if o := s.With.Overrides; o != nil && o.IsZero() {
		r.Overrides = nil
	} else if o != nil {
		r.Overrides = o
	}
	c.rewrite(a, r)
	c.queueBehind(a)
	c.ledger(a).Extend(r, n)
	answer := a.answer()
	answer.Tasks = n
	return answer
}

// RetryTasks makes tasks pending again that ended other than well. The answer's Tasks is how many
// it took.
type RetryTasks struct {
	Sweep string
	Ended []Task // their rows; with All, all that the sweep has
	All   bool   // also the tasks that were cancelled with the sweep before they were handed out
	With  Revision
}

func (r RetryTasks) check(c *Core) error {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return err
	}
	if len(r.Ended) == 0 && !(r.All && a.ledger.hasCancelledUnissued()) {
		return &WrongState{ID: r.Sweep,
			Is: "without a task to retry: only tasks that failed or were cancelled run again"}
	}
	return c.checkEnviron(r.With.Environ)
}

func (r RetryTasks) apply(c *Core) Answer {
	a := c.sweeps[r.Sweep]
	r.With.apply(c, a)
	c.queueBehind(a)
	taken := c.ledger(a).Reopen(r.Ended, r.All)
	answer := a.answer()
	answer.Tasks = taken
	return answer
}

// PrioritizeSweep changes the priority of a sweep, from -MostPriority to MostPriority: sweeps of a
// higher one go first.
type PrioritizeSweep struct {
	Sweep    string
	Priority int
}

func (p PrioritizeSweep) check(c *Core) error {
	_, err := c.findSweep(p.Sweep)
	return err
}

func (p PrioritizeSweep) apply(c *Core) Answer {
	a := c.sweeps[p.Sweep]
	if r := *a.record; r.Priority != p.Priority {
		r.Priority = p.Priority
		c.queue.remove(a)
		c.rewrite(a, r)
	}
	return a.answer()
}

// Remeasured is the metrics of a task as they were read again from what its attempts left.
type Remeasured struct {
	Index int64 `json:"index"`
	task.Measured
}

// RereadMetrics gives a sweep other metrics and another objective, and tasks that have ended the
// values that were read by them. Others keep theirs; of a task that runs again nothing changes.
type RereadMetrics struct {
	Sweep     string
	Metrics   []metric.Rule
	Objective metric.Objective
	Values    []Remeasured
	Rows      []Task // of the tasks in Values that have rows
}

func (r RereadMetrics) check(c *Core) error {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return err
	}
	for _, v := range r.Values {
		if !a.hasTask(v.Index) {
			return a.unknown(v.Index)
		}
	}
	return nil
}

func (r RereadMetrics) apply(c *Core) Answer {
	a := c.sweeps[r.Sweep]
	settings := a.record.Settings()
	settings.Metrics, settings.Objective = r.Metrics, r.Objective
	Revision{Settings: &settings}.apply(c, a)
	for _, v := range r.Values {
		at := slices.IndexFunc(r.Rows, func(t Task) bool { return t.Index == v.Index })
		if at < 0 || !r.Rows[at].State.Terminal() || r.Rows[at].Attempt.Outcome == nil {
			continue
		}
		t := r.Rows[at]
		end := *t.Attempt.Outcome
		end.Metrics, end.Unmeasured = metric.Final(v.Metrics), v.Unmeasured
		end.Stdout.Unread, end.Stderr.Unread = v.Stdout, v.Stderr
		t.Attempt.Outcome = &end
		c.ledger(a).Measure(t)
	}
	return a.answer()
}

// queueBehind queues a sweep that is resumed behind those that run, in a local run.
func (c *Core) queueBehind(a *activeSweep) {
	if c.options.Local && a.ledger.head.State != Open {
		c.queue.remove(a)
		c.serial++
		a.position = c.serial
	}
}
