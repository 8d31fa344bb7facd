package infra

import (
	"context"
	"net"
	"path"

	"mlframework/infra/agent"
	"mlframework/infra/layout"
)

// master dials the API of the cluster's master.
func (a *applier) master() Dial {
	m := a.connected[a.request.Master]
	return m.api()
}

// api dials the master on its host.
func (m *connectedHost) api() Dial {
	l := layout.Root(m.found.Root)
	owner, _ := m.found.RunAs()
	socket := agent.Socket{Path: path.Join(l.Run(), layout.Socket), Owner: owner}
	return func(ctx context.Context) (net.Conn, error) {
		return m.dial(ctx, "the master", func(a *agent.Client) (net.Conn, error) {
			return a.Master(ctx, socket)
		})
	}
}
