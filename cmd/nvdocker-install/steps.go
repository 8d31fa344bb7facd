package main

import (
	"bytes"
	"context"
	"errors"
	"time"

	"mlframework/cmd/internal/site"
	"mlframework/infra/remote"
	"mlframework/nvdocker"
	"mlframework/nvdocker/install"
)

// asRoot runs a script as root, by sudo where the user is another; it ends at the first command
// that fails.
const asRoot = `exec 2>&1
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin
export PATH
if [ "$(id -u)" = 0 ]; then exec sh -ec "$@"; else exec sudo -n sh -ec "$@"; fi`

// run runs a script as root and gives the end of what it printed.
func (m *machine) run(ctx context.Context, script string, input []byte,
	arguments ...string) (string, error) {
	var said tail
	argv := append([]string{"sh", "-c", asRoot, "sh", script, "sh"}, arguments...)
	err := m.host.Run(ctx, remote.Command{Argv: argv, Stdin: bytes.NewReader(input), Stdout: &said})
	return said.String(), err
}

// work does the steps of a host, one after the other. It stops before one that restarts Docker
// unless restarts is true.
func (m *machine) work(ctx context.Context, s *site.Site, o install.Options, restarts bool) {
	for ; m.next < len(m.plan.Steps); m.next++ {
		step := m.plan.Steps[m.next]
		if step.Restarts && !restarts {
			return
		}
		if !m.step(ctx, s, o, step) {
			return
		}
		m.done = append(m.done, step.Title)
	}
	m.state = Ready
	if m.plan.Left != "" {
		m.fail(Left, &nvdocker.Problem{Cause: "the rest needs the driver in the kernel",
			Remedy: m.plan.Left})
	}
}

// step does one step, and takes it back where it failed.
func (m *machine) step(ctx context.Context, s *site.Site, o install.Options,
	step install.Step) bool {
	limited, stop := context.WithTimeout(ctx, stepTime)
	defer stop()
	begun := time.Now()
	s.Printer.Says(m.name, step.Title)
	said, err := m.run(limited, step.Script, step.Input, m.agreed...)
	if err == nil {
		s.Printer.Did(m.name, step.Title, time.Since(begun))
		return true
	}
	how := "FAILED: "
	if ctx.Err() != nil {
		how = "interrupted: "
	}
	s.Printer.Did(m.name, how+step.Title, time.Since(begun))
	if _, ran := errors.AsType[*remote.ExitError](err); !ran {
		m.wrong(err)
		return false
	}
	m.fail(Failed, install.Explain(step, o, said))
	if step.Undo != "" && ctx.Err() == nil {
		if _, err := m.run(limited, step.Undo, nil); err == nil {
			s.Printer.Did(m.name, "took that back", time.Since(begun))
		} else {
			m.problem.Remedy += "; what it left there has to be removed: " + step.Undo
		}
	}
	return false
}

// mostSaid bounds how much of a step's output is kept, in bytes: errors are at its end.
const mostSaid = 16 << 10

// tail keeps the last bytes of what is written.
type tail struct{ kept bytes.Buffer }

func (t *tail) Write(p []byte) (int, error) {
	t.kept.Write(p)
	if extra := t.kept.Len() - mostSaid; extra > 0 {
		t.kept.Next(extra)
	}
	return len(p), nil
}

func (t *tail) String() string { return t.kept.String() }
