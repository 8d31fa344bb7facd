package infra_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/agent"
	"mlframework/infra/agent/server"
	"mlframework/infra/host"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

const (
	brokerImage = "rabbitmq:4.2"
	taskImage   = "python:3.12-slim"
)

// fakeHost is a host that is a home folder on this machine, where its commands run, and an engine
// that only notes what it is told.
type fakeHost struct {
	remote.Host // this machine
	name, home  string
	engine      *engine
	single      bool // one session at a time, as with MaxSessions 1
	piped       atomic.Bool
}

func (h *fakeHost) Name() string { return h.name }

func (h *fakeHost) Facts() remote.Facts {
	return remote.Facts{User: "anna", HostName: h.name, Port: 22}
}

// at has a command run in the host's home.
func (h *fakeHost) at(c remote.Command) remote.Command {
	c.Argv = append([]string{"env", "XDG_CACHE_HOME=", "HOME=" + h.home,
		"PATH=" + filepath.Join(h.home, "bin") + ":" + os.Getenv("PATH"), engineAt + "=" + h.engine.server.Listener.Addr().String()}, c.Argv...)
	return c
}

func (h *fakeHost) Run(ctx context.Context, c remote.Command) error {
	if h.single && h.piped.Load() {
		return &remote.Error{Host: h.name, Op: "run on " + h.name, Kind: remote.NoSession}
	}
	return h.Host.Run(ctx, h.at(c))
}

func (h *fakeHost) Pipe(ctx context.Context, c remote.Command) (net.Conn, error) {
	h.piped.Store(true)
	return h.Host.Pipe(ctx, h.at(c))
}

// fakeHosts are the hosts of a test: a Dialer that reaches those that are not away, and a Control
// of a master that hears the workers whose containers run.
type fakeHosts struct {
	t      *testing.T
	hosts  map[string]*fakeHost
	away   map[string]bool
	sweepd agent.Program

	mu         sync.Mutex
	warned     []string
	told       []warning       // as warned, with their hosts
	drained    map[string]bool // workers that were told to take nothing more
	person     map[string]bool // of those the ones that a person told
	unanswered int             // how many questions for workers are not answered
	deaf       bool            // no worker is told to go on
	did        func(string)    // called with every step that has ended; nil is not
	slots      map[string]int  // that workers were given
	open       []string        // revisions of open sweeps
	unfinished []infra.Unfinished
	resumed    func(string)   // called with every worker that is told to go on; nil is not
	silent     map[string]int // how often workers that drain are not heard yet, with a task each
	laptop     *engine        // this machine's Docker
}

type warning struct{ host, what string }

// newSweepd is a program in the place of sweepd: this one is the agent, and it finds every broker.
func newSweepd(t *testing.T) agent.Program {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sweepd")
	text := fmt.Sprintf("#!/bin/sh\n%s=yes exec '%s' \"$@\"\n", asSweepd, self)
	if err := os.WriteFile(file, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	p, err := agent.ReadProgram(runtime.GOARCH, file)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// asSweepd has this program be sweepd instead of the tests, on a host whose engine is at engineAt.
const (
	asSweepd = "INFRA_TEST_SWEEPD"
	engineAt = "INFRA_TEST_ENGINE"
)

func TestMain(m *testing.M) {
	if os.Getenv(asSweepd) == "" {
		os.Exit(m.Run())
	}
	if os.Args[1] != "agent" {
		os.Exit(0)
	}
	made, _ := strconv.Atoi(os.Args[5])
	conn := struct {
		io.Reader
		io.WriteCloser
	}{os.Stdin, os.Stdout}
	err := server.Serve(context.Background(), conn, server.Options{Program: os.Args[3], Made: made,
		Docker: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", os.Getenv(engineAt))
		}})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func newHosts(t *testing.T, names ...string) *fakeHosts {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("NOT TESTED: hosts are Linux")
	}
	all := &fakeHosts{t: t, hosts: map[string]*fakeHost{}, away: map[string]bool{},
		drained: map[string]bool{}, person: map[string]bool{},
		slots: map[string]int{}, silent: map[string]int{},
		sweepd: newSweepd(t), laptop: newEngine(t)}
	for _, n := range names {
		all.hosts[n] = &fakeHost{name: n, home: t.TempDir(),
			engine: newEngine(t, brokerImage, taskImage)}
	}
	return all
}

func (f *fakeHosts) Connect(ctx context.Context, to remote.Target) (remote.Host, error) {
	h, there := f.hosts[to.Name]
	if !there || f.away[to.Name] {
		return nil, &remote.Error{Host: to.Name, Op: "connect to " + to.Name,
			Kind: remote.Unreachable, Cause: "no route to host"}
	}
	d := remote.New(remote.Options{Home: h.home, Config: []string{}, Agent: "none"})
	here, err := d.Connect(ctx, remote.Target{Name: remote.Local})
	if err != nil {
		return nil, err
	}
	return &fakeHost{Host: here, name: h.name, home: h.home, engine: h.engine,
		single: h.single}, nil
}

func (f *fakeHosts) ConnectAll(
	ctx context.Context, to []remote.Target,
) ([]remote.Host, error) {
	hosts := make([]remote.Host, len(to))
	var errs []error
	for i, t := range to {
		h, err := f.Connect(ctx, t)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		hosts[i] = h
	}
	return hosts, errors.Join(errs...)
}

func (f *fakeHosts) Ready(context.Context, infra.Dial) error {
	for _, h := range f.hosts {
		if h.engine.runs("mlframework-c-master") {
			return nil
		}
	}
	return errors.New("no master runs")
}

func (f *fakeHosts) Workers(context.Context, infra.Dial) (all []infra.Worker, err error) {
	f.mu.Lock()
	f.unanswered--
	silent := f.unanswered >= 0
	f.mu.Unlock()
	if silent {
		return nil, errors.New("the master does not answer")
	}
	for name, h := range f.hosts {
		if !h.engine.runs("mlframework-c-worker") {
			continue
		}
		f.mu.Lock()
		drained, person := f.drained[name], f.person[name]
		silent := drained && f.silent[name] > 0
		if silent {
			f.silent[name]--
		}
		f.mu.Unlock()
		worker := infra.Worker{Name: name, Here: !silent, Drained: drained,
			Replaced: drained && !person}
		if silent {
			worker.Held = 1
		}
		all = append(all, worker)
	}
	return all, nil
}

func (f *fakeHosts) Drain(_ context.Context, _ infra.Dial, worker string) error {
	return f.setDrained(worker, true)
}

func (f *fakeHosts) Undrain(_ context.Context, _ infra.Dial, worker string) error {
	return f.setDrained(worker, false)
}

func (f *fakeHosts) setDrained(worker string, drained bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !drained && f.deaf {
		return errors.New("the master does not answer")
	}
	if f.drained[worker] && f.person[worker] {
		return nil
	}
	f.drained[worker] = drained
	if !drained && f.resumed != nil {
		f.resumed(worker)
	}
	return nil
}

func (f *fakeHosts) Resize(_ context.Context, _ infra.Dial, worker string, slots int) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.slots[worker] = slots
	return nil
}

