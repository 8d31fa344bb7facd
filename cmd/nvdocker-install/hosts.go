package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"mlframework/cmd/internal/site"
	"mlframework/infra/remote"
	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
)

// The states in which a host may end.
const (
	Ready       = "ready"       // containers can use its GPUs
	Planned     = "planned"     // --dry-run: it lacks something
	Left        = "left"        // something is to be done by a person
	Refused     = "refused"     // it cannot be used as it is
	Failed      = "failed"      // a step failed
	Unreachable = "unreachable" // it does not answer
)

// machine is a host that is worked on.
type machine struct {
	name  string
	host  remote.Host // nil: it was not reached
	facts install.Facts
	plan  install.Plan
	done  []string // titles of steps
	next  int      // the step that is next

	agreed  []string // containers that may stop
	state   string
	problem *nvdocker.Problem
}

// fail ends the work on a host.
func (m *machine) fail(state string, problem *nvdocker.Problem) {
	m.state, m.problem = state, problem
}

// wrong ends it for an error of the connection, or of a command.
func (m *machine) wrong(err error) {
	if away, is := errors.AsType[*remote.Error](err); is {
		m.fail(Unreachable, &nvdocker.Problem{Cause: away.Op + ": " + away.Cause,
			Remedy: away.Remedy})
		return
	}
	m.fail(Failed, &nvdocker.Problem{Cause: err.Error()})
}

// each does something on all machines that go on, at once.
func each(machines []*machine, do func(*machine)) {
	var all sync.WaitGroup
	for _, m := range machines {
		if m.state == "" {
			all.Go(func() { do(m) })
		}
	}
	all.Wait()
}

// connect reaches the hosts.
func connect(ctx context.Context, s *site.Site, w request) (machines []*machine, end func()) {
	for _, a := range w.hosts {
		m := &machine{name: a.String()}
		machines = append(machines, m)
	}
	var all sync.WaitGroup
	for i, m := range machines {
		all.Go(func() {
			begun := time.Now()
			h, err := s.Infra.Dialer.Connect(ctx, s.Target(w.hosts[i]))
			if err != nil {
				m.wrong(err)
				return
			}
			m.host = h
			s.Printer.Did(m.name, "connected", time.Since(begun))
		})
	}
	all.Wait()
	return machines, func() {
		for _, m := range machines {
			if m.host != nil {
				_ = m.host.Close()
			}
		}
	}
}

// Bounds of what a host is asked, and of a step, which may fetch a driver and build it.
const (
	askTime  = 2 * time.Minute
	stepTime = time.Hour
)

// look asks a host what it has.
func (m *machine) look(ctx context.Context, o install.Options) error {
	ctx, stop := context.WithTimeoutCause(ctx, askTime,
		fmt.Errorf("it did not answer within %v", askTime))
	defer stop()
	program, arguments := nvdocker.Script(nvdocker.AnswerTime)
	gpus, err := m.ask(ctx, program, arguments)
	if err != nil {
		return err
	}
	program, arguments = install.Script(o)
	facts, err := m.ask(ctx, program, arguments)
	if err != nil {
		return err
	}
	m.facts, err = install.Parse(facts, nvdocker.Parse(gpus))
	return err
}

// mostAnswer bounds what is read of a host's answer, in bytes.
const mostAnswer = 4 << 20

func (m *machine) ask(ctx context.Context, program string, arguments []string) ([]byte, error) {
	var out bounded
	err := m.host.Run(ctx, remote.Command{Argv: append([]string{"sh", "-c", program, "sh"},
		arguments...), Stdout: &out})
	return out.Bytes(), err
}

// bounded keeps the first bytes of what is written.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	b.Buffer.Write(p[:min(len(p), max(0, mostAnswer-b.Len()))])
	return len(p), nil
}
