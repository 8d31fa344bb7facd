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
	Followed bool     // its output has a follower: see Follow
}

func (s StartSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(s.Sweep)
	if err != nil {
		return nil, err
	}
	return func() {
		if s.Followed {
			c.follow(s.Sweep, 1)
		}
		c.setEnviron(a, s.Environ)
		if e, own := c.memory.Environs[a.record.After]; own {
			c.memory.Environs[s.Sweep] = e
		}
		if s.Edition != "" {
			a.edition = s.Edition
		}
		c.pauseWithoutSecrets(a)
	}, c.checkEnviron(s.Environ)
}

// CancelSweep ends a sweep. One that was cancelled before stays so.
type CancelSweep struct{ Sweep, Reason string }

func (s CancelSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(s.Sweep)
	if err == nil && a.ledger.head.State == Finished {
		err = &WrongState{ID: s.Sweep, Is: "finished already"}
	}
	return func() {
		c.ledger(a).Cancel(s.Reason, c.now)
	}, err
}

// CancelTask cancels one task. The error is *TaskEnded for one that has ended.
type CancelTask struct {
	Task   task.ID
	Reason string
}

// TaskEnded says that a task has ended: how, its row says.
type TaskEnded struct{ Task task.ID }

func (e *TaskEnded) Error() string { return e.Task.String() + " has ended already" }

func (t CancelTask) decide(c *Core) (func(), error) {
	a, err := c.findSweep(t.Task.Sweep)
	switch {
	case err != nil:
	case !a.hasTask(t.Task.Index):
		err = a.unknown(t.Task.Index)
	case !a.ledger.cancellable(t.Task.Index):
		err = &TaskEnded{t.Task}
	}
	return func() {
		c.ledger(a).CancelTask(t.Task.Index, t.Reason, c.now)
	}, err
}

// CancelTasks cancels those of some tasks that have not ended.
type CancelTasks struct {
	Sweep, Reason string
	Indexes       []int64
}

func (t CancelTasks) decide(c *Core) (func(), error) {
	a, err := c.findSweep(t.Sweep)
	return func() {
		for _, i := range t.Indexes {
			if a.ledger.cancellable(i) {
				c.ledger(a).CancelTask(i, t.Reason, c.now)
			}
		}
	}, err
}

// PauseSweep hands out nothing more of a sweep; with Stop its attempts are stopped too, and go back
// to pending.
type PauseSweep struct {
	Sweep, Reason string
	Stop          bool
}

func (p PauseSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(p.Sweep)
	if err != nil {
		return nil, err
	}
	if h := a.ledger.Head(); h.State != Open && h.State != Paused {
		return nil, &WrongState{ID: h.ID, Is: string(h.State)}
	}
	return func() {
		c.ledger(a).Pause(p.Reason, p.Stop)
	}, nil
}

// Revision is what a sweep continues with. The zero value keeps its own.
type Revision struct {
	Revision  string        // "": its own
	Code      string        // of Revision
	Settings  *Settings     // nil: its own
	Edition   string        // of new values of its secrets; "": as before
	Environ   []string      // as in StartSweep; nil: as before
	Overrides *space.Change // of a sweep that is extended; nil: those that it has
	KeepGoing bool          // it is not paused again because tasks fail alike
}

// goOn gives a sweep what it goes on with.
func (r Revision) goOn(c *Core, a *activeSweep) {
	if r.Edition != "" {
		a.edition, a.pausedSince = r.Edition, time.Time{}
	} else {
		c.notePaused(a, time.Time{}) // it goes on
	}
	c.setEnviron(a, r.Environ)
	r.apply(c, a)
	if r.KeepGoing && !a.record.KeepGoing {
		now := *a.record
		now.KeepGoing = true
		c.rewrite(a, now)
		c.ledger(a).Revise(now)
	}
}

// apply gives attempts of a sweep from now on another revision or other settings.
func (r Revision) apply(c *Core, a *activeSweep) {
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

func (r ResumeSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return nil, err
	}
	switch h := a.ledger.Head(); h.State {
	case Cancelled:
		return nil, &WrongState{ID: h.ID, Is: "cancelled",
			Remedy: "`run-tasks retry " + h.ID + "` runs what was cancelled"}
	case Finished:
		return nil, finished(h)
	}
	return func() {
		r.With.goOn(c, a)
		c.queueBehind(a)
		c.ledger(a).Resume(c.now)
	}, c.checkEnviron(r.With.Environ)
}