func (f *fakeHosts) Forget(context.Context, infra.Dial, string) error { return nil }

func (f *fakeHosts) Unfinished(context.Context, infra.Dial) ([]infra.Unfinished, error) {
	return f.unfinished, nil
}

func (f *fakeHosts) Revisions(context.Context, infra.Dial) ([]string, error) { return f.open, nil }

func (f *fakeHosts) Did(host, what string, _ time.Duration) {
	f.t.Log(host, what)
	if f.did != nil {
		f.did(what)
	}
}
func (f *fakeHosts) Says(host, what string) { f.t.Log(host, what) }

func (f *fakeHosts) Warn(host, what string) {
	f.t.Log(host, "warning:", what)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.warned, f.told = append(f.warned, what), append(f.told, warning{host, what})
}

func (f *fakeHosts) options() infra.Options {
	return infra.Options{Dialer: f, Control: f, Report: f, Who: "anna@laptop",
		Programs: func() ([]agent.Program, error) { return []agent.Program{f.sweepd}, nil },
		Here: func(ctx context.Context) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", f.laptop.server.Listener.Addr().String())
		},
		Now: time.Now, Random: rand.Reader}
}

// request asks for the cluster c with its master on the first host and workers on the others.
func (f *fakeHosts) request(names ...string) infra.Request {
	f.t.Helper()
	r := infra.Request{Cluster: plan.Cluster{Name: "c", Master: names[0],
		Sweepd:      map[string]string{runtime.GOARCH: f.sweepd.Hash()},
		BrokerImage: brokerImage, Project: plan.Project{Image: taskImage}, Address: "gpu1",
		Now: true},
		Targets: map[string]remote.Target{}, Folder: "ml/c"}
	for i, n := range names {
		h := plan.Host{Name: n, Address: host.Address{Name: n}}
		if i > 0 {
			// GPUs of this machine are of no concern.
			h.Work = &config.HostOptions{Slots: 1, GPUs: config.GPUs{None: true}}
		}
		r.Hosts = append(r.Hosts, h)
		r.Targets[n] = remote.Target{Name: n}
	}
	return r
}

// up brings the cluster up, and closes it.
func (f *fakeHosts) up(r infra.Request) (infra.Result, error) {
	f.t.Helper()
	result, err := infra.Up(f.t.Context(), r, f.options())
	if result.Cluster != nil {
		result.Cluster.Close()
	}
	return result, err
}

// state is what runs where, and which containers are there without running.
func (f *fakeHosts) state(names ...string) (lines []string) {
	for _, n := range names {
		for _, role := range []string{plan.Broker, plan.Master, plan.Monitor, plan.Worker} {
			if f.hosts[n].engine.runs("mlframework-c-" + role) {
				lines = append(lines, fmt.Sprintf("%s %s", n, role))
			}
		}
	}
	return lines
}
