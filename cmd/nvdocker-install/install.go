package main

import (
	"context"
	"errors"
	"os"
	"strings"
	"sync"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/cmd/internal/site"
	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
)

// install is the command.
func (c *command) install(ctx *cliv2.Context) error {
	w, err := read(ctx)
	if err != nil {
		return err
	}
	source := cli.Source(ctx, ctx.IsSet("config"))
	source.NoFile = !source.Saved // a cluster.yml that lies here may be another program's
	s, err := site.ReadFrom(source, c.stderr)
	if err != nil {
		return err
	}
	s.Printer.Quiet = ctx.Bool("quiet")
	work, stop := cli.Interrupts(ctx.Context, func() { os.Exit(cli.Interrupted) })
	defer stop()
	machines, end := connect(work, s, w)
	defer end()
	c.prepare(work, s, w, machines)
	if !w.dryRun {
		each(machines, func(m *machine) { m.work(work, s, w.options, false) })
		c.restart(work, s, w, machines)
		again(work, w, machines)
	}
	s.Printer.Clear()
	if errors.Is(context.Cause(work), cli.ErrInterrupted) {
		return &cli.Error{Code: cli.Interrupted, Err: errors.New("interrupted"),
			Remedy: "run it again: it goes on where it was"}
	}
	return c.conclude(w, machines)
}

// prepare asks the hosts what they have, and plans what they lack.
func (c *command) prepare(ctx context.Context, s *site.Site, w request, machines []*machine) {
	each(machines, func(m *machine) {
		if err := m.look(ctx, w.options); err != nil {
			m.wrong(err)
			return
		}
		plan, problem := install.Make(m.facts, w.options)
		switch m.plan = plan; {
		case problem != nil:
			m.fail(Refused, problem)
		case len(plan.Steps) == 0:
			m.state = Ready
			s.Printer.Did(m.name, "nothing to do: containers can use its GPUs", 0)
		case w.dryRun:
			m.state = Planned
		}
	})
}

// restart does what is left where Docker has to restart, after whoever may be asked has agreed to
// the containers that stop.
func (c *command) restart(ctx context.Context, s *site.Site, w request, machines []*machine) {
	each(machines, func(m *machine) {
		if err := m.count(ctx); err != nil {
			m.wrong(err)
		}
	})
	var stops []string
	for _, m := range machines {
		if running := m.facts.Stops(); m.state == "" && len(running) > 0 {
			stops = append(stops, m.name+": "+names(running))
		}
	}
	if ctx.Err() != nil {
		return
	}
	s.Printer.Clear()
	agreed := w.yes || len(stops) == 0 || c.agrees(ctx, stops)
	each(machines, func(m *machine) {
		if running := m.facts.Stops(); len(running) > 0 && !agreed {
			m.fail(Left, &nvdocker.Problem{
				Cause: "Docker was not restarted, which would stop " + names(running),
				Remedy: "run nvdocker-install --yes " + m.name +
					" when these may stop, or restart " +
					"Docker there; left: " + strings.Join(m.left(), "; "),
			})
			return
		}
		m.work(ctx, s, w.options, true)
	})
}

// again asks the hosts that were changed what they have now. One that does not answer any more is
// shown as it was.
func again(ctx context.Context, w request, machines []*machine) {
	var all sync.WaitGroup
	for _, m := range machines {
		if len(m.done) > 0 && m.state != Unreachable {
			all.Go(func() {
				before := m.facts
				if m.look(ctx, w.options) != nil {
					m.facts = before
				}
			})
		}
	}
	all.Wait()
}

// count looks again which containers run: the steps before may have taken minutes.
func (m *machine) count(ctx context.Context) error {
	said, err := m.run(ctx, "docker ps --no-trunc --format '{{.ID}} {{.Names}}'", nil)
	if err != nil {
		return err
	}
	m.facts.Containers, m.agreed = nil, nil
	for line := range strings.Lines(said) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		m.facts.Containers = append(m.facts.Containers, install.Container{ID: id, Name: name})
		m.agreed = append(m.agreed, id)
	}
	return nil
}

// left are the steps that are not done.
func (m *machine) left() (titles []string) {
	for _, s := range m.plan.Steps[m.next:] {
		titles = append(titles, s.Title)
	}
	return titles
}

func names(containers []install.Container) string {
	all := make([]string, len(containers))
	for i, c := range containers {
		all[i] = c.Name
	}
	return strings.Join(all, ", ")
}

// agrees asks on the terminal; without one the answer is no.
func (c *command) agrees(ctx context.Context, stops []string) bool {
	agreed, _ := cli.Agrees(ctx, c.stdin, c.stderr, "Restarting Docker stops these containers:\n  "+
		strings.Join(stops, "\n  ")+"\nRestart it?")
	return agreed
}
