package main

import (
	"context"
	"strings"

	cliv2 "github.com/urfave/cli/v2"

	"mlframework/cmd/internal/cli"
	"mlframework/sweep/api"
	"mlframework/sweep/core"
)

// pause is `run-tasks pause`.
func (c *command) pause(ctx *cliv2.Context) error {
	if name, _, isTask := strings.Cut(ctx.Args().First(), "/"); isTask {
		return cli.Wrong("run-tasks pause "+name+" pauses its sweep", "a single task cannot be "+
			"paused")
	}
	_, after, err := c.control(ctx, nil, func(work context.Context, m *api.Client,
		t target) (core.Summary, error) {
		return m.Pause(work, t.sweep, ctx.Bool("stop"))
	})
	if err != nil {
		return err
	}
	c.printState(after)
	return nil
}
