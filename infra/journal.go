package infra

import (
	"context"
	"fmt"
	"time"

	"mlframework/infra/agent"
)

// Entry makes the line of the audit that says how a change of the cluster ended. The uid is that of
// the ssh user on the master's host.
type Entry func(uid int, err error) []byte

// enter writes how a change ended into the audit on the master's host, also when ctx has ended.
func (m *connectedHost) enter(ctx context.Context, entry Entry, ended error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), journalTime)
	defer cancel()
	line := agent.AuditLine{Root: m.found.Root, Line: entry(m.found.UID, ended)}
	err := m.withAgent(ctx, func(c *agent.Client) error { return c.AppendAudit(ctx, line) })
	if err != nil {
		return fmt.Errorf("write the audit on %s: %w", m.name, err)
	}
	return nil
}

// audit writes how this call ended into the audit. That it cannot is told, and no failure.
func (u *up) audit(ctx context.Context, ended error) {
	m, there := u.connected[u.request.Master]
	if u.request.Entry == nil || !there {
		return
	}
	if err := m.enter(ctx, u.request.Entry, ended); err != nil {
		u.o.Report.Warn(m.name, err.Error())
	}
}

// Enter writes how a change ended into the audit.
func (c *Cluster) Enter(ctx context.Context, entry Entry, ended error) error {
	m, there := c.connected[c.location.Master]
	if !there {
		return c.away()
	}
	return m.enter(ctx, entry, ended)
}

// Journal returns the last lines of the audit that is on the master's host beside what the master
// has.
func (c *Cluster) Journal(ctx context.Context, most int) (lines []string, err error) {
	m, there := c.connected[c.location.Master]
	if !there {
		return nil, c.away()
	}
	ctx, cancel := context.WithTimeout(ctx, journalTime)
	defer cancel()
	err = m.withAgent(ctx, func(a *agent.Client) (err error) {
		lines, err = a.Audit(ctx, m.found.Root, most)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read the audit on %s: %w", m.name, err)
	}
	return lines, nil
}

// journalTime is how long a host may take to take a line of the audit, or to send it.
const journalTime = 15 * time.Second
