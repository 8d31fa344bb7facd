package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
	"mlframework/sweep/task"
)

// join has the runner that another process is do the launch, and shows the sweep to its end. Ended
// is false when that runner ended before: then there is another one to ask, or this process is it.
func (s *session) join(work context.Context) (ended bool, err error) {
	h, err := s.openFolder(work)
	if err != nil {
		return true, err
	}
	defer h.close()
	h.api.Environ = withValues(os.Environ())
	if s.repeatable { // it is repeated here, where that is known
		h.api.Repeat = time.Nanosecond
	}
	before, err := s.beside(work, h.api)
	var b api.StartedSweep
	known := s.sweep != ""
	if err == nil {
		h.note()
		b, err = s.start(work, h)
	}
	switch {
	case isInterrupted(work) && err != nil:
		return true, s.detached()
	case s.missed(err):
		return false, nil
	case err != nil || b.ID == "":
		return true, err
	}
	s.begin, s.repeatable = s.goOn, true
	if !s.look.JSON && !s.look.Quiet && !known {
		s.messages.Note(before.text(b.ID))
	}
	interrupted, err := s.show(work, s.ctx.Context, h, b, nil)
	switch {
	case interrupted:
		return true, s.detached()
	case err != nil:
		return true, err
	case h.unfinished():
		s.messages.Note("the process that ran " + s.sweep + " has ended: it goes on in this " +
			"terminal, or in another one that has a sweep here")
		return false, nil
	}
	return true, s.conclude(s.ctx.Context, h, false)
}

// withValues keeps the entries of an environment that are NAME=value; execve(2) takes others, too.
func withValues(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return !strings.Contains(v, "=") })
}

// missed reports whether a runner ended before it had what it was asked, or where it may be asked
// again.
func (s *session) missed(err error) bool {
	if _, undecided := errors.AsType[*api.UnknownOutcome](err); undecided {
		return s.repeatable
	}
	return notAsked(err)
}

// company is what a sweep finds in a folder that has a runner.
type company struct {
	open  []string // sweeps that run
	slots int      // 0: not known
	asked int      // with --slots; 0: not
	busy  string   // --gpu-busy, or --gpu-busy-above, if it is given
}

// beside asks a runner for its sweeps and slots. One whose program is another version is refused.
func (s *session) beside(ctx context.Context, m *api.Client) (c company, err error) {
	if s.ctx.IsSet("slots") {
		c.asked = s.ctx.Int("slots")
	}
	c.busy = cli.GPUBusyGiven(s.ctx)
	health, err := m.Health(ctx)
	if err != nil {
		return c, err
	}
	if health.Program != cli.Version() || health.Version != task.Version {
		which := ""
		if health.Program != cli.Version() { // else they are not stamped
			which = fmt.Sprintf(" (%s; this is %s)", cli.Visible(health.Program), cli.Version())
		}
		return c, &cli.Error{Code: cli.Machine, Err: errors.New("what runs in this folder is " +
			"another version of run-tasks" + which),
			Remedy: "wait for it (`run-tasks follow`), stop it (`run-tasks pause --stop`), or " +
				"use another folder"}
	}
	sweeps, err := m.Sweeps(ctx, "", 0)
	if err != nil {
		return c, err
	}
	for _, other := range sweeps {
		if other.State == core.Open {
			c.open = append(c.open, other.ID)
		}
	}
	workers, err := m.Workers(ctx)
	if err == nil && len(workers) > 0 {
		c.slots = workers[0].Slots
	}
	return c, err
}

// text says with what a sweep shares the slots.
func (c company) text(id string) string {
	text := id + " runs in the process of another terminal"
	var others []string
	for _, other := range c.open {
		if other != id {
			others = append(others, other)
		}
	}
	if len(others) > 0 {
		text += ", behind " + enumerated(others)
	}
	if c.slots > 0 {
		text += fmt.Sprintf(", on its %s", plural(int64(c.slots), "slot"))
	}
	if c.asked > 0 && c.asked != c.slots && c.slots > 0 {
		text += fmt.Sprintf(" (--slots %d is not used)", c.asked)
	}
	if c.busy != "" {
		text += " (" + c.busy + " is not used)"
	}
	return text + "; Ctrl-C leaves it running"
}
