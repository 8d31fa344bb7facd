package infra

import (
	"bytes"
	"cmp"
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
func (a *applier) wait(ctx context.Context, m *connectedHost, what plan.Action) error {
	switch do := what.(type) {
	case plan.Login:
		return a.login(ctx, m, do)
	case plan.Ready:
		return a.poll(ctx, m, plan.Master, readyTime, func(ctx context.Context) error {
			return a.o.Control.Ready(ctx, a.master())
		})
	case plan.Reported:
		return a.poll(ctx, m, plan.Worker, reportTime, func(ctx context.Context) error {
			return a.reported(ctx, do.Worker)
		})
	case plan.Drain:
		return a.drain(ctx, m, do)
	case plan.Relay:
		return a.relay(ctx, m, do)
	case plan.SetSlots:
		return a.setSlots(ctx, m, do)
	case plan.Forget:
		// a worker whose host is off counts as away once its lease has ended: core.DefaultLease
		lease := cmp.Or(a.request.Lease, 2*time.Minute)
		return a.poll(ctx, nil, "", lease+reportTime, func(ctx context.Context) error {
			return a.o.Control.Forget(ctx, a.master(), do.Worker)
		})
	}
	return fmt.Errorf("no step is a %T", what)
}

// poll asks again until there is no error, or the time is over. Then the error has what the
// container's state and log say. A container that has ended is not waited for.
func (a *applier) poll(ctx context.Context, m *connectedHost, role string, most time.Duration,
	ask func(context.Context) error) error {
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

func (a *applier) dead(ctx context.Context, m *connectedHost, role string) bool {
	c, err := m.engine.Find(ctx, a.request.Container(role))
	return err == nil && (c.State == "exited" || c.State == "dead" || c.Restarts >= deaths)
}

// diagnosis returns what a container's end and log tell, "" when there is nothing to tell.
func (a *applier) diagnosis(ctx context.Context, m *connectedHost, role string) string {
	name := a.request.Container(role)
	c, err := m.engine.Find(ctx, name)
	if err != nil {
		return ""
	}
	var text strings.Builder
	if !c.Running() || c.Restarts > 0 {
		fmt.Fprintf(&text, "\n    its container is %s, exit code %d, started again %d times",
			c.State, c.Exit, c.Restarts)
	}
	var log bytes.Buffer
	if err := m.engine.Logs(ctx, name, docker.LogOptions{Tail: logLines}, &log); err == nil &&
		log.Len() > 0 {
		for line := range strings.Lines(strings.TrimSpace(log.String())) {
			text.WriteString("\n    | " + strings.TrimSpace(line))
		}
	}
	return text.String()
}

func (a *applier) login(ctx context.Context, m *connectedHost, do plan.Login) error {
	role := ""
	if m.name == a.request.Master {
		role = plan.Broker
	}
	check := []string{do.Sweepd, "check", "--broker", "amqps://" + do.Address, "--broker-name",
		broker.ServerName,
		"--credentials", path.Join(do.Dir, "credentials"), "--ca", path.Join(do.Dir, "ca.pem")}
	err := a.poll(ctx, roleHost(m, role), role, do.Wait, func(ctx context.Context) error {
		err := m.run(ctx, io.Discard, check...)
		if e, ok := errors.AsType[*agent.ExitError](err); ok {
			return errors.New(strings.TrimPrefix(strings.TrimSpace(string(e.Stderr)), "sweepd: "))
		}
		return err
	})
	if err != nil && role == "" && ctx.Err() == nil {
		return fmt.Errorf("%w\n    name another address of the master's host with "+
			"--master-address, or open port %s there for this host", err, portOf(do.Address))
	}
	return err
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}

// roleHost is the host whose container of a role may be looked at, if any.
func roleHost(m *connectedHost, role string) *connectedHost {
	if role == "" {
		return nil
	}
	return m
}

// reported is nil when the master hears the worker, in the container that runs now, and it is not
// drained for its replacement any more.
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
	case all[i].Replaced:
		return a.o.Control.Undrain(ctx, a.master(), name)
	case all[i].Drained:
		a.o.Report.Warn(name,
			"its worker was told to take nothing more: `run-tasks workers resume "+name+
				"` has it go on")
	}
	return nil
}
