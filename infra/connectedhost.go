package infra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"mlframework/infra/agent"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/probe"
	"mlframework/infra/remote"
	"mlframework/nvdocker"
)

// connectedHost is a host that was reached.
type connectedHost struct {
	name   string
	host   remote.Host
	engine *docker.Engine // nil before probe, and where Docker could not be reached
	found  plan.Found

	opening sync.Mutex // held while engine is looked for

	programs func() ([]agent.Program, error)
	starting sync.Mutex    // held while the agent is started
	started  *agent.Client // nil: not yet
}

// agent returns the host's agent, which is started when it is asked for first, and when it has
// ended. It may be called concurrently.
func (m *connectedHost) agent(ctx context.Context) (*agent.Client, error) {
	return m.start(ctx, func() {})
}

// start is agent; brings is called before the program is sent.
func (m *connectedHost) start(ctx context.Context, brings func()) (*agent.Client, error) {
	m.starting.Lock()
	defer m.starting.Unlock()
	if m.started != nil && !m.started.Ended() {
		return m.started, nil
	}
	programs, err := m.programs()
	if err != nil {
		return nil, err
	}
	pipe := func(ctx context.Context, argv ...string) (net.Conn, error) {
		return m.host.Pipe(ctx, remote.Command{Argv: argv})
	}
	c, err := agent.Start(ctx, m.name, pipe, programs, brings)
	if err != nil {
		return nil, err
	}
	m.started = c
	return c, nil
}

// running returns the host's agent if it runs; else nil.
func (m *connectedHost) running() *agent.Client {
	m.starting.Lock()
	defer m.starting.Unlock()
	if m.started == nil || m.started.Ended() {
		return nil
	}
	return m.started
}

// explain returns why the connection to the host has ended, where that is why something failed.
func (m *connectedHost) explain(err error) error {
	if why := m.host.Err(); err != nil && why != nil {
		return why
	}
	return err
}

// withAgent does something with the host's agent.
func (m *connectedHost) withAgent(ctx context.Context, do func(*agent.Client) error) error {
	c, err := m.agent(ctx)
	if err == nil {
		err = do(c)
	}
	return m.explain(err)
}

// dial opens a connection on the host. What is wrong there is a *remote.Error about what was to be
// reached.
func (m *connectedHost) dial(
	ctx context.Context, what string, open func(*agent.Client) (net.Conn, error),
) (conn net.Conn, err error) {
	err = m.withAgent(ctx, func(c *agent.Client) error {
		conn, err = open(c)
		return err
	})
	if e, ok := errors.AsType[*agent.Error](err); ok {
		err = &remote.Error{Host: m.name, Op: "reach " + what + " on " + m.name,
			Kind: remote.Refused, Cause: e.Text}
	}
	return conn, err
}

// text reads a file of the cluster's folder; "" when it is not there.
func (m *connectedHost) text(ctx context.Context, file string) (text string, err error) {
	err = m.withAgent(ctx, func(c *agent.Client) error {
		name, err := filepath.Rel(m.found.Root, file)
		if err == nil {
			text, err = c.ReadText(ctx, m.found.Root, filepath.ToSlash(name))
		}
		return err
	})
	return text, err
}

// shell runs a script with arguments: by the agent where it runs, as facts are asked before it
// does.
func (m *connectedHost) shell(ctx context.Context, text string, args []string,
	out io.Writer) error {
	argv := append([]string{"sh", "-c", text, "sh"}, args...)
	if m.running() == nil {
		return m.host.Run(ctx, remote.Command{Argv: argv, Stdout: out})
	}
	return m.run(ctx, out, argv...)
}

// run has the agent run a program.
func (m *connectedHost) run(ctx context.Context, out io.Writer, argv ...string) error {
	return m.withAgent(ctx, func(c *agent.Client) error {
		printed, err := c.Output(ctx, argv...)
		if err != nil {
			return err
		}
		defer printed.Close()
		_, err = io.Copy(out, printed)
		return err
	})
}

// mostOutput is how much a host may print of what is read whole, in bytes.
const mostOutput = 1 << 20

// output is what a host prints. More than mostOutput is an error.
type output struct{ bytes.Buffer }

func (o *output) Write(p []byte) (int, error) {
	if o.Len()+len(p) > mostOutput {
		return 0, errors.New("the host prints more than 1 MiB")
	}
	return o.Buffer.Write(p)
}

// quick asks for what it takes to talk to a cluster, and gives its record, which is there on the
// master's host alone.
func (m *connectedHost) quick(ctx context.Context, folder string) (r layout.Record, err error) {
	facts, text, err := probe.Quick(ctx, m.shell, folder, layout.RecordFile)
	if err != nil {
		return r, err
	}
	m.found.Facts = facts
	return layout.ParseRecord(text, layout.Root(facts.Root).Record())
}

// askTime is how long a host may take to answer questions that need no work.
const askTime = 6 * time.Second

