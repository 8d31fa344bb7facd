package infra

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"mlframework/infra/filesync"
	"mlframework/infra/plan"
	"mlframework/projects"
)

// Pushed is what a push did on one host.
type Pushed struct {
	Host string
	filesync.Pushed
	Took time.Duration
}

// Large asks a person before so much is brought to hosts, and goes on with nil. It is called
// concurrently. Nil as a function refuses it, by the *filesync.LargeError.
type Large = func(*filesync.LargeError) error

// Push brings a project's files to the hosts of the cluster and then has each take them for the
// current ones, so that a sweep may name the revision once it has returned without an error. Hosts
// of workers that cannot be reached or written to are left: their workers get no tasks of the
// revision before infrainit has brought it.
//
// What fails on the master's host leaves other hosts with a release more, which harms nothing and
// is removed in time. The current release of the master's host is CurrentRevision, and its home
// folder may be another host's, too: no host switches before all others have the files, or are
// left. The master's host gets them in the second round.
func (c *Cluster) Push(
	ctx context.Context, files *projects.Manifest, large Large,
) (done []Pushed, left plan.Problems, err error) {
	stay := c.staying()
	left, err = c.reach(ctx, stay...)
	switch {
	case err != nil:
		return nil, nil, err
	case left.Of(c.location.Master):
		return nil, nil, left
	}
	var mu sync.Mutex
	brought := map[string]Pushed{} // by the push that brought the files, the first of a host
	refused := false               // by who was asked
	ask := func(l *filesync.LargeError) (err error) {
		if err = l; large != nil {
			err = large(l)
		}
		mu.Lock()
		defer mu.Unlock()
		refused = refused || err != nil
		return err
	}
	push := func(o filesync.PushOptions) func(*connectedHost) error {
		o.Large, o.Wait = ask, pushWait
		return func(m *connectedHost) error {
			begun := c.o.Now()
			client, err := c.files(ctx, m)
			if err != nil {
				return err
			}
			done, err := client.Push(ctx, files, o)
			mu.Lock()
			defer mu.Unlock()
			if _, before := brought[m.name]; err == nil && !before {
				brought[m.name] = Pushed{m.name, done, c.o.Now().Sub(begun)}
			}
			return err
		}
	}
	for _, first := range []bool{true, false} {
		errs := c.each(slices.DeleteFunc(slices.Clone(stay), func(n string) bool {
			return first && n == c.location.Master || left.Of(n)
		}), push(filesync.PushOptions{KeepCurrent: first}))
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		if refused || errs[c.location.Master] != nil {
			return nil, nil, stepErrors(errs, "bring the project's files")
		}
		left = append(left, problems(errs)...)
	}
	return slices.SortedFunc(maps.Values(brought),
		func(a, b Pushed) int { return strings.Compare(a.Host, b.Host) }), left, nil
}

// staying are the hosts that have not left, and are not to leave as soon as they are back.
func (c *Cluster) staying() (names []string) {
	for _, h := range c.Record.Hosts {
		if !h.Leaves && !h.Outputs {
			names = append(names, h.Name)
		}
	}
	return names
}

func stepErrors(errs map[string]error, what string) error {
	var all []*StepError
	for n, err := range errs {
		all = append(all, &StepError{n, what, err})
	}
	return joined(all)
}

// pushWait is how long a push waits for another to the same folder: hosts that share a home get
// theirs one after the other.
const pushWait = 10 * time.Minute

// files talks to a host about files.
func (c *Cluster) files(ctx context.Context, m *connectedHost) (*filesync.Client, error) {
	return m.files(ctx, filesync.Identity{Owner: c.Record.Owner, Cluster: c.Record.Cluster,
		Who: c.o.Who})
}

// files talks to the host about files.
func (m *connectedHost) files(ctx context.Context, id filesync.Identity) (*filesync.Client, error) {
	a, err := m.agent(ctx)
	if err != nil {
		return nil, err
	}
	return filesync.NewClient(a, m.found.Root, id), nil
}

// Pruned is what was removed from one host.
type Pruned struct {
	Host      string
	Revisions []filesync.Revision
}

// Prune removes revisions of the project from all hosts that can be reached, but for those to keep,
// the one in force, and what was pushed during the time older. It gives what it removed, by host,
// also beside an error.
func (c *Cluster) Prune(ctx context.Context, keep []string, older time.Duration) ([]Pruned, error) {
	if _, err := c.reach(ctx, c.staying()...); err != nil { // hosts that are off keep theirs
		return nil, err
	}
	results := make(chan Pruned, len(c.connected))
	errs := c.each(c.reached(), func(m *connectedHost) error {
		client, err := c.files(ctx, m)
		if err != nil {
			return err
		}
		removed, err := client.Prune(ctx, keep, older)
		results <- Pruned{m.name, removed}
		return err
	})
	close(results)
	var all []Pruned
	for p := range results {
		all = append(all, p)
	}
	slices.SortFunc(all, func(a, b Pruned) int { return strings.Compare(a.Host, b.Host) })
	if len(errs) > 0 {
		return all, stepErrors(errs, "remove old revisions")
	}
	return all, nil
}

// files brings the project's files to a host and puts them in force.
func (a *applier) files(ctx context.Context, m *connectedHost) error {
	client, err := a.client(ctx, m)
	if err != nil {
		return err
	}
	_, err = client.Push(ctx, a.request.Files, filesync.PushOptions{Large: a.request.Large})
	return err
}
