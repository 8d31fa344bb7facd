package infra

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/probe"
	"mlframework/infra/remote"
	"mlframework/nvdocker"
)

// machine is a host that was reached.
type machine struct {
	name   string
	host   remote.Host
	engine *docker.Engine // nil before probe, and where Docker could not be reached
	found  plan.Found

	opening sync.Mutex // held while engine is looked for
}

// script runs a script with arguments.
func (m *machine) script(ctx context.Context, text string, args []string, in io.Reader, out io.Writer) error {
	argv := append([]string{"sh", "-c", text, "sh"}, args...)
	return m.host.Run(ctx, remote.Command{Argv: argv, Stdin: in, Stdout: out})
}

// shell is script as package probe wants it.
func (m *machine) shell(ctx context.Context, text string, args []string, out io.Writer) error {
	return m.script(ctx, text, args, nil, out)
}

// output runs a script and gives what it printed, at most 1 MiB.
func (m *machine) output(ctx context.Context, text string, args ...string) (string, error) {
	var b bytes.Buffer
	err := m.script(ctx, text, args, nil, &b)
	return strings.TrimSpace(b.String()), err
}

// quick asks for what it takes to talk to a cluster, and gives its record, which is there on the master's host alone.
func (m *machine) quick(ctx context.Context, folder string) (r layout.Record, err error) {
	facts, text, err := probe.Quick(ctx, m.shell, folder, layout.RecordFile)
	if err != nil {
		return r, err
	}
	m.found.Facts = facts
	return layout.ParseRecord(text, layout.Root(facts.Root).Record())
}

// askTime is how long a host may take to answer questions that need no work.
const askTime = 6 * time.Second

// ask bounds questions. A host that does not answer in time is a *remote.Error.
func (m *machine) ask(ctx context.Context, questions func(context.Context) error) error {
	limited, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	err := questions(limited)
	if err != nil && limited.Err() != nil && ctx.Err() == nil {
		return &remote.Error{Host: m.name, Op: "ask " + m.name, Kind: remote.TimedOut, Cause: fmt.Sprintf("no answer within %v", askTime),
			Remedy: "the host may be overloaded, or away since a moment"}
	}
	return err
}

// probe asks for everything that the plan needs but images.
func (m *machine) probe(
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
	engine, err := m.docker(ctx)
	if err != nil {
		return err
	}
	m.found.Engine, err = engine.Info(ctx)
	return err
}

// gpuTime is how long a host's GPUs may take to answer where nobody waits for more than that.
const gpuTime = 20 * time.Second

// gpus asks for the host's GPUs, until ctx ends.
func (m *machine) gpus(ctx context.Context) {
	limit := nvdocker.AnswerTime
	if end, is := ctx.Deadline(); is {
		limit = min(limit, time.Until(end)-time.Second)
	}
	m.found.GPUs = probe.GPUs(ctx, m.shell, max(limit, time.Second))
}

// docker is the host's engine, which is looked for when it is asked for first. It may be called concurrently.
func (m *machine) docker(ctx context.Context) (_ *docker.Engine, err error) {
	m.opening.Lock()
	defer m.opening.Unlock()
	if m.engine == nil {
		m.engine, err = docker.Open(ctx, dockerHost{m.host}, docker.Options{Name: m.name})
	}
	return m.engine, err
}

// list asks Docker what there is of clusters.
func (m *machine) list(ctx context.Context, cluster string, images []string) (err error) {
	f := &m.found
	if f.Containers, err = m.engine.List(ctx, map[string]string{plan.ClusterLabel: ""}); err != nil {
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
	f.Networks, f.Volumes, f.Images = nil, nil, nil
	for _, n := range networks {
		f.Networks = append(f.Networks, n.Name)
	}
	for _, v := range volumes {
		f.Volumes = append(f.Volumes, v.Name)
	}
	return m.images(ctx, images)
}

// images looks which references are there.
func (m *machine) images(ctx context.Context, refs []string) error {
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
			return fmt.Errorf("the image %s there is for %s, and the host is %s: remove it, so that the right one is fetched", ref, i.Arch, m.found.Arch)
		}
		m.found.Images = append(m.found.Images, ref)
	}
	return nil
}

// close ends the connections.
func (m *machine) close() error {
	err := m.host.Close()
	m.opening.Lock() // whoever looks for the engine now fails soon
	defer m.opening.Unlock()
	if m.engine != nil {
		err = errors.Join(err, m.engine.Close())
	}
	return err
}

// dockerHost is a host as package docker wants it.
type dockerHost struct{ remote.Host }

func (h dockerHost) Pipe(ctx context.Context, argv ...string) (net.Conn, error) {
	return h.Host.Pipe(ctx, remote.Command{Argv: argv})
}
