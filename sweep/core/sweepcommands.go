package core

import (
	"slices"
	"time"

	"mlframework/sweep/metric"
	"mlframework/sweep/space"
	"mlframework/sweep/task"
)

// MostPriority bounds the priority of a sweep, in both directions.
const MostPriority = 1000

// StartSweep begins a sweep that was just kept and added. One that has begun before stays as it is.
type StartSweep struct {
	Sweep    string
	Edition  string   // which values of its secrets came with it; "": none
	Environ  []string // what its tasks inherit, as NAME=value, in a local run; nil: what its worker has
	Followed bool     // its output is about to be followed, and wanted of the first tasks, too
}

func (s StartSweep) check(c *Core) error {
	if _, err := c.about(s.Sweep); err != nil {
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
	c.holdWithoutSecrets(a)
	return a.stands()
}

// CancelSweep ends a sweep. One that was cancelled before stays so.
type CancelSweep struct{ Sweep, Reason string }

func (s CancelSweep) check(c *Core) error {
	a, err := c.about(s.Sweep)
	if err == nil && a.ledger.head.State == Finished {
		err = &WrongState{ID: s.Sweep, Is: "finished already"}
	}
	return err
}

func (s CancelSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	c.ledger(a).Cancel(s.Reason, c.now)
	return a.stands()
}

// CancelTask cancels one task. The error is *TaskEnded for one that has ended.
type CancelTask struct {
	Task   task.ID
	Reason string
}

// TaskEnded says that a task has ended: how, its row says.
type TaskEnded struct{ Task task.ID }

func (e *TaskEnded) Error() string { return e.Task.String() + " has ended already" }

func (s CancelTask) check(c *Core) error {
	a, err := c.about(s.Task.Sweep)
	switch {
	case err != nil:
		return err
	case !a.has(s.Task.Index):
		return a.unknown(s.Task.Index)
	case !a.ledger.cancellable(s.Task.Index):
		return &TaskEnded{s.Task}
	}
	return nil
}

func (s CancelTask) apply(c *Core) Answer {
	a := c.sweeps[s.Task.Sweep]
	_ = c.ledger(a).CancelTask(s.Task.Index, s.Reason, c.now) // it is cancellable
	return a.stands()
}

// PauseSweep hands out nothing more of a sweep; with Stop its attempts are stopped too, and go back
// to pending.
type PauseSweep struct {
	Sweep, Reason string
	Stop          bool
}

func (s PauseSweep) check(c *Core) error {
	a, err := c.about(s.Sweep)
	if err != nil {
		return err
	}
	if h := a.ledger.Head(); h.State != Open && h.State != Paused {
		return &WrongState{ID: h.ID, Is: string(h.State)}
	}
	return nil
}

func (s PauseSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	c.ledger(a).Pause(s.Reason, s.Stop)
	return a.stands()
}

// Revision is what a sweep goes on with. The zero value keeps its own.
type Revision struct {
	Revision  string        // "": its own
	Code      string        // of Revision
	Settings  *Settings     // nil: its own
	Edition   string        // of the values of its secrets, where those that it had are gone; "": as before
	Environ   []string      // what its tasks inherit from now on, as in StartSweep; nil: what they did
	Overrides *space.Change // of the points by which it is extended; nil: those that it has
}

// apply lets attempts of a sweep from now on run another revision, or with other settings.
func (to Revision) apply(c *Core, a *activeSweep) {
	if to.Edition != "" {
		a.edition, a.pausedSince = to.Edition, time.Time{}
	} else {
		c.notePaused(a, time.Time{}) // it goes on
	}
	c.setEnviron(a, to.Environ)
	was := *a.record
	revision, settings := was.Recipe.Revision, was.Settings()
	if to.Revision != "" {
		revision = to.Revision
	}
	if to.Settings != nil {
		settings = *to.Settings
	}
	now, changed := was.Revised(revision, settings, c.now)
	if !changed {
		return
	}
	c.rewrite(a, now)
	a.revised, a.code, a.ranked = true, to.Code, a.ranked || was.Objective != now.Objective
	c.ledger(a).Revise(now)
	c.audit.addSettings(was.Settings().Changes(settings))
}

// ResumeSweep hands out the tasks of a paused sweep again.
type ResumeSweep struct {
	Sweep string
	With  Revision
}

func (s ResumeSweep) check(c *Core) error {
	a, err := c.about(s.Sweep)
	if err != nil {
		return err
	}
	switch h := a.ledger.Head(); h.State {
	case Cancelled:
		return &WrongState{h.ID, "cancelled", "`run-tasks retry " + h.ID + "` runs what was cancelled"}
	case Finished:
		return finished(h)
	}
	return c.checkEnviron(s.With.Environ)
}

func (s ResumeSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	s.With.apply(c, a)
	c.queueBehind(a)
	c.ledger(a).Resume(c.now)
	return a.stands()
}

// ExtendSweep gives a sweep the points of a space that its parameters did not describe so far, as
// tasks behind those it has, and lets it go on, whether it had ended, was paused or runs. Where
// there is nothing to add the sweep stays as it is. The answer's Tasks is how many it added.
type ExtendSweep struct {
	Sweep string
	Space *space.Space
	With  Revision
}

func (s ExtendSweep) check(c *Core) error {
	a, err := c.about(s.Sweep)
	if err != nil {
		return err
	}
	h := a.ledger.Head()
	switch {
	case a.record.EachWorker:
		return &WrongState{ID: h.ID, Is: "a sweep with a task for each worker, not for points",
			Remedy: "submit it again for the workers that there are now"}
	case h.State == Cancelled || a.cut():
		return &WrongState{ID: h.ID, Is: "cancelled, all of it or a part",
			Remedy: "`run-tasks retry " + h.ID + "` runs what was cancelled; then it can be extended"}
	}
	extended, n, err := a.record.Extended(s.Space)
	if err != nil {
		return &WrongState{ID: h.ID, Is: "not to be extended: " + err.Error(), Remedy: "submit what is new as a sweep of its own"}
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
		return a.stands()
	}
	s.With.apply(c, a)
	r := *a.record // as it was revised
	r.Extensions, r.Ranges, r.Version = extended.Extensions, extended.Ranges, max(r.Version, extended.Version)
	if o := s.With.Overrides; o != nil && o.IsZero() {
		r.Overrides = nil
	} else if o != nil {
		r.Overrides = o
	}
	c.rewrite(a, r)
	c.queueBehind(a)
	c.ledger(a).Extend(r, n)
	answer := a.stands()
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

func (s RetryTasks) check(c *Core) error {
	a, err := c.about(s.Sweep)
	if err != nil {
		return err
	}
	if len(s.Ended) == 0 && !(s.All && a.cut()) {
		return &WrongState{ID: s.Sweep, Is: "without a task to retry: only tasks that failed or were cancelled run again"}
	}
	return c.checkEnviron(s.With.Environ)
}

func (s RetryTasks) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	s.With.apply(c, a)
	c.queueBehind(a)
	taken := c.ledger(a).Reopen(s.Ended, s.All)
	answer := a.stands()
	answer.Tasks = taken
	return answer
}

// PrioritizeSweep changes the priority of a sweep, from -MostPriority to MostPriority: sweeps of a
// higher one go first.
type PrioritizeSweep struct {
	Sweep    string
	Priority int
}

func (s PrioritizeSweep) check(c *Core) error {
	_, err := c.about(s.Sweep)
	return err
}

func (s PrioritizeSweep) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	if r := *a.record; r.Priority != s.Priority {
		r.Priority = s.Priority
		c.turns.remove(a)
		c.rewrite(a, r)
	}
	return a.stands()
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

func (s RereadMetrics) check(c *Core) error {
	a, err := c.about(s.Sweep)
	if err != nil {
		return err
	}
	for _, v := range s.Values {
		if !a.has(v.Index) {
			return a.unknown(v.Index)
		}
	}
	return nil
}

func (s RereadMetrics) apply(c *Core) Answer {
	a := c.sweeps[s.Sweep]
	settings := a.record.Settings()
	settings.Metrics, settings.Objective = s.Metrics, s.Objective
	Revision{Settings: &settings}.apply(c, a)
	for _, v := range s.Values {
		at := slices.IndexFunc(s.Rows, func(t Task) bool { return t.Index == v.Index })
		if at < 0 || !s.Rows[at].State.Terminal() || s.Rows[at].Try.Outcome == nil {
			continue
		}
		t := s.Rows[at]
		end := *t.Try.Outcome
		end.Metrics, end.Stdout.Unread, end.Stderr.Unread, end.Unmeasured = metric.Final(v.Metrics), v.Stdout, v.Stderr, v.Unmeasured
		t.Try.Outcome = &end
		c.ledger(a).Measure(t)
	}
	return a.stands()
}

// queueBehind puts a sweep that goes on behind those that run, in a local run.
func (c *Core) queueBehind(a *activeSweep) {
	if c.options.Local && a.ledger.head.State != Open {
		c.turns.remove(a)
		c.serial++
		a.position = c.serial
	}
}
