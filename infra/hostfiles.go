package infra

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"path"

	"mlframework/infra/agent"
	"mlframework/infra/broker"
	"mlframework/infra/layout"
	"mlframework/infra/plan"
)

// put writes files with mode 0600 into a folder with mode 0700. A uid of -1 leaves them to the ssh user.
func (m *machine) put(ctx context.Context, dir string, files []broker.File, uid, gid int) error {
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
func (m *machine) agentFolders(do plan.Folders) agent.Folders {
	return agent.Folders{Root: do.Root, Owner: do.Owner, Cluster: do.Cluster, Names: do.Names,
		UID: do.UID, GID: do.GID, Shared: do.Shared, Group: m.found.Groups[do.Group]}
}

// keep writes a record.
func (m *machine) keep(ctx context.Context, r layout.Record) error {
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
	s.each(names, func(m *machine) error {
		if m.started == nil || !m.started.Fresh() {
			return nil
		}
		if at := m.found.Marker; at != nil && at.Owner == s.ours.Owner && at.Cluster == s.ours.Cluster {
			return nil
		}
		if err := m.started.RemoveProgram(ctx); err != nil {
			s.o.Report.Warn(m.name, "sweepd stays in the user's cache folder: "+err.Error())
		}
		return nil
	})
}

// base is the tar of the image with nothing in it but a user and the folders that belong to it.
func base(do plan.Base) (io.Reader, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	text := map[string]string{
		"etc/passwd": fmt.Sprintf("%s:x:%d:%d::/store:/sbin/nologin\n", do.User, do.UID, do.GID),
		"etc/group":  fmt.Sprintf("%s:x:%d:\n", do.User, do.GID),
	}
	for _, dir := range []string{"etc", "tmp", "store", "run"} {
		h := tar.Header{Name: dir + "/", Mode: 0o755, Typeflag: tar.TypeDir}
		if dir == "store" {
			h.Uid, h.Gid, h.Mode = do.UID, do.GID, 0o700
		}
		if err := w.WriteHeader(&h); err != nil {
			return nil, err
		}
	}
	for _, name := range sortedKeys(text) {
		if err := w.WriteHeader(&tar.Header{Name: path.Clean(name), Mode: 0o644, Size: int64(len(text[name])), Typeflag: tar.TypeReg}); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, text[name]); err != nil {
			return nil, err
		}
	}
	return &b, w.Close()
}
