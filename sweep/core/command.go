package core

import (
	"errors"

	"mlframework/sweep/task"
)

// Command is what was asked of the master, by a person or by a part of it. Each is a type of this
// package.
type Command interface {
	// decide returns the function that carries out the command, or why it cannot be done now. It
	// changes nothing itself; the function is called in the same step.
	decide(c *Core) (apply func(), err error)
}

// Check returns the error that a command would have now.
func (c *Core) Check(command Command) error {
	_, err := command.decide(c)
	return err
}

// command decides a command and notes how it ended.
func (c *Core) command(command Command) {
	apply, err := command.decide(c)
	if err == nil {
		apply()
	}
	c.effects.Err = err
	if c.audit == nil {
		return
	}
	if err == nil {
		c.audit.End(AuditDone, "")
	} else {
		c.audit.End(AuditRefused, err.Error())
	}
	c.audit.Time = c.now
	c.rows.Audit = append(c.rows.Audit, *c.audit)
}

// Refuse is a command that could not be prepared: its caller gets Err. With Failed the audit
// says that it failed, rather than that it was refused.
type Refuse struct {
	Err    error
	Failed bool
}

func (r Refuse) decide(c *Core) (func(), error) {
	if r.Failed && c.audit != nil {
		c.audit.End(AuditFailed, r.Err.Error())
	}
	return nil, r.Err
}

// Note changes nothing: only its audit entry is kept.
type Note struct{}

func (Note) decide(*Core) (func(), error) {
	return func() {}, nil
}

// Tell sends a control message to a worker that is there.
type Tell struct {
	Worker  string
	Control task.Control
}

func (t Tell) decide(c *Core) (func(), error) {
	return func() {
		c.sendControl(t.Worker, t.Control)
	}, c.Reachable(t.Worker)
}

// Follow adds More followers of a sweep's live output; a negative number removes some.
type Follow struct {
	Sweep string
	More  int
}

func (f Follow) decide(c *Core) (func(), error) {
	return func() {
		c.follow(f.Sweep, f.More)
	}, nil
}

// errNotAdded is that a command is about a sweep that the core has not been given.
var errNotAdded = errors.New("the sweep is not known")

// findSweep finds the sweep of a command and notes it in the audit.
func (c *Core) findSweep(id string) (*activeSweep, error) {
	a := c.sweeps[id]
	if a == nil {
		return nil, errNotAdded
	}
	c.audit.setSweep(id)
	return a, nil
}
