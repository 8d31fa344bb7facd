package infra

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"mlframework/infra/filesync"
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

// Push brings a project's files to every host of the cluster, to the master's last, so that
// CurrentRevision is what all have: a sweep may name the revision once it has returned without an
// error.
//
// It begins nowhere while a host is away. What fails later leaves other hosts with a release more,
// which harms nothing and is removed in time: what runs is what a sweep names by its revision, and
// who submits one names only what was pushed to all. The link current of a host is for people and
// for the next push, so there is no second round in which all hosts switch it.
func (c *Cluster) Push(
	ctx context.Context, files *projects.Manifest, large Large,
) ([]Pushed, error) {
	stay := c.staying()
	away, err := c.reach(ctx, stay...)
	if err != nil {
		return nil, err
	}
	if len(away) > 0 {
		return nil, away
	}
	var mu sync.Mutex
	var all []Pushed
	push := func(m *machine) error {
		begun := c.o.Now()
		done, err := c.pushTo(ctx, m, files, large)
		if err == nil {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, Pushed{m.name, done, c.o.Now().Sub(begun)})
		}
		return err
	}
	others := slices.DeleteFunc(stay, func(n string) bool { return n == c.place.Master })
	errs := c.each(others, push)
	if len(errs) == 0 { // the master's host is last: what is in force there is everywhere
		errs = c.each([]string{c.place.Master}, push)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(errs) > 0 {
		return nil, stepErrors(errs, "bring the project's files")
	}
	slices.SortFunc(all, func(a, b Pushed) int { return strings.Compare(a.Host, b.Host) })
	return all, nil
}

// staying are the hosts that are not to leave as soon as they are back.
func (c *Cluster) staying() (names []string) {
	for _, h := range c.Record.Hosts {
		if !h.Leaves {
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

func (c *Cluster) pushTo(
	ctx context.Context, m *machine, files *projects.Manifest, large Large,
) (filesync.Pushed, error) {
	client, err := c.files(ctx, m)
	if err != nil {
		return filesync.Pushed{}, err
	}
	return client.Push(ctx, files, filesync.PushOptions{Large: large, Wait: pushWait})
}

// pushWait is how long a push waits for another to the same folder: hosts that share a home get
// theirs one after the other.
const pushWait = 10 * time.Minute

// files talks to a host about files.
func (c *Cluster) files(ctx context.Context, m *machine) (*filesync.Client, error) {
	return m.files(ctx, filesync.Identity{Owner: c.Record.Owner, Cluster: c.Record.Cluster,
		Who: c.o.Who})
}

// files talks to the host about files.
func (m *machine) files(ctx context.Context, id filesync.Identity) (*filesync.Client, error) {
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

// Prune removes revisions of the project from all hosts that are reached, but for those to keep,
// the one in force, and what was pushed during the time older. It gives what it removed, by host,
// also beside an error.
func (c *Cluster) Prune(ctx context.Context, keep []string, older time.Duration) ([]Pruned, error) {
	results := make(chan Pruned, len(c.machines))
	errs := c.each(c.reached(), func(m *machine) error {
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
