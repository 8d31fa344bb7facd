// Package site is the cluster of a command, as cluster.yml and the command line describe it. It
// turns them into requests to package infra, and lets infra use the master's API.
//
// Only the packages below cmd may import it.
package site

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"os/user"
	"path/filepath"
	"slices"
	"sync"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/agent"
	"mlframework/infra/host"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// Site is one cluster, as this machine's configuration describes it.
type Site struct {
	Config  *config.Config
	User    string // who is at work, for the audit
	Infra   infra.Options
	Printer *Printer

	// Hints are the options of this call that commands in messages repeat.
	Hints cli.Hints

	stderr *os.File
}

// Read reads the configuration; with saved, that includes the saved options. It prints warnings to
// stderr.
func Read(ctx *cliv2.Context, saved bool, stderr *os.File) (*Site, error) {
	return ReadFrom(cli.Source(ctx, saved), stderr)
}

// ReadFrom is like Read, with a configuration that the flags of a command do not name.
func ReadFrom(source config.Source, stderr *os.File) (*Site, error) {
	c, warnings, err := config.Load(source)
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning: "+cli.Visible(w.String()))
	}
	if err != nil {
		return nil, err
	}
	s := &Site{Config: c, stderr: stderr, Printer: NewPrinter(stderr),
		Hints: cli.Hints{Config: source.File, Project: source.Flags["project"]}}
	s.Printer.hints = s.Hints
	who := "somebody"
	if u, err := user.Current(); err == nil {
		s.User, who = u.Username, u.Username
	}
	if name, err := os.Hostname(); err == nil {
		who += "@" + name
	}
	s.Infra = infra.Options{
		Dialer: s.dialer(0), Control: control{s.User}, Report: s.Printer, Who: who,
		Programs: sync.OnceValues(Programs), Here: infra.LocalDocker(), Now: time.Now,
		Random: rand.Reader,
	}
	return s, nil
}

// Hurry sets the time within which hosts must answer. Call it before Open.
func (s *Site) Hurry(most time.Duration) { s.Infra.Dialer = s.dialer(most) }

// dialer returns a dialer with the configured options. A timeout of 0 is the default.
func (s *Site) dialer(timeout time.Duration) *remote.Dialer {
	return remote.New(remote.Options{
		Identity: s.Config.Options.Key, HostKeys: remote.Policy(s.Config.Options.HostKeyCheck),
		Ask: s.asker(), Timeout: timeout,
		Warn: func(host, text string) { s.Printer.Warn(host, text) },
	})
}

// Target returns how to reach a host.
func (s *Site) Target(a host.Address) remote.Target {
	if a.Local() {
		return remote.Target{Name: remote.Local}
	}
	h := s.Config.Host(a)
	t := remote.Target{Name: a.String(), User: h.Address.User, Port: h.Address.Port, Key: h.Key}
	for i, hop := range h.Jump {
		if i > 0 {
			t.Jump += ","
		}
		t.Jump += hop.String()
	}
	return t
}

// Location returns where the running cluster is. It is an error if the configuration has no master.
func (s *Site) Location() (infra.Location, error) {
	o := s.Config.Options
	selection, err := s.Config.Selection()
	if err != nil {
		return infra.Location{}, err
	}
	if selection.Master == nil {
		return infra.Location{}, &cli.Error{Code: cli.Invalid,
			Err:    fmt.Errorf("%s does not say where the master is", s.Config.File),
			Remedy: "infrainit with -m saves it there; or name another file with --config"}
	}
	p := infra.Location{Name: o.Name, Folder: s.folder(),
		Master: selection.Master.Name, Targets: map[string]remote.Target{}}
	for _, h := range selection.Hosts {
		p.Targets[h.Name] = s.Target(h.Address)
	}
	return p, nil
}

// folder returns the cluster's folder on the hosts: below the configured one, as several clusters
// may share a host.
func (s *Site) folder() string { return s.Config.Options.Folder + "/" + s.Config.Options.Name }

// Open connects to the running cluster. Its errors have exit codes, as Explain gives them.
func (s *Site) Open(ctx context.Context) (*infra.Cluster, error) {
	p, err := s.Location()
	if err != nil {
		return nil, err
	}
	s.Printer.Wait(p.Master, "waiting for the master's host to answer")
	defer s.Printer.Clear()
	c, err := infra.Open(ctx, p, s.Infra)
	return c, Explain(err)
}

// Assume returns the cluster as the configuration describes it where Open failed with err because
// the master's host cannot be reached; nil where it failed because of something else.
func (s *Site) Assume(err error) *infra.Cluster {
	e, _ := errors.AsType[*cli.Error](err)
	_, none := errors.AsType[*infra.NoCluster](err)
	if e == nil || e.Code != cli.Unreachable || none {
		return nil
	}
	p, invalid := s.Location()
	selection, nothing := s.Config.Selection()
	if invalid != nil || nothing != nil {
		return nil
	}
	var hosts []layout.RecordHost
	for _, h := range selection.Hosts {
		one := layout.RecordHost{Name: h.Name, Address: h.Address.String(),
			Worker: slices.ContainsFunc(selection.Workers, func(w *host.Host) bool {
				return w.Name == h.Name
			})}
		if one.Worker || h.Name == p.Master {
			hosts = append(hosts, one)
		}
	}
	return infra.Assume(p, hosts, e.Err, s.Infra)
}

// architectures are the ones that hosts may have.
var architectures = []string{"amd64", "arm64"}

// Programs finds the builds of sweepd for hosts beside this program.
func Programs() (all []agent.Program, err error) {
	for _, arch := range architectures {
		file, err := programFile(arch)
		if err != nil {
			return nil, err
		}
		p, err := agent.ReadProgram(arch, file)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		all = append(all, p)
	}
	if len(all) == 0 {
		file, _ := programFile(architectures[0])
		return nil, &cli.Error{Code: cli.Machine,
			Err:    fmt.Errorf("there is no sweepd for hosts in %s", filepath.Dir(file)),
			Remedy: "scripts/install PREFIX builds all commands, with sweepd beside them"}
	}
	return all, nil
}

// programFile returns where sweepd for an architecture belongs, whether or not it is there.
func programFile(arch string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	return filepath.Join(filepath.Dir(self), "linux-"+arch, "sweepd"), err
}

// Explain returns errors of hosts and of the master with their exit codes, and others as they are.
func Explain(err error) error {
	if _, worded := errors.AsType[*cli.Error](err); worded || err == nil {
		return err
	}
	if _, step := errors.AsType[*infra.StepError](err); step {
		return &cli.Error{Code: cli.Failed, Err: err}
	}
	if _, away := errors.AsType[*remote.Error](err); away {
		return &cli.Error{Code: cli.Unreachable, Err: err}
	}
	if _, unfit := errors.AsType[*agent.Fault](err); unfit {
		return &cli.Error{Code: cli.Unreachable, Err: err}
	}
	if _, none := errors.AsType[*infra.NoCluster](err); none {
		return &cli.Error{Code: cli.Unreachable, Err: err}
	}
	if _, locked := errors.AsType[*infra.Locked](err); locked {
		return &cli.Error{Code: cli.Failed, Err: err}
	}
	if faults, many := errors.AsType[plan.Problems](err); many {
		code := cli.Failed
		for _, f := range faults {
			if f.Unreached {
				code = cli.Unreachable
			}
		}
		return &cli.Error{Code: code, Err: err}
	}
	if e := ExplainMaster(err, "run-tasks"); e != nil {
		return e
	}
	return err
}
