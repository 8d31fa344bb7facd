package infra

import (
	"context"
	"errors"
	"slices"
	"sync"

	"mlframework/infra/agent"
	"mlframework/infra/broker"
	"mlframework/infra/docker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
	"mlframework/infra/remote"
)

// session is the connected hosts of a cluster while something is done to them.
type session struct {
	o         Options
	cluster   string                    // its name
	connected map[string]*connectedHost // by name in the cluster; those that were reached

	looking sync.Mutex     // held while local is looked for
	local   *docker.Engine // this machine's; nil: not asked for yet

	secretsMu sync.Mutex
	secrets   *broker.Secrets // nil: not read yet
}

func newSession(cluster string, o Options) *session {
	go func() { _, _ = o.Programs() }() // which takes a while to read, and who asks again gets it
	return &session{o: o, cluster: cluster, connected: map[string]*connectedHost{}}
}

// connectedHost returns a host that was reached.
func (s *session) connectedHost(name string, host remote.Host) *connectedHost {
	return &connectedHost{name: name, host: host, programs: s.o.Programs}
}

// close ends all connections.
func (s *session) close() {
	for _, m := range s.connected {
		_ = m.close() // what was asked for is done, or has failed for a better reason
	}
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.local != nil {
		_ = s.local.Close() // as above
	}
}

// here is this machine's Docker.
func (s *session) here(ctx context.Context) (*docker.Engine, error) {
	s.looking.Lock()
	defer s.looking.Unlock()
	if s.local != nil {
		return s.local, nil
	}
	local, err := docker.Open(ctx, docker.Host{Name: "this machine", Dial: s.o.Here})
	if err == nil {
		s.local = local
	}
	return local, err
}

// connect connects to hosts by their names and gives what is wrong with those that it did not
// reach.
func (s *session) connect(ctx context.Context, targets map[string]remote.Target) (plan.Problems,
	error) {
	names := sortedKeys(targets)
	list := make([]remote.Target, len(names))
	for i, n := range names {
		list[i] = targets[n]
	}
	hosts, err := s.o.Dialer.ConnectAll(ctx, list)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	var problems plan.Problems
	for i, n := range names {
		if hosts[i] != nil {
			s.connected[n] = s.connectedHost(n, hosts[i])
			continue
		}
		problems = append(problems, unreached(n, list[i].Name, err))
	}
	return problems, nil
}

// unreached finds what is said of one host in what is said of all.
func unreached(name, listed string, err error) plan.Problem {
	p := plan.Problem{Host: name, What: "it was not reached", Unreached: true}
	all := []error{err}
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		all = joined.Unwrap()
	}
	for _, one := range all {
		if e, ok := errors.AsType[*remote.Error](one); ok && e.Host == listed {
			p.What, p.Remedy = e.Op+": "+e.Cause, e.Remedy
		}
	}
	return p
}

// each does something on hosts at once and gives what went wrong, by host.
func (s *session) each(names []string, do func(*connectedHost) error) map[string]error {
	var mu sync.Mutex
	var all sync.WaitGroup
	errs := map[string]error{}
	for _, n := range names {
		all.Go(func() {
			if err := do(s.connected[n]); err != nil {
				mu.Lock()
				defer mu.Unlock()
				errs[n] = err
			}
		})
	}
	all.Wait()
	return errs
}

// reached are the names of the connected hosts, sorted.
func (s *session) reached() []string { return sortedKeys(s.connected) }

func sortedKeys[T any](of map[string]T) []string {
	names := make([]string, 0, len(of))
	for n := range of {
		names = append(names, n)
	}
	slices.Sort(names)
	return names
}

// problems gives errors of hosts as problems.
func problems(errs map[string]error) (all plan.Problems) {
	for _, n := range sortedKeys(errs) {
		p := plan.Problem{Host: n, What: errs[n].Error()}
		_, ofDocker := errors.AsType[*docker.Fault](errs[n]) // the host answers
		if e, away := errors.AsType[*remote.Error](errs[n]); away && !ofDocker {
			p.What, p.Remedy, p.Unreached = e.Op+": "+e.Cause, e.Remedy, true
		}
		if f, is := errors.AsType[*agent.Fault](errs[n]); is {
			p.What, p.Remedy = f.Cause, f.Remedy
		}
		all = append(all, p)
	}
	return all
}

// record reads what the master's host keeps of the cluster; the zero value when it keeps nothing.
func (s *session) record(ctx context.Context, m *connectedHost) (r layout.Record, err error) {
	file := layout.Root(m.found.Root).Record()
	text, err := m.text(ctx, file)
	if err != nil {
		return r, err
	}
	return layout.ParseRecord(text, file)
}
