// Package site is the cluster that a command is for, as config.yml and the command line say: it
// makes of them what package infra wants, and puts the master's API to infra's use.
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
	"sync"
	"time"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/config"
	"mlframework/infra"
	"mlframework/infra/agent"
	"mlframework/infra/host"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// Site is one cluster, as it is known here.
type Site struct {
	Config  *config.Config
	Owner   string
	Infra   infra.Options
	Printer *Printer

	stderr     *os.File
	configFile string
}

// Read reads the configuration: saved options count with saved. What is odd about it is printed to
// stderr.
func Read(ctx *cliv2.Context, saved bool, stderr *os.File) (*Site, error) {
	return ReadFrom(cli.Source(ctx, saved), stderr)
}

// ReadFrom is Read with a configuration from elsewhere than a command's flags say.
func ReadFrom(source config.Source, stderr *os.File) (*Site, error) {
	c, warnings, err := config.Load(source)
	for _, w := range warnings {
		fmt.Fprintln(stderr, "warning: "+cli.Visible(w.String()))
	}
	if err != nil {
		return nil, err
	}
	file := source.File
	if file == "" {
		file = config.FileName
	}
	s := &Site{Config: c, stderr: stderr, configFile: file, Printer: NewPrinter(stderr)}
	who := "somebody"
	if u, err := user.Current(); err == nil {
		s.Owner, who = u.Username, u.Username
	}
	if name, err := os.Hostname(); err == nil {
		who += "@" + name
	}
	s.Infra = infra.Options{
		Dialer: s.dialer(0), Control: control{s.Owner}, Report: s.Printer, Who: who,
		Programs: sync.OnceValues(Programs), Now: time.Now,
		Random: rand.Reader,
	}
	return s, nil
}

// Hurry has hosts answer within a time, or be away. It is for before Open.
func (s *Site) Hurry(most time.Duration) { s.Infra.Dialer = s.dialer(most) }

// dialer reaches hosts as the options say; a timeout of 0 is the usual one.
func (s *Site) dialer(timeout time.Duration) *remote.Dialer {
	return remote.New(remote.Options{
		Identity: s.Config.Options.Key, HostKeys: remote.Policy(s.Config.Options.HostKeyCheck),
		Ask: asker(s.stderr), Timeout: timeout,
		Warn: func(host, text string) { s.Printer.Warn(host, text) },
	})
}

// Target is how a host is reached.
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

// Place is where the cluster that runs is. Without a saved master there is none.
func (s *Site) Place() (infra.Place, error) {
	o := s.Config.Options
	selection, err := s.Config.Selection()
	if err != nil {
		return infra.Place{}, err
	}
	if selection.Master == nil {
		return infra.Place{}, &cli.Error{Code: cli.Invalid,
			Err:    fmt.Errorf("%s does not say where the master is", s.configFile),
			Remedy: "infrainit with -m saves it there; or name another file with --config"}
	}
	p := infra.Place{Name: o.Name, Owner: s.Owner, Folder: s.folder(),
		Master: selection.Master.Name, Targets: map[string]remote.Target{}}
	for _, h := range selection.Hosts {
		p.Targets[h.Name] = s.Target(h.Address)
	}
	return p, nil
}

// folder is the cluster's on the hosts: a name of its own below the one that was asked for, as
// clusters share hosts.
func (s *Site) folder() string { return s.Config.Options.Folder + "/" + s.Config.Options.Name }

// Open reaches the cluster that runs.
func (s *Site) Open(ctx context.Context) (*infra.Cluster, error) {
	p, err := s.Place()
	if err != nil {
		return nil, err
	}
	c, err := infra.Open(ctx, p, s.Infra)
	return c, Explain(err)
}

// architectures are those of hosts.
var architectures = []string{"amd64", "arm64"}

// Programs finds sweepd for hosts beside this program.
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

// programFile is where sweepd for an architecture is, if it is there.
func programFile(arch string) (string, error) {
	self, err := os.Executable()
	if err == nil {
		self, err = filepath.EvalSymlinks(self)
	}
	return filepath.Join(filepath.Dir(self), "linux-"+arch, "sweepd"), err
}

// Explain gives errors of hosts, and of the master, their exit codes.
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
