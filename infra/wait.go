package infra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path"
	"slices"
	"strings"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// Waits for parts of the cluster.
const (
	lookEvery  = 200 * time.Millisecond
	readyTime  = 60 * time.Second
	reportTime = 60 * time.Second
	logLines   = 5
)

// wait carries out the steps that ask a broker or a master.
func (a *applier) wait(ctx context.Context, m *machine, what plan.Action) error {
	switch do := what.(type) {
	case plan.Login:
		return a.login(ctx, m, do)
	case plan.Ready:
		return a.poll(ctx, m, plan.Master, readyTime, func(ctx context.Context) error { return a.o.Control.Ready(ctx, a.master()) })
	case plan.Reported:
		return a.poll(ctx, m, plan.Worker, reportTime, func(ctx context.Context) error { return a.reported(ctx, do.Worker) })
	case plan.Drain:
		return a.drain(ctx, m, do)
	case plan.Relay:
		return a.relay(ctx, m, do)
	case plan.Resume:
		return a.resume(ctx, do.Worker)
	case plan.SetSlots:
		return a.setSlots(ctx, m, do)
	case plan.Forget:
		return a.poll(ctx, nil, "", reportTime, func(ctx context.Context) error { return a.o.Control.Forget(ctx, a.master(), do.Worker) })
	}
	return fmt.Errorf("no step is a %T", what)
}

// master dials the API of the cluster's master.
func (a *applier) master() Dial {
	m := a.machines[a.request.Master]
	return m.api(a.request.Cluster)
}

// api dials the master on its host.
func (m *machine) api(c plan.Cluster) Dial {
	l := layout.Root(m.found.Root)
	owner, _ := m.found.RunAs()
	socket := agent.Socket{Path: path.Join(l.Run(c.Name, c.Group, m.found.UID), layout.Socket),
		Owner: owner}
	return func(ctx context.Context) (net.Conn, error) {
		return m.dial(ctx, "the master", func(a *agent.Client) (net.Conn, error) {
			return a.Master(ctx, socket)
		})
	}
}

