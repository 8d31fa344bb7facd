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
	"mlframework/sweep/master"
	"mlframework/sweep/query"
)

// noteDetached tells who leaves a running sweep how to see it again.
func (c *command) noteDetached(id string) {
	fmt.Fprintf(c.stderr, "%s goes on; see it again: %s follow %s\n", id, c.self, id)
}

// direct is the deeds of the runner that this process is.
type direct struct {
	*query.Archive
	master *master.Master
}

func newDirect(r *runner) *direct {
	return &direct{&query.Archive{Store: &r.store.Reader}, r.master}
}

func begunAs(id string, err error) (api.StartedSweep, error) {
	return api.StartedSweep{Summary: core.Summary{ID: id}}, err
}

func (d *direct) Submit(ctx context.Context, s api.Submission, key string,
	_ api.Detail) (api.StartedSweep, error) {
	return begunAs(d.master.Submit(ctx, master.Submission{Record: s.Record, Total: api.Total(s.Record), Code: s.Code, MinNumber: s.MinNumber, ClientKey: key}))
}

func (d *direct) Resume(ctx context.Context, id string, g api.ResumeRequest,
	_ api.Detail) (api.StartedSweep, error) {
	_, err := d.master.Resume(ctx, id, g.Continuation)
	return begunAs(id, err)
}

func (d *direct) Retry(ctx context.Context, id string, g api.ResumeRequest,
	_ api.Detail) (api.StartedSweep, error) {
	_, err := d.master.Retry(ctx, id, g.Indexes, g.Continuation)
	return begunAs(id, err)
}

func (d *direct) Extend(ctx context.Context, id string, e api.Extension,
	_ api.Detail) (api.StartedSweep, error) {
	_, err := d.master.Extend(ctx, id, e)
	return begunAs(id, err)
}

// join has the runner that another process is do the errand, and shows the sweep to its end. It is false when that runner ended
// before: then there is another one to ask, or this process is it.
func (s *session) join(work context.Context) (ended bool, err error) {
	h, err := s.openFolder(work)
	if err != nil {
		return true, err
	}
	defer h.close()
	m := h.dial()
	defer m.Close()
	m.Environ = withValues(os.Environ())
	if s.repeatable { // it is repeated here, where that is known
		m.Repeat = time.Nanosecond
	}
	before, err := s.beside(work, m)
	var b api.StartedSweep
	if err == nil {
		h.note()
		b, err = s.do(work, m, s.look.Detail())
	}
	switch {
	case errors.Is(context.Cause(work), cli.ErrInterrupted) && err != nil:
		return true, s.detached()
	case s.missed(err):
		return false, nil
	case err != nil || b.ID == "":
		return true, err
	}
	again := s.sweep != ""
	s.began(b)
	s.errand = s.goOn()
	if !s.look.JSON && !s.look.Quiet && !again {
		s.messages.Note(before.text(b.ID))
	}
	err = s.watch(work, h, b, s.look)
	switch {
	case errors.Is(context.Cause(work), cli.ErrInterrupted):
		return true, s.detached()
	case err != nil:
		return true, err
	case h.unfinished():
		s.messages.Note("the process that ran " + s.sweep + " has ended: it goes on in this terminal, or in another one that has a sweep here")
		return false, nil
	}
	return true, s.conclude(s.ctx.Context, h, false)
}

// withValues keeps the entries of an environment that are NAME=value; execve(2) takes others, too.
func withValues(environ []string) []string {
	return slices.DeleteFunc(environ, func(v string) bool { return !strings.Contains(v, "=") })
}

// detached is the end of a session that Ctrl-C took from its sweep.
func (s *session) detached() error {
	if s.sweep == "" {
		return cli.Code(cli.Interrupted)
	}
	s.command.noteDetached(s.sweep)
	return nil
}

// missed reports whether a runner ended before it had what it was asked, or where it may be asked again.
func (s *session) missed(err error) bool {
	if _, undecided := errors.AsType[*api.Undecided](err); undecided {
		return s.repeatable
	}
	_, gone := errors.AsType[*api.Unreachable](err)
	return gone && !errors.Is(err, api.ErrSilent)
}

// company is what a sweep finds in a folder that has a runner.
type company struct {
	open  []string // sweeps that run
	slots int      // 0: not known
	asked int      // with --slots; 0: not
}

// beside asks a runner for its sweeps and slots. One whose program is another version is refused.
func (s *session) beside(ctx context.Context, m *api.Client) (c company, err error) {
	if s.ctx.IsSet("slots") {
		c.asked = s.ctx.Int("slots")
	}
	health, err := m.Health(ctx)
	if err != nil {
		return c, err
	}
	if health.Program != cli.Version() || health.Level != api.Level {
		which := ""
		if health.Program != cli.Version() { // else they are not stamped
			which = fmt.Sprintf(" (%s; this is %s)", cli.Visible(health.Program), cli.Version())
		}
		return c, &cli.Error{Code: cli.Machine, Err: errors.New("what runs in this folder is another version of run-tasks" + which),
			Remedy: "wait for it (`run-tasks follow`), stop it (`run-tasks pause --stop`), or use another folder"}
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
	return text + "; Ctrl-C leaves it running"
}
