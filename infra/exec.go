package infra

import (
	"context"
	"fmt"
	"io"

	"mlframework/infra/docker"
	"mlframework/infra/plan"
)

// Exec runs a command in the container of a host's worker, as [docker.Engine.Exec] does.
func (c *Cluster) Exec(ctx context.Context, host string, command docker.Command, stdin io.Reader,
	stdout, stderr io.Writer) (code int, err error) {
	away, err := c.reach(ctx, host)
	switch {
	case err != nil:
		return 0, err
	case len(away) > 0:
		return 0, away
	case c.connected[host] == nil:
		return 0, fmt.Errorf("there is no host %s in the cluster", host)
	}
	engine, err := c.connected[host].docker(ctx)
	if err != nil {
		return 0, err
	}
	return engine.Exec(ctx, c.wanted().Container(plan.Worker), command, stdin, stdout, stderr)
}
