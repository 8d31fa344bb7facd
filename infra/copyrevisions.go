package infra

import (
	"context"
	"fmt"
	"slices"

	"mlframework/infra/filesync"
	"mlframework/infra/plan"
)

// relay copies revisions that a host lacks from the master's host, through this machine. What has
// arrived is verified. One that the master's host does not have, either, cannot be run by any
// worker: that is for its sweep to say.
func (a *applier) relay(ctx context.Context, m *connectedHost, do plan.Relay) error {
	master := a.connected[a.request.Master]
	wanted, err := a.o.Control.Revisions(ctx, a.master())
	if err != nil {
		return err
	}
	if do.CurrentRevision != "" {
		wanted = append(wanted, do.CurrentRevision)
	}
	from, err := a.client(ctx, master)
	if err != nil {
		return err
	}
	to, err := a.client(ctx, m)
	if err != nil {
		return err
	}
	there, err := to.Revisions(ctx)
	if err != nil {
		return err
	}
	source, err := from.Revisions(ctx)
	if err != nil {
		return err
	}
	slices.Sort(wanted)
	for _, revision := range slices.Compact(wanted) {
		if slices.Contains(there, revision) || !slices.Contains(source, revision) {
			continue
		}
		if err := filesync.Copy(ctx, from, to, revision); err != nil {
			return fmt.Errorf("copy the files of revision %s from %s: %w", revision, master.name,
				err)
		}
	}
	return nil
}

// CopyRevision copies a revision of the project from the master's host to another host of the
// cluster, through this machine: a host that was away when the others got it. Connections that have
// died are made again. It must not be called while another method of c runs.
func (c *Cluster) CopyRevision(ctx context.Context, host, revision string) error {
	if !slices.Contains(c.staying(), host) {
		return fmt.Errorf("%s is not a host of the cluster", host)
	}
	away, err := c.reach(ctx, c.location.Master, host)
	switch {
	case err != nil:
		return err
	case len(away) > 0:
		return away
	}
	from, err := c.files(ctx, c.connected[c.location.Master])
	if err != nil {
		return err
	}
	to, err := c.files(ctx, c.connected[host])
	if err != nil {
		return err
	}
	return filesync.Copy(ctx, from, to, revision)
}

// client talks to a host about the files of the cluster.
func (a *applier) client(ctx context.Context, m *connectedHost) (*filesync.Client, error) {
	return m.files(ctx, filesync.Identity{Owner: a.request.Owner, Cluster: a.request.Name,
		Who: a.o.Who})
}