// poll asks again until there is no error, or the time is over. Then the error has what the container's state and log say. A
// container that has ended is not waited for.
func (a *applier) poll(ctx context.Context, m *machine, role string, most time.Duration, ask func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	last := errors.New("there was no answer")
	for {
		err := ask(limited)
		if err == nil {
			return nil
		}
		if errors.Is(err, context.DeadlineExceeded) {
			err = last // the answer before tells more
		}
		last = err
		dead := limited.Err() == nil && m != nil && a.dead(limited, m, role)
		if limited.Err() == nil && !dead {
			select {
			case <-time.After(lookEvery):
				continue
			case <-limited.Done():
			}
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !dead {
			err = fmt.Errorf("not within %v: %w", most, err)
		}
		if m == nil {
			return err
		}
		return fmt.Errorf("%w%s", err, a.diagnosis(ctx, m, role))
	}
}

// deaths is how often a container may have been started again before it is given up.
const deaths = 3

func (a *applier) dead(ctx context.Context, m *machine, role string) bool {
	c, err := m.engine.Find(ctx, a.request.Container(role))
	return err == nil && (c.State == "exited" || c.State == "dead" || c.Restarts >= deaths)
}

// diagnosis returns what a container's end and log tell, "" when there is nothing to tell.
func (a *applier) diagnosis(ctx context.Context, m *machine, role string) string {
	name := a.request.Container(role)
	c, err := m.engine.Find(ctx, name)
	if err != nil {
		return ""
	}
	var text strings.Builder
	if !c.Running() || c.Restarts > 0 {
		fmt.Fprintf(&text, "\n    its container is %s, exit code %d, started again %d times", c.State, c.Exit, c.Restarts)
	}
	var log bytes.Buffer
	if err := m.engine.Logs(ctx, name, docker.LogOptions{Tail: logLines}, &log); err == nil && log.Len() > 0 {
		for line := range strings.Lines(strings.TrimSpace(log.String())) {
			text.WriteString("\n    | " + strings.TrimSpace(line))
		}
	}
	return text.String()
}

func (a *applier) login(ctx context.Context, m *machine, do plan.Login) error {
	role := ""
	if m.name == a.request.Master {
		role = plan.Broker
	}
	check := []string{do.Sweepd, "check", "--broker", "amqps://" + do.Address, "--broker-name",
		broker.ServerName,
		"--credentials", path.Join(do.Dir, "credentials"), "--ca", path.Join(do.Dir, "ca.pem")}
	err := a.poll(ctx, roleMachine(m, role), role, do.Wait, func(ctx context.Context) error {
		err := m.run(ctx, io.Discard, check...)
		if e, ok := errors.AsType[*agent.ExitError](err); ok {
			return errors.New(strings.TrimPrefix(strings.TrimSpace(string(e.Stderr)), "sweepd: "))
		}
		return err
	})
	if err != nil && role == "" && ctx.Err() == nil {
		return fmt.Errorf("%w\n    name another address of the master's host with --master-address, or open port %s there for this host", err, portOf(do.Address))
	}
	return err
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// roleMachine is the machine whose container of a role may be looked at, if any.
func roleMachine(m *machine, role string) *machine {
	if role == "" {
		return nil
	}
	return m
}

// reported is nil when the master hears the worker, in the container that runs now.
func (a *applier) reported(ctx context.Context, name string) error {
	all, err := a.o.Control.Workers(ctx, a.master())
	if err != nil {
		return err
	}
	i := slices.IndexFunc(all, func(w Worker) bool { return w.Name == name })
	switch {
	case i < 0:
		return errors.New("the master has not heard of it")
	case !all[i].Here:
		return fmt.Errorf("the master does not hear it: %s", all[i].Reason)
	case all[i].Drained:
		a.o.Report.Warn(name, "its worker was told to take nothing more: `run-tasks workers resume "+name+"` has it go on")
	}
	return nil
}

// resume lets a worker that was drained take tasks again.
func (a *applier) resume(ctx context.Context, worker string) error {
	if worker == "" {
		return nil
	}
	return a.poll(ctx, nil, "", reportTime, func(ctx context.Context) error { return a.o.Control.Drain(ctx, a.master(), worker, true) })
}

// setSlots has a worker run another number of tasks at a time. After a failure it has those from
// before.
func (a *applier) setSlots(ctx context.Context, m *machine, do plan.SetSlots) error {
	if do.Limits != (docker.Limits{}) {
		if err := m.engine.Update(ctx, do.Container, do.Limits); err != nil {
			return err
		}
	}
	tell := func(ctx context.Context, n int) error {
		return a.o.Control.Resize(ctx, a.master(), do.Worker, n)
	}
	a.undoes(m, "give the worker its slots again", func(ctx context.Context) error { return tell(ctx, do.Before) })
	return tell(ctx, do.Slots)
}

// drain has a worker begin nothing more, and waits until it runs nothing, or for so long. After a failure it goes on.
func (a *applier) drain(ctx context.Context, m *machine, do plan.Drain) error {
	tell := func(ctx context.Context, off bool) error { return a.o.Control.Drain(ctx, a.master(), do.Worker, off) }
	if err := tell(ctx, false); err != nil {
		return err
	}
	a.undoes(m, "let the worker go on", func(ctx context.Context) error { return tell(ctx, true) })
	var over <-chan time.Time
	until := ""
	if do.Wait > 0 {
		over = time.After(do.Wait)
		until = ", at most until " + a.o.Now().Add(do.Wait).Format("15:04:05")
	}
	said := 0
	for {
		all, err := a.o.Control.Workers(ctx, a.master())
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(w Worker) bool { return w.Name == do.Worker })
		// A worker may be at work though it is not heard: a master that was just started has not
		// heard any. It holds nothing once it counts as away.
		if i < 0 || all[i].Held == 0 {
			return nil
		}
		if n := all[i].Held; n != said {
			said = n
			a.o.Report.Says(m.name, "waits for "+tasks(n)+until)
		}
		select {
		case <-time.After(lookEvery):
		case <-over:
			a.o.Report.Warn(m.name, fmt.Sprintf("not ended within %v: %s; stopped, to run again elsewhere", do.Wait, tasks(said)))
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

func tasks(n int) string {
	if n == 1 {
		return "1 task"
	}
	return fmt.Sprintf("%d tasks", n)
}
