package infra

import (
	"context"

	"mlframework/infra/agent"
	"mlframework/infra/broker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// put writes files with mode 0600 into a folder with mode 0700. A uid of -1 leaves them to the ssh
// user.
func (m *connectedHost) put(ctx context.Context, dir string, files []broker.File, uid,
	gid int) error {
	if uid == m.found.UID {
		uid = -1 // they are the user's anyway
	}
	put := agent.PrivateFiles{Root: m.found.Root, Dir: dir, UID: uid, GID: gid}
	for _, f := range files {
		put.Files = append(put.Files, agent.PrivateFile{Name: f.Name, Data: f.Data})
	}
	return m.withAgent(ctx, func(c *agent.Client) error { return c.PutPrivate(ctx, put) })
}

// agentFolders is a step as the agent wants it.
func (m *connectedHost) agentFolders(do plan.Folders) agent.Folders {
	return agent.Folders{Root: do.Root, Owner: do.Owner, Cluster: do.Cluster, Names: do.Names,
		UID: do.UID, GID: do.GID}
}

// keep writes a record.
func (m *connectedHost) keep(ctx context.Context, r layout.Record) error {
	return m.withAgent(ctx, func(c *agent.Client) error {
		return c.WriteText(ctx, agent.Text{Root: m.found.Root, Name: layout.RecordFile,
			Data: r.Encode()})
	})
}

// leave removes the program from hosts to which it was brought for this call, and which have
// nothing else of the cluster.
func (s *session) leave(ctx context.Context, names ...string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTime)
	defer cancel()
	s.each(names, func(m *connectedHost) error {
		if m.started == nil || !m.started.Fresh() {
			return nil
		}
		if at := m.found.Marker; at != nil && at.Cluster == s.cluster {
			return nil
		}
		if err := m.started.RemoveProgram(ctx); err != nil {
			s.o.Report.Warn(m.name, "sweepd stays in the user's cache folder: "+err.Error())
		}
		return nil
	})
}