// ask bounds questions, which the host's agent is there for. A host that does not answer in time is
// a *remote.Error. What the program takes that starts the agent does not count where it is sent.
func (m *connectedHost) ask(ctx context.Context, questions func(context.Context) error) error {
	late := &remote.Error{Host: m.name, Op: "ask " + m.name, Kind: remote.TimedOut,
		Cause:  fmt.Sprintf("no answer within %v", askTime),
		Remedy: "the host may be overloaded, or away since a moment"}
	starting, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	clock := time.AfterFunc(askTime, func() { stop(late) })
	_, err := m.start(starting, func() { clock.Stop() })
	clock.Stop()
	if err != nil {
		return m.explain(err)
	}
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	err = questions(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return late
	}
	return err
}

// probe asks for everything that the plan needs but images. Where the agent cannot run Docker is
// not asked, and there is no engine: plan.Check says why.
func (m *connectedHost) probe(
	ctx context.Context, folder string, sources []string, now func() time.Time,
) error {
	facts, err := probe.Host(ctx, m.shell, folder, sources, now)
	if err != nil {
		return err
	}
	if facts := m.host.Facts(); facts.Port != 0 {
		m.found.Reached = facts.HostName
	}
	m.found.Facts = facts
	if !m.fits() {
		return nil
	}
	engine, err := m.docker(ctx)
	if err != nil {
		return err
	}
	m.found.Engine, err = engine.Info(ctx)
	return err
}

// fits reports whether the agent can run on the host, as far as its facts tell.
func (m *connectedHost) fits() bool {
	programs, err := m.programs()
	return err != nil || m.found.OS == "linux" && len(m.found.MissingTools) == 0 &&
		slices.ContainsFunc(programs, func(p agent.Program) bool { return p.Arch == m.found.Arch })
}

// gpuTime is how long a host's GPUs may take to answer where nobody waits for more than that.
const gpuTime = 20 * time.Second

// gpus asks for the host's GPUs, until ctx ends.
func (m *connectedHost) gpus(ctx context.Context) {
	limit := nvdocker.AnswerTime
	if end, is := ctx.Deadline(); is {
		limit = min(limit, time.Until(end)-time.Second)
	}
	m.found.GPUs = probe.GPUs(ctx, m.shell, max(limit, time.Second))
}

// docker is the host's engine, which is looked for when it is asked for first. It may be called
// concurrently.
func (m *connectedHost) docker(ctx context.Context) (_ *docker.Engine, err error) {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.engine != nil {
		return m.engine, nil
	}
	if _, err := m.agent(ctx); err != nil {
		return nil, m.explain(err)
	}
	m.engine, err = docker.Open(ctx, docker.Host{Name: m.name,
		Dial: func(ctx context.Context) (net.Conn, error) {
			c, err := m.agent(ctx)
			if err != nil {
				return nil, err
			}
			return c.Docker(ctx)
		},
		Output: func(ctx context.Context, argv ...string) (io.ReadCloser, error) {
			c, err := m.agent(ctx)
			if err != nil {
				return nil, err
			}
			return c.Output(ctx, argv...)
		}})
	return m.engine, err
}

// list asks Docker what there is of clusters.
func (m *connectedHost) list(ctx context.Context, cluster string, images []string) (err error) {
	f := &m.found
	if f.Containers, err = m.engine.List(ctx,
		map[string]string{plan.ClusterLabel: ""}); err != nil {
		return err
	}
	ours := map[string]string{plan.ClusterLabel: cluster}
	networks, err := m.engine.ListNetworks(ctx, ours)
	if err != nil {
		return err
	}
	volumes, err := m.engine.ListVolumes(ctx, ours)
	if err != nil {
		return err
	}
	f.Networks, f.Volumes, f.Images = nil, nil, map[string]docker.Image{}
	for _, n := range networks {
		f.Networks = append(f.Networks, n.Name)
	}
	for _, v := range volumes {
		f.Volumes = append(f.Volumes, v.Name)
	}
	for _, o := range f.Containers {
		if o.Labels[plan.ClusterLabel] != cluster {
			continue
		}
		i, err := m.engine.FindImage(ctx, o.ImageID)
		if err != nil && docker.KindOf(err) != docker.NotFound {
			return err
		}
		if err == nil {
			f.Images[o.ImageID] = i
		}
	}
	return m.images(ctx, images)
}

// images looks which references are there.
func (m *connectedHost) images(ctx context.Context, refs []string) error {
	for _, ref := range refs {
		if ref == "" {
			continue
		}
		i, err := m.engine.FindImage(ctx, ref)
		switch {
		case docker.KindOf(err) == docker.NotFound:
			continue
		case err != nil:
			return err
		case i.Arch != m.found.Arch:
			return fmt.Errorf("the image %s there is for %s, and the host is %s: remove it, so "+
				"that the right one is fetched", ref, i.Arch, m.found.Arch)
		}
		m.found.Images[ref] = i
	}
	return nil
}

// close ends the connections.
func (m *connectedHost) close() error {
	err := m.host.Close()
	m.starting.Lock() // as below
	defer m.starting.Unlock()
	if m.started != nil {
		err = errors.Join(err, m.started.Close())
	}
	m.opening.Lock() // whoever looks for the engine now fails soon
	defer m.opening.Unlock()
	if m.engine != nil {
		err = errors.Join(err, m.engine.Close())
	}
	return err
}