// RetryTasks makes tasks pending again that ended other than well or are being cancelled.
type RetryTasks struct {
	Sweep string
	Tasks []Task // their rows; with All, of all that have ended
	All   bool   // all tasks of the sweep, also those that were cancelled before they had a row
	// Unissued are the indexes of those that were cancelled with the sweep before they had a row;
	// unless All, the others of these stay cancelled.
	Unissued []int64
	Fresh    bool // in new folders
	With     Revision
}

func (r RetryTasks) decide(c *Core) (func(), error) {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return nil, err
	}
	if len(r.Tasks)+len(r.Unissued) == 0 && !(r.All && a.ledger.hasCancelled()) {
		return nil, &WrongState{ID: r.Sweep,
			Is:     "without a task to retry: only tasks that failed or were cancelled run again",
			Remedy: resumeHint(a.ledger.head)}
	}
	if err := c.CheckNeeds(r.Sweep, a.record.Recipe.Needs); err != nil {
		return nil, err
	}
	return func() {
		r.With.goOn(c, a)
		c.forgetPruned(a, r.Tasks)
		c.queueBehind(a)
		c.ledger(a).ReopenUnissued(r.Unissued)
		c.ledger(a).Reopen(r.Tasks, r.All, r.Fresh)
	}, c.checkEnviron(r.With.Environ)
}

// PrioritizeSweep changes the priority of a sweep, from -MaxPriority to MaxPriority: sweeps of a
// higher one go first.
type PrioritizeSweep struct {
	Sweep    string
	Priority int
}

func (p PrioritizeSweep) decide(c *Core) (func(), error) {
	a, err := c.findSweep(p.Sweep)
	return func() {
		if r := *a.record; r.Priority != p.Priority {
			r.Priority = p.Priority
			c.queue.remove(a)
			c.rewrite(a, r)
		}
	}, err
}

// Remeasured is the metrics of a task as they were read again from what its attempts left.
type Remeasured struct {
	Index int64 `json:"index"`
	// the number of the newest attempt of which they are; 0: not known
	Attempt int `json:"attempt,omitempty"`
	task.Measured
}

// RereadMetrics gives a sweep other metrics and another objective, and tasks that have ended the
// values that were read by them. Others keep theirs; of a task that runs again, or did after it was
// read, nothing changes. Attempts that workers have are measured by the metrics with which they
// were sent.
type RereadMetrics struct {
	Sweep     string
	Metrics   []metric.Rule
	Objective metric.Objective
	Values    []Remeasured
	Rows      []Task // of the tasks in Values that have rows
}

func (r RereadMetrics) decide(c *Core) (func(), error) {
	a, err := c.findSweep(r.Sweep)
	if err != nil {
		return nil, err
	}
	for _, v := range r.Values {
		if !a.hasTask(v.Index) {
			return nil, a.unknown(v.Index)
		}
	}
	return func() {
		r.reread(c, a)
	}, nil
}

func (r RereadMetrics) reread(c *Core, a *activeSweep) {
	settings := a.record.Settings()
	settings.Metrics, settings.Objective = r.Metrics, r.Objective
	Revision{Settings: &settings}.apply(c, a)
	for _, v := range r.Values {
		at := slices.IndexFunc(r.Rows, func(t Task) bool { return t.Index == v.Index })
		if at < 0 || !r.Rows[at].State.Terminal() || r.Rows[at].Attempt.Outcome == nil ||
			v.Attempt != 0 && v.Attempt != r.Rows[at].Attempt.Number {
			continue
		}
		t := r.Rows[at]
		end := *t.Attempt.Outcome
		end.Metrics, end.Unmeasured = metric.Final(v.Metrics), v.Unmeasured
		end.Stdout.Unread, end.Stderr.Unread = v.Stdout, v.Stderr
		t.Attempt.Outcome = &end
		c.ledger(a).Measure(t)
	}
}

// queueBehind queues a sweep that is resumed behind those that run, in a local run.
func (c *Core) queueBehind(a *activeSweep) {
	if c.options.Local && a.ledger.head.State != Open {
		c.queue.remove(a)
		c.serial++
		a.position = c.serial
	}
}
